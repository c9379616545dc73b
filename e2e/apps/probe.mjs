/**
 * An app that tries what it is told to, for tests of what its manifest lets it do. `look` says that it only reads,
 * `act` says nothing; both do the same.
 */
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { send } from './lines.mjs';

const inputSchema = {
  type: 'object',
  properties: { what: { type: 'string' }, path: { type: 'string' }, amount: { type: 'number' } },
  required: ['what'],
};
const tools = [
  { name: 'look', description: 'Looks.', inputSchema, annotations: { readOnlyHint: true } },
  { name: 'act', description: 'Acts.', inputSchema },
];

const MIB = 1024 * 1024;
const kept = [];

/** Each answers a text, or throws. */
const attempts = {
  nothing: () => 'nothing',
  environment: () => JSON.stringify(process.env),
  read: ({ path }) => readFileSync(path, 'utf8'),
  write: ({ path, amount = 0 }) => writeFileSync(path, Buffer.alloc(amount * MIB, 1)),
  memory: ({ amount }) => {
    // Many small ones: one large one would fail at once by another limit.
    for (let taken = 0; taken < amount; taken += 4) kept.push(Buffer.alloc(4 * MIB, 1));
  },
  spin: ({ amount }) => {
    const used = () => process.cpuUsage().user + process.cpuUsage().system;
    const until = used() + amount * 1e6;
    while (used() < until);
  },
  open: ({ amount }) => {
    const files = [];
    for (let opened = 0; opened < amount; opened++) files.push(openSync(process.argv[1], 'r'));
    for (const file of files) closeSync(file);
  },
  files: async ({ path, amount }) => {
    mkdirSync(`${path}/many`, { recursive: true });
    for (let made = 0; made < amount; made++) writeFileSync(`${path}/many/${made}`, '');
    await sleep(6_000);
  },
  fill: async ({ path, amount }) => {
    mkdirSync(`${path}/large`, { recursive: true });
    for (let made = 0; made < amount; made += 4) writeFileSync(`${path}/large/${made}`, Buffer.alloc(4 * MIB, 1));
    await sleep(6_000);
  },
  threads: async ({ amount }) => {
    for (let started = 0; started < amount; started++) {
      const worker = new Worker('setTimeout(() => 0, 3000)', { eval: true });
      await new Promise((resolve, reject) => worker.once('online', resolve).once('error', reject));
    }
  },
  child: () =>
    new Promise((resolve, reject) => {
      spawn(process.execPath, ['-e', '0']).once('error', reject).once('exit', () => resolve('done'));
    }),
  fetch: async ({ path }) => `fetched: ${await (await fetch(path)).text()}`,
  unix: async ({ path }) => {
    const server = createServer((socket) => socket.end()).listen(path);
    await once(server, 'listening');
    await once(connect(path), 'connect');
    server.close();
  },
  wait: ({ amount }) => sleep(amount * 1000),
  line: ({ amount }) => 'x'.repeat(amount * 1024),
  notify: async ({ amount }) => {
    for (let sent = 0; sent < amount; sent++)
      process.stdout.write('{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}\n');
  },
};

/** For a functionality whose response lists one of these, or both. */
const answer = { named: 1, unnamed: 2 };

async function tried(wanted) {
  try {
    return (await attempts[wanted.what](wanted)) ?? 'done';
  } catch (error) {
    return `refused: ${error.cause?.code ?? error.code ?? error.message}`;
  }
}

await sleep(Number(process.env.SLOW_START ?? 0) * 1000);
createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'initialize') {
    const serverInfo = { name: 'probe', version: '1' };
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  } else if (method === 'tools/list') send({ id, result: { tools } });
  else if (method === 'tools/call') {
    const text = String(await tried(params.arguments));
    send({ id, result: { content: [{ type: 'text', text }], structuredContent: answer } });
  } else send({ id, error: { code: -32601, message: 'unknown method' } });
});
