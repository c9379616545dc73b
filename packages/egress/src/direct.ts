/**
 * Connections that a program makes by itself, to an address inside its sandbox that stands for a name of its manifest. Each is
 * decided like a tunnel through the proxy: TLS must name the host, HTTP is decided request by request, and of every
 * other protocol, which cannot be read here, the connection is decided and counted.
 */
import type { Socket as DatagramSocket } from 'node:dgram';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { failed, isThisMachine, ok, type Result } from '@cordon/core';
import { type Admitted, type WayOut, withinReach } from './admission.ts';
import type { Contact } from './budget.ts';
import type { Destination } from './destination.ts';
import { NAME_PORT } from './name-service.ts';
import type { NamesInside } from './names.ts';
import { entryOf, isWithinReach, PLAIN_PORT, type Reach, TLS_PORT } from './reach.ts';
import { admitTunnel, drop, readHello, splice } from './tunnel.ts';
import { farewell } from './wire/farewell.ts';
import { heard } from './wire/heard.ts';
import { openingInTime, openingOf } from './wire/opening.ts';

/** The sandbox's own, for its name server and its proxy. */
const TAKEN: readonly number[] = [NAME_PORT, 3128];
/** Ports of usual protocols: who connects to one that the manifest does not list learns what to add. */
const USUAL: readonly number[] = [22, 25, 80, 110, 143, 443, 465, 587, 993, 995];

/** The ports that a sandbox listens on. */
export function directPorts(reach: Reach): readonly number[] {
  const ports = new Set([...USUAL, ...reach.map(({ port }) => port)]);
  return [...ports].filter((port) => !TAKEN.includes(port));
}

/** What a program connects to by itself. */
export interface DirectWay {
  readonly way: WayOut;
  /** Takes over a connection that holds HTTP. */
  readonly plain: (client: Duplex, to: Destination) => void;
}

/** `client`: paused, and nothing of it was read. */
export async function connectDirectly(
  client: Socket,
  wanted: Result<Destination, string>,
  port: number,
  direct: DirectWay,
): Promise<void> {
  client.on('error', () => client.destroy());
  const { way } = direct;
  const within = withinReach(way, wanted);
  if (!within.ok) {
    // At each port, whatever is usual there, a client may begin with TLS.
    const begun = await beginning(client, way.budget.limits.patienceMs);
    return sayNo(client, farewell(port, within.fault, begun), way);
  }
  const to = within.value;
  const said = await firstWords(client, to.port, way);
  if (client.destroyed) return;
  const opening = openingInTime(said);
  if (opening === 'tls' && to.port !== PLAIN_PORT) {
    const hello = await helloFor(client, said, to, way);
    return hello.ok ? pass(client, said, to, way, async () => hello) : drop(client, to, hello.fault, way);
  }
  if (to.port === TLS_PORT) return drop(client, to, 'the connection does not begin with TLS', way);
  if (to.port === PLAIN_PORT || opening === 'http') return handOver(client, said, to, direct);
  await pass(client, said, to, way, ({ contact }) =>
    said.length > 0 ? Promise.resolve(ok(said)) : lateWords(client, to, direct, contact),
  );
}

async function pass(
  client: Socket,
  said: Buffer,
  to: Destination,
  way: WayOut,
  first: (admitted: Admitted) => Promise<Result<Buffer, string> | null>,
): Promise<void> {
  const admitted = await admitTunnel(to, way);
  if (!admitted.ok) return sayNo(client, farewell(to.port, admitted.fault, said), way);
  const { idleMs, quietMs } = way.budget.limits;
  const silentMs = to.port === TLS_PORT ? idleMs : quietMs;
  client.setTimeout(0); // the silence of the connection as a whole counts
  await splice(client, () => first(admitted.value), way, admitted.value, silentMs);
}

function handOver(client: Socket, said: Buffer, to: Destination, { plain }: DirectWay): void {
  if (client.readableEnded) return void client.destroy();
  client.unshift(said);
  plain(client, to);
}

/** Programs of mail often name no server in TLS; on the port of HTTPS each does. */
function helloFor(
  client: Socket,
  said: Buffer,
  to: Destination,
  { budget }: WayOut,
): Promise<Result<Buffer, string>> {
  return readHello(client, said, to, budget.limits.headersMs, to.port === TLS_PORT);
}

/**
 * What a client says first that let the server begin; null: it is HTTP, and taken over. Attack: it waits, so that nobody looks, and
 * then asks a front of many sites for another one, or sends requests that are not decided.
 */
async function lateWords(
  client: Socket,
  to: Destination,
  direct: DirectWay,
  contact: Contact,
): Promise<Result<Buffer, string> | null> {
  const { way } = direct;
  const began = await beginning(client, null);
  const said = await heard(client, began, way.budget.limits.headersMs, (bytes) => openingOf(bytes) !== null);
  switch (openingInTime(said)) {
    case 'tls':
      return helloFor(client, said, to, way);
    case 'http':
      if (contact.bytesDown > 0) return failed('a request of HTTP follows words of the server');
      handOver(client, said, to, direct);
      return null;
    case 'other':
      return ok(said);
  }
}

/** Enough to tell the protocol; on the ports of TLS and HTTP the client has to begin, elsewhere it may wait. */
async function firstWords(client: Socket, port: number, { budget }: WayOut): Promise<Buffer> {
  const { headersMs, patienceMs } = budget.limits;
  const mayWait = port !== TLS_PORT && port !== PLAIN_PORT;
  const began = await beginning(client, mayWait ? patienceMs : headersMs);
  if (began.length === 0) return began;
  return heard(client, began, headersMs, (bytes) => openingOf(bytes) !== null);
}

/** The first that a client says. */
function beginning(client: Socket, deadlineMs: number | null): Promise<Buffer> {
  return heard(client, NOTHING, deadlineMs, (bytes) => bytes.length > 0);
}

const NOTHING = Buffer.alloc(0);

/** The client reads why, in the words of its protocol, and then has to go. */
function sayNo(client: Socket, words: Buffer, way: WayOut): void {
  client.setTimeout(way.budget.limits.headersMs, () => client.destroy());
  client.on('end', () => client.destroy()).resume();
  client.end(words);
}

/**
 * The first datagram to a port of the manifest is reported, and closes the socket. The kernel refuses the others, so that a program
 * that has another way takes it soon. Returns what closes the socket.
 */
export function refuseDatagrams(
  socket: DatagramSocket,
  port: number,
  { reach, onRefused }: WayOut,
): () => void {
  let isOpen = true;
  const close = () => {
    if (isOpen) socket.close();
    isOpen = false;
  };
  socket.on('error', () => undefined);
  socket.once('message', () => {
    close();
    const [entry, ...others] = reach.filter((each) => each.port === port);
    const host = entry === undefined || others.length > 0 ? null : entry.host;
    onRefused({ host, port, reason: NO_DATAGRAMS });
  });
  return close;
}

/** Where a program inside connected to, or sent a datagram, and nobody listens. */
export interface UnheardPlace {
  readonly protocol: 'tcp' | 'udp';
  /** Inside; without brackets. */
  readonly address: string;
  readonly port: number;
}

const NO_DATAGRAMS = 'it sent a datagram (UDP); only TCP leaves the sandbox';
/** Programs ask again and again whether a server that they have started listens by now. */
const NOBODY_HERE = 'no program in its sandbox listens there, nor may it reach this machine';
const OWN_PORT = 'the sandbox has no listener at this port; the entry is for the proxy only';
const NO_ROUTE =
  'this machine does not let Cordon lead the address into the sandbox; only programs that use the proxy reach it';

/** The kernel has refused it; here the user learns of it. */
export function refuseUnheard(
  { protocol, address, port }: UnheardPlace,
  names: NamesInside,
  way: WayOut,
): void {
  const wanted = names.destinationAt(address, port);
  if (protocol === 'udp') {
    const host = wanted.ok ? wanted.value.host : null;
    return way.onRefused({ host, port, reason: NO_DATAGRAMS });
  }
  if (wanted.ok && isThisMachine(wanted.value.host) && !isWithinReach(wanted.value, way.reach)) {
    const lacks = entryOf(wanted.value);
    return way.onRefused({ host: wanted.value.host, port, reason: NOBODY_HERE, lacks });
  }
  const within = withinReach(way, wanted);
  if (within.ok) way.onRefused({ host: within.value.host, port, reason: OWN_PORT });
}

/** Reports the entries that no direct connection can reach in a sandbox whose network could not be set up in full. */
export function refuseAddresses({ reach, onRefused }: WayOut): void {
  for (const { host, port } of reach.filter(
    (entry) => entry.kind === 'address' && !isThisMachine(entry.host),
  ))
    onRefused({ host, port, reason: NO_ROUTE });
}
