/**
 * The spoke's end of its link: lines to messages, each checked; requests get ids here, answers find their request.
 * A hub that breaks the protocol is none: the link ends.
 */
import type { Duplex } from 'node:stream';
import {
  decodeHubMessage,
  encode,
  HUB_LINE_BYTES,
  type HubAnswer,
  type HubMessage,
  LineDecoder,
  type SpokeMessage,
} from '@cordon/protocol';
import type { Ask } from './agent-loop.ts';

/** What the hub says by itself. */
export type HubNotice = Exclude<HubMessage, HubAnswer>;

export interface Channel {
  readonly ask: Ask;
  readonly send: (message: SpokeMessage) => void;
}

/** Takes the link over. `onEnd` is called when it is over, or when what came is not in the protocol. */
export function openChannel(link: Duplex, onNotice: (notice: HubNotice) => void, onEnd: () => void): Channel {
  const decoder = new LineDecoder({ lineBytes: HUB_LINE_BYTES });
  const waiting = new Map<number, (message: HubAnswer) => void>();
  let lastId = 0;

  const send = (message: SpokeMessage) => {
    if (!link.destroyed) link.write(`${encode(message)}\n`);
  };
  const receive = (line: string) => {
    const message = decodeHubMessage(line);
    if (!message.ok) return onEnd();
    if (isNotice(message.value)) return onNotice(message.value);
    const waiter = waiting.get(message.value.id);
    if (waiter === undefined) return onEnd();
    waiting.delete(message.value.id);
    waiter(message.value);
  };

  link.on('data', (chunk) => {
    const lines = decoder.push(chunk);
    if (!lines.ok) return onEnd();
    for (const line of lines.value) receive(line);
  });
  link.on('error', onEnd);
  link.on('close', onEnd);

  return {
    send,
    ask: (request) =>
      new Promise((resolve) => {
        const id = ++lastId;
        waiting.set(id, resolve);
        send({ ...request, id });
      }),
  };
}

function isNotice(message: HubMessage): message is HubNotice {
  const { type } = message;
  return type === 'welcome' || type === 'unsupported' || type === 'turn' || type === 'cancel';
}
