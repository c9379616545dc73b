/**
 * What the dialling process does: on each connection of the hub it looks up one name, or connects to one host and passes bytes. It
 * decides nothing and keeps nothing.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { addressesOf, connected, faultOf, openBait } from './connect.ts';
import { type Answer, firstLine, GREETING, QUESTION_BYTES, type Question, readQuestion } from './wire.ts';

export interface ServeLimits {
  /** Of the hub, at once. Each has another one to somewhere else. */
  readonly connections: number;
  /** How long the hub may take to ask. */
  readonly questionMs: number;
  /** How long a look-up or a connection may take. */
  readonly dialMs: number;
  /** How long the other side may stay silent once the hub has said all. */
  readonly halfOpenMs: number;
  /** Of one name. */
  readonly addresses: number;
}

const LIMITS: ServeLimits = {
  connections: 1_024,
  questionMs: 5_000,
  dialMs: 10_000,
  halfOpenMs: 30_000,
  addresses: 256,
};

/** @param path of a Unix socket that does not exist yet */
export function serve(path: string, limits: Partial<ServeLimits> = {}): Server {
  const all = { ...LIMITS, ...limits };
  let open = 0;
  // Each end of a connection is passed on by itself: who has said all may still listen.
  const server = createServer({ allowHalfOpen: true }, (hub) => {
    hub.on('error', () => hub.destroy());
    hub.write(`${GREETING}\n`);
    if (open >= all.connections) return void hub.end(answerLine(TOO_MANY)).resume();
    open++;
    hub.on('close', () => open--);
    void attend(hub, all);
  });
  return server.listen(path);
}

const TOO_MANY: Answer = { answer: 'failed', code: null, message: 'there are too many connections' };

async function attend(hub: Socket, limits: ServeLimits): Promise<void> {
  const late = setTimeout(() => hub.destroy(), limits.questionMs);
  const line = await firstLine(hub, QUESTION_BYTES).catch(() => '');
  clearTimeout(late);
  const question = readQuestion(line);
  if (question === null) return void hub.destroy();
  try {
    await answer(hub, question, limits);
  } catch (error) {
    endWith(hub, { answer: 'failed', ...faultOf(error) });
  }
}

function endWith(hub: Socket, answer: Answer): void {
  hub.write(answerLine(answer));
  hub.destroySoon();
}

function answerLine(answer: Answer): string {
  return `${JSON.stringify(answer)}\n`;
}

async function answer(hub: Socket, question: Question, limits: ServeLimits): Promise<void> {
  const { dialMs, halfOpenMs } = limits;
  switch (question.ask) {
    case 'lookup': {
      const addresses = await addressesInTime(question.host, dialMs);
      // Attack: a name with so many that the hub would not read the answer, and replace this process with all its connections.
      if (addresses.length > limits.addresses) throw new Error('the name has too many addresses');
      return endWith(hub, { answer: 'addresses', addresses });
    }
    case 'connect': {
      const outside = await connectFor(hub, question, dialMs);
      hub.write(answerLine({ answer: 'connected' }));
      return join(hub, outside, halfOpenMs);
    }
    case 'bait': {
      const { port, close } = await openBait();
      hub.on('close', close);
      hub.on('end', () => hub.destroy()).resume();
      return void hub.write(answerLine({ answer: 'bait', port }));
    }
  }
}

async function addressesInTime(host: string, lookupMs: number): Promise<readonly string[]> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error('the name is looked up for too long')), lookupMs);
  try {
    return await Promise.race([addressesOf(host), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Given up if the hub leaves. It says nothing until the connection is open. */
async function connectFor(
  hub: Socket,
  { host, port }: { readonly host: string; readonly port: number },
  dialMs: number,
): Promise<Socket> {
  const gone = new AbortController();
  const leave = () => {
    gone.abort();
    hub.destroy();
  };
  hub.on('data', leave).on('end', leave).on('close', leave);
  try {
    return await connected(host, port, { allowHalfOpen: true, signal: gone.signal, dialMs });
  } finally {
    hub.off('data', leave).off('end', leave).off('close', leave).pause();
  }
}

/** Passes what each says to the other, and the end of what it says. */
function join(hub: Socket, outside: Socket, halfOpenMs: number): void {
  hub.on('end', () => {
    // Fails at once if the hub is gone, and not if it has only said all. Attack: connections that are opened and closed
    // count as open until the other side ends them, and nobody else can dial.
    if (hub.writable) hub.write('');
    outside.setTimeout(halfOpenMs, () => outside.destroy());
  });
  hub.on('close', () => outside.destroy());
  outside.on('error', () => hub.destroy()).on('close', () => hub.destroySoon());
  if (hub.destroyed) return void outside.destroy();
  hub.pipe(outside);
  outside.pipe(hub);
}
