/**
 * What the hub and the dialling process say to each other: on each connection a line that greets, one that asks and one that
 * answers, then the bytes of the connection that was asked for. Imports nothing of Cordon.
 */
import type { Readable } from 'node:stream';
import type { DialFault } from './dialler.ts';

/** What the process says first: whoever does not hear it in time knows that the process hangs. */
export const GREETING = 'cordon dialling process';

export type Question =
  | { readonly ask: 'lookup'; readonly host: string }
  | { readonly ask: 'connect'; readonly host: string; readonly port: number }
  | { readonly ask: 'bait' };

export type Answer =
  | { readonly answer: 'addresses'; readonly addresses: readonly string[] }
  | { readonly answer: 'connected' }
  | { readonly answer: 'bait'; readonly port: number }
  | ({ readonly answer: 'failed' } & DialFault);

/** A name has at most 253 characters. */
export const QUESTION_BYTES = 1_024;
/** Some hundred addresses. */
export const ANSWER_BYTES = 16 * 1_024;

/** Null: not what the hub sends. */
export function readQuestion(line: string): Question | null {
  const { ask, host, port } = objectIn(line);
  if (ask === 'bait') return { ask };
  if (typeof host !== 'string' || host === '') return null;
  if (ask === 'lookup') return { ask, host };
  return ask === 'connect' && isPort(port) ? { ask, host, port } : null;
}

/** Null: not what the process sends. */
export function readAnswer(line: string): Answer | null {
  const { answer, addresses, port, code = null, message } = objectIn(line);
  switch (answer) {
    case 'addresses':
      return Array.isArray(addresses) && addresses.every((one) => typeof one === 'string')
        ? { answer, addresses }
        : null;
    case 'connected':
      return { answer };
    case 'bait':
      return isPort(port) ? { answer, port } : null;
    case 'failed':
      return typeof message === 'string' && (code === null || typeof code === 'string')
        ? { answer, code, message }
        : null;
    default:
      return null;
  }
}

function isPort(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) > 0 && Number(value) < 65_536;
}

function objectIn(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/**
 * The first line of a stream, without its end; what comes behind it stays in the stream, which nobody reads then. Rejects if the
 * line has more than `most` bytes, or never ends.
 */
export function firstLine(stream: Readable, most: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = Buffer.alloc(0);
    const finish = () =>
      stream.off('readable', read).off('error', failed).off('end', ended).off('close', ended);
    const failed = (error: Error) => {
      finish();
      reject(error);
    };
    const ended = () => failed(new Error('the connection was closed before it was open'));
    const read = () => {
      for (let chunk: Buffer | null = stream.read(); chunk !== null; chunk = stream.read()) {
        said = Buffer.concat([said, chunk]);
        const end = said.indexOf('\n');
        if (end === -1 && said.length <= most) continue;
        if (end === -1 || end > most) return failed(new Error('the line is too long'));
        finish();
        if (said.length > end + 1) stream.unshift(said.subarray(end + 1));
        return resolve(said.toString('utf8', 0, end));
      }
    };
    stream.on('readable', read).on('error', failed).on('end', ended).on('close', ended);
    if (stream.destroyed || stream.readableEnded) ended();
  });
}
