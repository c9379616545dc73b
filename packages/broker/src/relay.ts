/**
 * The only way out of a provider process: each connection that it makes to its own loopback port becomes a connection to the one
 * host and port of its provider. Whoever took over the process can reach nothing else, and the hub reads no byte of what passes.
 *
 * Ring 0.
 */
import { connect, type Server, type Socket } from 'node:net';

export interface Target {
  readonly host: string;
  readonly port: number;
}

export interface RelayLimits {
  /** At once. */
  readonly connections: number;
  /** Both ways together, with what connections count. Attack: a process that sends as fast as it can keeps the hub from everything else. */
  readonly bytesPerSecond: number;
  readonly dialMs: number;
}

const RELAY_LIMITS: RelayLimits = { connections: 64, bytesPerSecond: 256 * 1024 * 1024, dialMs: 10_000 };

/** What a connection counts, besides what passes. Attack: a process that connects without end makes the hub dial without end. */
const CONNECTION_BYTES = 64 * 1024;

/**
 * Serves `listener` until the returned function is called. Each connection begins with one line: empty, or why the provider
 * cannot be reached.
 *
 * @param onFlood called when more passes than the limit
 */
export function relay(
  listener: Server,
  target: Target,
  onFlood: () => void,
  limits: RelayLimits = RELAY_LIMITS,
): () => void {
  const open = new Set<Socket>();
  let left = limits.bytesPerSecond;
  const refill = setInterval(() => {
    left = limits.bytesPerSecond;
  }, 1_000).unref();
  const spend = (bytes: number) => {
    left -= bytes;
    if (left < 0) onFlood();
  };
  listener.maxConnections = limits.connections;
  listener.on('error', () => undefined);
  listener.on('connection', (inside: Socket) => {
    open.add(inside);
    spend(CONNECTION_BYTES);
    inside.on('close', () => open.delete(inside));
    join(inside, target, limits.dialMs, (chunk) => spend(chunk.length));
  });
  return () => {
    clearInterval(refill);
    listener.close();
    for (const socket of open) socket.destroy();
  };
}

function join(inside: Socket, { host, port }: Target, dialMs: number, count: (chunk: Buffer) => void): void {
  const outside = connect({ host, port, noDelay: true });
  inside.setNoDelay(true);
  inside.on('error', () => outside.destroy()).on('close', () => outside.destroy());
  outside.setTimeout(dialMs, () => outside.destroy(new Error(`no connection within ${dialMs / 1000} s`)));
  let isOpen = false;
  outside.once('connect', () => {
    isOpen = true;
    outside.setTimeout(0);
    inside.write('\n');
    inside.on('data', count).pipe(outside);
    outside.on('data', count).pipe(inside);
  });
  outside.on('error', (error) => {
    if (isOpen) inside.destroy();
    else inside.end(`${reasonOf(error)}\n`);
  });
  outside.on('close', () => {
    if (isOpen) inside.end();
  });
}

/** Of a name with several addresses the error has a code and no message. */
function reasonOf(error: Error & { readonly code?: string }): string {
  return (error.message || (error.code ?? 'no connection')).replace(/\s+/g, ' ');
}
