/** `openredaction`, which finds personal data and secrets alike; kinds are its own. */
import { peerModule } from '../peers.ts';
import type { Find } from '../suite.ts';

interface OpenRedaction {
  readonly OpenRedaction: new (
    options: object,
  ) => {
    detect(text: string): Promise<{
      readonly detections: readonly { readonly type: string; readonly position: readonly [number, number] }[];
    }>;
  };
}

export async function openRedaction(): Promise<Find | null> {
  const module = await peerModule<OpenRedaction>('openredaction');
  if (module === null) return null;
  const redactor = new module.OpenRedaction({});
  return async (text) => {
    const { detections } = await redactor.detect(text);
    return detections.map(({ type, position: [start, end] }) => ({ kind: type, start, end }));
  };
}
