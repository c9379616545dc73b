/** What a sandbox hands over for direct connections, on this machine's own loopback, whose every address is as good as inside. */
import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { createServer, type Server } from 'node:net';
import type { TestContext } from 'node:test';
import type { DirectListeners } from '../src/index.ts';
import { type Changes, connectTo, listening, open, type Place, type Setting } from './setting.ts';

type UnheardPlace = Parameters<Parameters<NonNullable<DirectListeners['watch']>>[0]>[0];

export interface DirectSetting extends Setting {
  /** Where a program inside would connect to. */
  readonly at: (address: string, port: number) => Place;
  /** The address of a name, or the code of the answer. */
  readonly resolve: (name: string, type?: number) => Promise<string>;
  /** The answer to a datagram, or the error. */
  readonly sendTo: (port: number, bytes: Buffer) => Promise<Buffer | string>;
  /** As if the network of the sandbox told of a program that found no listener. */
  readonly unheard: (place: UnheardPlace) => void;
  /** A connection to a name, which is resolved first. */
  readonly to: (name: string, port: number) => Promise<Place>;
}

const ENTRIES = ['mail.org:993', 'smtp.mail.org:587', 'good.com', 'good.com:80', 'web.org:8080'];
const PORTS = [993, 587, 443, 80, 8080, 143, 5432, 6379];

/** Nobody waits for a client that begins; whoever tests one that does not says so. */
const PATIENT = { patienceMs: 60_000 };

export async function openDirect(
  context: TestContext,
  upstream: Server,
  { network = ENTRIES, limits, ...changes }: Changes = {},
  isWhole = true,
): Promise<DirectSetting> {
  const ports = new Map<number, Server>();
  const real = new Map<number, number>();
  for (const port of PORTS) {
    const listener = createServer();
    ports.set(port, listener);
    real.set(port, await listeningEverywhere(listener));
  }
  const names = createServer();
  const namesPort = await listening(names);
  const datagrams = new Map<number, DatagramSocket>();
  for (const port of [53, 443, 993]) datagrams.set(port, await boundSocket());
  const realDatagrams = new Map(Array.from(datagrams, ([port, socket]) => [port, socket.address().port]));
  let unheard: (place: UnheardPlace) => void = () => undefined;
  const watch: DirectListeners['watch'] = (tell) => {
    unheard = tell;
  };
  const direct = { ports, names, datagrams, watch: isWhole ? watch : null };
  const setting = await open(context, upstream, {
    ...changes,
    network,
    direct,
    limits: { ...PATIENT, ...limits },
  });
  const at = (host: string, port: number): Place => ({ host, port: real.get(port) ?? 0 });
  const resolve = (name: string, type = 1) => resolved({ host: '127.0.0.1', port: namesPort }, name, type);
  const sendTo = (port: number, bytes: Buffer) => sent(realDatagrams.get(port) ?? 0, bytes);
  return {
    ...setting,
    at,
    resolve,
    sendTo,
    unheard: (place) => unheard(place),
    to: async (name, port) => at(await resolve(name), port),
  };
}

async function boundSocket(): Promise<DatagramSocket> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return socket;
}

/** Again and again, until an answer or a refusal comes: the first may be taken without either. */
async function sent(port: number, bytes: Buffer): Promise<Buffer | string> {
  const socket = createSocket('udp4');
  const answer = new Promise<Buffer | string>((resolve) => {
    socket.on('message', resolve).on('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? ''));
  });
  await new Promise<void>((resolve) => socket.connect(port, '127.0.0.1', resolve));
  const again = setInterval(() => socket.send(bytes, () => undefined), 10);
  return answer.finally(() => {
    clearInterval(again);
    socket.close();
  });
}

async function listeningEverywhere(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** A question of DNS: one name, class IN. */
export function question(name: string, type: number): Buffer {
  const labels = name
    .split('.')
    .map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  const head = Buffer.from([0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  return Buffer.concat([head, ...labels, Buffer.from([0, 0, type, 0, 1])]);
}

export function inStream(message: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
}

const CODES = ['none', 'malformed', 'failure', 'unknown'];

/** `none`: the name is there and has no such record; `closed`: the server hung up. */
function resolved(place: Place, name: string, type: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connectTo(place).on('error', () => undefined);
    socket.on('close', () => resolve('closed'));
    socket.on('data', (data) => {
      const hasAddress = data.readUInt16BE(2 + 6) === 1;
      resolve(
        hasAddress ? [...data.subarray(-4)].join('.') : (CODES[data.readUInt16BE(2 + 2) & 15] ?? 'other'),
      );
      socket.destroy();
    });
    socket.write(inStream(question(name, type)));
  });
}
