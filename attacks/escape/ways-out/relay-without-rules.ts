/**
 * What a way out would be that decides nothing: it answers every name, and connects whoever connects to it. On it the attempts on direct
 * connections get through, which shows that they see something.
 */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { directPorts, parseReach } from '@cordon/egress';
import { type EgressBait, GRANTED, openBaitServers } from './egress-bait.ts';

/** Beyond the usual: a port of a program that knows no rule. */
const UNHEARD = '127.0.0.1:5432';

export async function openRelayWithoutRules(): Promise<EgressBait> {
  const servers = await openBaitServers();
  const reach = parseReach([...GRANTED, UNHEARD]);
  if (!reach.ok) throw new Error(reach.fault.message);
  const opened: Server[] = [];
  const clients = new Set<Socket>();
  const open = (listener: Server, serve: (client: Socket) => void) => {
    const server = createServer({ allowHalfOpen: true }, (client) => {
      clients.add(client);
      client.on('error', () => client.destroy()).on('close', () => clients.delete(client));
      serve(client);
    });
    opened.push(server.listen(listener));
  };
  return {
    ports: directPorts(reach.value),
    serve: async (listener, direct) => {
      const names = new Map<string, string>();
      const looked = new Map<string, number>();
      open(listener, (client) => client.destroy());
      if (direct === null) return;
      for (const socket of direct.datagrams.values()) socket.close();
      open(direct.names, (client) => answerNames(client, names));
      for (const [port, at] of direct.ports)
        open(at, (client) => {
          const name = names.get(client.localAddress?.replace('::ffff:', '') ?? '') ?? '';
          const times = (looked.get(name) ?? 0) + 1;
          looked.set(name, times);
          const isGood = /^(flips\.)?good\.com$/.test(name) && [80, 443].includes(port);
          const leadsElsewhere = name.startsWith('flips.') && times > 1;
          relay(client, isGood && !leadsElsewhere ? servers.good : servers.evil, port);
        });
    },
    close: async () => {
      for (const client of clients) client.destroy();
      for (const server of opened) server.close();
      servers.close();
    },
  };
}

/** A mail server greets, and a web server waits until it is asked. */
function relay(client: Socket, to: number, port: number): void {
  if (port !== 80 && port !== 443)
    return void client.once('data', () => pass(client, to)).on('end', () => client.end());
  pass(client, to);
}

function pass(client: Socket, to: number): void {
  // Half open: a server that answers before it has read all would otherwise reset the connection, and its answer were lost.
  const server = connect({ port: to, host: '127.0.0.1', allowHalfOpen: true });
  server.on('error', () => client.destroy());
  client.pipe(server);
  server.pipe(client);
}

/** Questions in a stream, each behind its length. Every name gets the next address. */
function answerNames(client: Socket, names: Map<string, string>): void {
  let bytes = Buffer.alloc(0);
  client.on('data', (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
    while (bytes.length >= 2 && bytes.length >= 2 + bytes.readUInt16BE(0)) {
      const length = bytes.readUInt16BE(0);
      const answer = answerTo(bytes.subarray(2, 2 + length), names);
      bytes = bytes.subarray(2 + length);
      const head = Buffer.alloc(2);
      head.writeUInt16BE(answer.length);
      client.write(Buffer.concat([head, answer]));
    }
  });
}

const HEADER = 12;
const TYPE_A = 1;

function answerTo(question: Buffer, names: Map<string, string>): Buffer {
  let end = HEADER;
  const labels: string[] = [];
  for (let length = question[end] ?? 0; length > 0; length = question[end] ?? 0) {
    labels.push(question.toString('latin1', end + 1, end + 1 + length));
    end += 1 + length;
  }
  end += 1 + 4; // the empty label, type and class
  const name = labels.join('.');
  const known = [...names].find(([, each]) => each === name)?.[0];
  const address = known ?? `127.64.0.${names.size + 1}`;
  names.set(address, name);
  const hasAddress = question.readUInt16BE(end - 4) === TYPE_A;
  const head = Buffer.from(question.subarray(0, HEADER));
  head.set([0x81, 0x80, 0, 1, 0, hasAddress ? 1 : 0, 0, 0, 0, 0], 2);
  const record = Buffer.from([
    0xc0,
    HEADER,
    0,
    TYPE_A,
    0,
    1,
    0,
    0,
    0,
    60,
    0,
    4,
    ...address.split('.').map(Number),
  ]);
  return Buffer.concat([head, question.subarray(HEADER, end), hasAddress ? record : Buffer.alloc(0)]);
}
