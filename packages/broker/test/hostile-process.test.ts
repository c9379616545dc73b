/**
 * Attack: an answer of a provider takes over the library that reads it. A program of the attacker runs in the place of ours, in
 * the very process that ours gets, and does what it likes.
 */

import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Json, ok } from '@cordon/core';
import { HERE } from '@cordon/dialler';
import { checkPath } from '@cordon/sandbox';
import { isLeftOut } from '../../../tools/cases.ts';
import { ProviderProcess } from '../src/provider-process.ts';
import { providerSpec } from '../src/spec.ts';
import { CODE_ROOT, never, SCRATCH, watchedSandbox } from './fixture.ts';

/** Between two looks: on a busy machine a process that is not meant to be silent is so for seconds. */
const PATIENT_MS = 10_000;

/** Runs `code` at the first call; `answer(value)` ends the call, `write(text)` writes to the link. */
async function attack(code: string, { port = 1, callMs = 300_000, tickMs = PATIENT_MS } = {}) {
  const folder = mkdtempSync(join(SCRATCH, 'attack-'));
  chmodSync(folder, 0o755);
  writeFileSync(
    join(folder, 'main.mjs'),
    `import { Socket, connect } from 'node:net';
     import { createInterface } from 'node:readline';
     import * as fs from 'node:fs';
     const link = new Socket({ fd: 3, readable: true, writable: true });
     link.on('error', () => {});
     const write = (text) => link.write(text);
     let calls = 0;
     createInterface({ input: link }).on('line', async (line) => {
       const said = JSON.parse(line);
       if (said.type === 'ping') return write('{"type":"pong"}\\n');
       if (said.type !== 'call') return;
       calls++;
       const { id } = said;
       const answer = (value) => write(JSON.stringify({ type: 'answer', id, value }) + '\\n');
       ${code}
     });`,
  );
  const { sandbox, started } = watchedSandbox();
  const process = new ProviderProcess({
    sandbox,
    spec: () => {
      const spec = providerSpec(CODE_ROOT);
      const own = checkPath(folder);
      if (!spec.ok) return spec;
      if (!own.ok) return own;
      const mounts = [...spec.value.mounts, { host: own.value, inside: '/attack', access: 'read' as const }];
      return ok({ ...spec.value, mounts, args: ['/attack/main.mjs'] });
    },
    settings: { key: 'sk-secret' },
    target: { host: '127.0.0.1', port },
    dial: HERE.dial,
    callMs,
    tickMs,
    idleMs: 60_000,
    firstWaitMs: 1,
  });
  return { started, process, call: () => process.call({}, { signal: never() }) };
}

async function answerOf(code: string, port = 1): Promise<Json> {
  const { call, process } = await attack(code, { port });
  const answer = await call();
  await process.close();
  assert.ok(answer.ok, answer.ok ? '' : answer.fault.message);
  return answer.value;
}

async function listening(): Promise<{
  readonly server: Server;
  readonly port: number;
  readonly heard: string[];
}> {
  const heard: string[] = [];
  const server = createServer((socket) => {
    heard.push('connection');
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      heard.push(chunk.toString());
      socket.write(`echo ${chunk}`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return { server, heard, port: typeof address === 'object' ? (address?.port ?? 0) : 0 };
}

test('it reads no journal, no configuration and no other file of the machine', async () => {
  const journal = join(SCRATCH, 'journal.db');
  writeFileSync(journal, 'the journal');
  const seen = await answerOf(`
    const tried = {};
    for (const path of [${JSON.stringify(journal)}, '/etc/shadow', '/etc/hostname', '/root', '/home', ${JSON.stringify(join(CODE_ROOT, 'package.json'))}])
      try { tried[path] = String(fs.statSync(path).isDirectory() ? fs.readdirSync(path) : fs.readFileSync(path)); } catch { tried[path] = null; }
    tried.own = fs.readFileSync('/attack/main.mjs', 'utf8').length > 0;
    answer(tried);`);
  const values = Object.entries(Object(seen)).filter(([path]) => path !== 'own');
  assert.equal(values.length, 6);
  assert.deepEqual(
    values.filter(([, text]) => text !== null),
    [],
  );
  assert.equal(Object(seen).own, true);
});

test('it writes no file', async () => {
  const seen = await answerOf(`
    const failures = ['/tmp/x', '/attack/x', '/cordon/x', '/x'].filter((path) => {
      try { fs.writeFileSync(path, 'x'); return false; } catch { return true; }
    });
    answer(failures.length);`);
  assert.equal(seen, 4);
});

test('it reaches its provider, and neither another port of this machine nor another host', async () => {
  const provider = await listening();
  const other = await listening();
  try {
    const seen = await answerOf(
      `const reach = (host, port, send) => new Promise((resolve) => {
         const socket = connect({ host, port });
         let text = '';
         socket.on('connect', () => socket.write(send));
         socket.on('data', (chunk) => { text += chunk; if (text.includes('echo')) { socket.destroy(); resolve(text); } });
         socket.on('error', ({ code }) => resolve(code));
         socket.on('close', () => resolve(text));
         setTimeout(resolve, 60_000, 'late').unref();
       });
       answer(await Promise.all([
         reach('127.0.0.1', 3128, 'to the provider'),
         reach('127.0.0.1', ${other.port}, 'to another service'),
         reach('127.0.0.1', ${provider.port}, 'around the relay'),
         reach('192.0.2.1', 80, 'to another host'),
         reach('169.254.169.254', 80, 'to the cloud'),
       ]));`,
      provider.port,
    );
    assert.deepEqual(seen, [
      '\necho to the provider',
      'ECONNREFUSED',
      'ECONNREFUSED',
      'ENETUNREACH',
      'ENETUNREACH',
    ]);
    assert.deepEqual(other.heard, []);
    assert.deepEqual(provider.heard, ['connection', 'to the provider']);
  } finally {
    provider.server.close();
    other.server.close();
  }
});

test('the key comes on the link: it stands in no argument and no variable', async () => {
  const seen = await answerOf(`answer([process.argv, process.execArgv, process.env])`);
  const text = JSON.stringify(seen);
  assert.ok(text.includes('main.mjs'));
  assert.ok(!text.includes('sk-secret'));
});

test('it starts no program', async () => {
  const seen = await answerOf(`
    const { spawnSync } = await import('node:child_process');
    let error = null;
    try { error = spawnSync('/opt/node/bin/node', ['-e', '0']).error?.code ?? null; } catch ({ code }) { error = code; }
    answer(error);`);
  assert.notEqual(seen, null);
});

const BREACHES: readonly (readonly [string, string, RegExp])[] = [
  ['a line that is no JSON', `write('hello\\n')`, /broke the protocol/],
  ['bytes that are no text', `link.write(Buffer.from([0xff, 0xfe, 0x0a]))`, /not UTF-8/],
  ['a message of no known type', `write('{"type":"grant","id":1}\\n')`, /the type is unknown/],
  [
    'a member that there is not',
    `write('{"type":"answer","id":1,"value":1,"permit":true}\\n')`,
    /broke the protocol/,
  ],
  ['an answer to no call', `write('{"type":"answer","id":77,"value":1}\\n')`, /there is no such call/],
  ['two answers to one call', `answer(1); answer(2)`, /there is no such call/],
  ['a sign of life that nobody asked for', `write('{"type":"pong"}\\n')`, /nobody asked/],
  ['a line without end', `for (let n = 0; n < 40; n++) write('x'.repeat(1024 * 1024))`, /longer than/],
  [
    'text without end',
    `const piece = JSON.stringify({ type: 'text', id, text: 'x'.repeat(60_000) }) + '\\n';
     const lines = piece.repeat(10);
     const pump = () => { while (write(lines)); link.once('drain', pump); };
     pump();`,
    /streams too much/,
  ],
  [
    'text that is nothing but the room between its words',
    `const padded = '{"type":"text","id":' + id + ',' + ' '.repeat(4 * 1024 * 1024) + '"text":""}\\n';
     const pump = () => { while (write(padded)); link.once('drain', pump); };
     pump();`,
    /streams too much/,
  ],
  [
    'values without depth',
    `write('{"type":"answer","id":' + id + ',"value":' + '['.repeat(5000) + '\\n')`,
    /deep/,
  ],
  // Its link closes before it is known how it ended, on a busy machine long before.
  ['its own end', `process.exit(3)`, /ended|exit|closed its link/],
];

for (const [what, code, words] of BREACHES) {
  test(`${what} ends the process`, async (t) => {
    if (isLeftOut(t, !what.startsWith('text '))) return;
    // The first call is open and fails; the second one lets the attack begin.
    const { call, process, started } = await attack(`if (calls === 1) return; ${code}`);
    const [answer] = await Promise.all([call(), call()]);
    assert.ok(!answer.ok);
    assert.equal(answer.fault.kind, 'unavailable');
    assert.match(answer.fault.message, words);
    await started[0]?.exited;
    await process.close();
  });
}

test('a process that keeps the protocol is used again', async () => {
  const { call, process, started } = await attack('answer(calls)');
  assert.deepEqual([await call(), await call()], [ok(1), ok(2)]);
  assert.equal(started.length, 1);
  await process.close();
});

test('a call that never ends is ended, though the process answers when it is asked', async () => {
  const { call, process } = await attack('', { callMs: 1_000, tickMs: 500 });
  const answer = await call();
  assert.match(answer.ok ? '' : answer.fault.message, /did not end a call in time/);
  await process.close();
});

test('a cancelled call that goes on ends the process', async (t) => {
  if (isLeftOut(t)) return;
  const code = `write(JSON.stringify({ type: 'text', id, text: 'begun' }) + '\\n')`;
  const { process, started } = await attack(code, { tickMs: 2_500 });
  const stop = new AbortController();
  // Not before the process has the call: one that was never made goes on in no process.
  const answer = await process.call({}, { signal: stop.signal, onText: () => stop.abort() });
  assert.equal(!answer.ok && answer.fault.kind, 'cancelled');
  assert.equal((await started[0]?.exited)?.cause, 'killed');
  await process.close();
});

test('what it says of a failure holds nothing that a terminal obeys', async () => {
  const { call, process } = await attack(
    `write(JSON.stringify({ type: 'fault', id, fault: { kind: 'timeout', message: 'late\\u001b[2J\\nyes', attempts: 1 } }) + '\\n')`,
  );
  const answer = await call();
  assert.equal(!answer.ok && answer.fault.message, 'late [2J yes');
  await process.close();
});
