/** What a client says first, read before anything is decided. */
import type { Duplex } from 'node:stream';

/** `said` and what comes after it, until it is enough, the time is over, or the client has said all. `deadlineMs` null: no time limit. */
export function heard(
  client: Duplex,
  said: Buffer,
  deadlineMs: number | null,
  isEnough: (bytes: Buffer) => boolean,
): Promise<Buffer> {
  if (isEnough(said) || client.destroyed || client.readableEnded) return Promise.resolve(said);
  return new Promise((resolve) => {
    let bytes = said;
    const finish = () => {
      clearTimeout(timer);
      client.off('data', take).off('end', finish).off('close', finish).pause();
      resolve(bytes);
    };
    const take = (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      if (isEnough(bytes)) finish();
    };
    const timer = deadlineMs === null ? undefined : setTimeout(finish, deadlineMs);
    client.on('data', take).on('end', finish).on('close', finish).resume();
  });
}
