/**
 * The only way out of a provider process: each connection that it makes to its own loopback port becomes a connection to the one
 * host and port of its provider. Whoever took over the process can reach nothing else, and the hub reads no byte of what passes.
 */
import type { Server, Socket } from 'node:net';
import type { Dial } from '@cordon/dialler';

export interface Target {
  readonly host: string;
  readonly port: number;
}

export interface RelayLimits {
  /** At once. */
  readonly connections: number;
  /** Both ways together, with what connections count. Attack: a process that sends as fast as it can keeps the hub from everything else. */
  readonly bytesPerSecond: number;
}

const RELAY_LIMITS: RelayLimits = { connections: 64, bytesPerSecond: 256 * 1024 * 1024 };

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
  dial: Dial,
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
    void join(inside, target, dial, (chunk) => spend(chunk.length));
  });
  return () => {
    clearInterval(refill);
    listener.close();
    for (const socket of open) socket.destroy();
  };
}

async function join(
  inside: Socket,
  { host, port }: Target,
  dial: Dial,
  count: (chunk: Buffer) => void,
): Promise<void> {
  const gone = new AbortController();
  inside.setNoDelay(true);
  inside.on('error', () => inside.destroy()).on('close', () => gone.abort());
  const dialled = await dial(host, port, gone.signal);
  if (!dialled.ok) return void inside.end(`${dialled.fault.message}\n`);
  const outside = dialled.value;
  outside.on('error', () => inside.destroy()).on('close', () => inside.end());
  inside.on('close', () => outside.destroy());
  if (inside.destroyed) return void outside.destroy();
  inside.write('\n');
  inside.on('data', count).pipe(outside);
  outside.on('data', count).pipe(inside);
}
