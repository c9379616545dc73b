/**
 * The spoke's only link: an inherited socket on descriptor 3. Requests get ids here, answers find their request.
 *
 * Ring 0.
 */
import { Socket } from 'node:net';
import { decodeHubMessage, encode, type HubMessage, LineDecoder, type SpokeMessage } from '@cordon/protocol';
import type { Ask } from './agent-loop.ts';

const LINK_DESCRIPTOR = 3;
/** The hub may send whole tool outputs; it is trusted, and the sandbox bounds the memory. */
const LINE_BYTES = 32 * 1024 * 1024;

export interface Channel {
  readonly ask: Ask;
  readonly send: (message: SpokeMessage) => void;
}

/** Opens the link. `onMessage` gets what answers no request: turns. */
export function openChannel(onMessage: (message: HubMessage) => void, onEnd: () => void): Channel {
  const socket = new Socket({ fd: LINK_DESCRIPTOR, readable: true, writable: true });
  const decoder = new LineDecoder({ lineBytes: LINE_BYTES });
  const waiting = new Map<number, (message: HubMessage) => void>();
  let lastId = 0;

  const send = (message: SpokeMessage) => void socket.write(`${encode(message)}\n`);
  const receive = (message: HubMessage) => {
    const waiter = message.type === 'turn' ? undefined : waiting.get(message.id);
    if (waiter === undefined) return onMessage(message);
    waiting.delete(message.id);
    waiter(message);
  };

  socket.on('data', (chunk) => {
    const lines = decoder.push(chunk);
    if (!lines.ok) return onEnd();
    for (const line of lines.value) receive(decodeHubMessage(line));
  });
  socket.on('error', onEnd);
  socket.on('close', onEnd);

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
