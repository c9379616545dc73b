/**
 * Connects from the process that calls it. The dialling process loads this and little else: nothing of Cordon is imported here
 * but types.
 */
import { lookup } from 'node:dns/promises';
import { connect, createServer, type Socket } from 'node:net';
import type { Bait, DialFault } from './dialler.ts';

/** The longest that a name and its addresses may take together. */
const DIAL_MS = 10_000;

export interface ConnectOptions {
  /** Whether the caller passes on each end of the connection by itself. */
  readonly allowHalfOpen: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly dialMs?: number;
}

/** An open connection; rejects with the reason if there is none in time. Of several addresses the first that answers counts. */
export function connected(
  host: string,
  port: number,
  { allowHalfOpen, signal, dialMs = DIAL_MS }: ConnectOptions,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, allowHalfOpen, noDelay: true });
    const stop = () => socket.destroy(new Error('the connection was given up'));
    const late = setTimeout(
      () => socket.destroy(new Error(`no connection within ${dialMs / 1000} s`)),
      dialMs,
    );
    const settled = () => {
      clearTimeout(late);
      signal?.removeEventListener('abort', stop);
    };
    signal?.addEventListener('abort', stop, { once: true });
    // Stays: whoever gets the connection listens a moment later.
    socket.on('error', (error) => {
      settled();
      reject(error);
    });
    socket.once('connect', () => {
      settled();
      resolve(socket);
    });
    if (signal?.aborted === true) stop();
  });
}

/** Of a name with several addresses the error has a code and no message. */
export function faultOf(error: unknown): DialFault {
  const code =
    error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
  const message = error instanceof Error && error.message !== '' ? error.message : (code ?? 'no connection');
  return { code, message: message.replace(/\s+/g, ' ') };
}

/** All addresses of a name, by the resolver of the machine; rejects when there is none. */
export async function addressesOf(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/** A listener on loopback that ends every connection. */
export function openBait(): Promise<Bait> {
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: '127.0.0.1', port: 0 }, () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      resolve({ port, close: () => void server.close() });
    });
  });
}
