/**
 * The name server of a sandbox. It looks nothing up: for a name of the manifest it answers with an address inside, and for every
 * other that there is no such name. So a name carries nothing out.
 */
import type { Socket as DatagramSocket } from 'node:dgram';
import type { Socket } from 'node:net';
import type { WayOut } from './admission.ts';
import { type NamesInside, nameIn } from './names.ts';
import { type NameAnswer, nameAnswer, readNameQuestion, TYPE_A } from './wire/dns-message.ts';

/** Where a name server is asked. */
export const NAME_PORT = 53;

/** Of a question in a stream; the name takes 255 at most. */
const LONGEST_QUESTION = 1_024;
/** Of answers that the app does not read. */
const MOST_UNREAD = 16 * 1_024;

/** The bytes of an answer; null: the question cannot be read, or there are too many. */
export type AnswerQuestion = (question: Buffer) => Buffer | null;

/** `onFlood`: called when the app asks more than it may. */
export function nameService(names: NamesInside, way: WayOut, onFlood: () => void): AnswerQuestion {
  return (bytes) => {
    if (!way.budget.takeConnection()) {
      onFlood();
      return null;
    }
    const question = readNameQuestion(bytes);
    if (question === null) return null;
    const answer = answerFor(question.name, names);
    const isAddress = question.type === TYPE_A;
    // Of others, such as its own host name, no manifest can have an entry.
    if (answer.kind === 'unknown-name' && isAddress && nameIn(question.name) !== null)
      way.onRefused({ host: question.name, port: null, reason: UNKNOWN });
    return nameAnswer(question, answer.kind === 'address' && !isAddress ? { kind: 'nothing' } : answer);
  };
}

const UNKNOWN = 'no entry of `network` in its manifest has this name; add the name with its port';

function answerFor(name: string, names: NamesInside): NameAnswer {
  // libc of some systems asks before it reads /etc/hosts.
  if (name === 'localhost' || name.endsWith('.localhost')) return { kind: 'address', address: '127.0.0.1' };
  if (!names.has(name)) return { kind: 'unknown-name' };
  const address = names.addressOf(name);
  return address === null ? { kind: 'failure' } : { kind: 'address', address };
}

/** Questions in a stream, each behind its length (RFC 1035, 4.2.2). */
export function answerStream(client: Socket, answer: AnswerQuestion, silentMs: number): void {
  let bytes = Buffer.alloc(0);
  client.setTimeout(silentMs, () => client.destroy());
  client.on('error', () => client.destroy()).on('end', () => client.end());
  client.on('data', (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
    while (bytes.length >= 2) {
      const length = bytes.readUInt16BE(0);
      if (length > LONGEST_QUESTION) return void client.destroy();
      if (bytes.length < 2 + length) return;
      const said = answer(bytes.subarray(2, 2 + length));
      bytes = bytes.subarray(2 + length);
      if (said === null || client.writableLength > MOST_UNREAD) return void client.destroy();
      const head = Buffer.alloc(2);
      head.writeUInt16BE(said.length, 0);
      client.write(Buffer.concat([head, said]));
    }
  });
}

/** Returns what closes the socket. */
export function answerDatagrams(socket: DatagramSocket, answer: AnswerQuestion): () => void {
  socket.on('error', () => undefined);
  socket.on('message', (question, { port, address }) => {
    const said = answer(question);
    if (said !== null) socket.send(said, port, address, () => undefined);
  });
  return () => socket.close();
}
