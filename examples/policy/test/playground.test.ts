/** What the playground consists of, without a browser: places in JSON, its cases, its server, its types. */

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { loadPolicy } from '@cordon/policy';
import { analyzeEvents, ExplainingMonitor, readTrace } from '@cordon/policy-tools';
import fc from 'fast-check';
import { isLeftOut } from '../../../tools/cases.ts';
import { JsonPlaces } from '../playground/page/json-places.ts';
import '../../../tools/seed.ts';

const PLAYGROUND = join(import.meta.dirname, '../playground');

// ── places in JSON ──────────────────────────────────────────────────────────────────────────────────────────────

function cut(text: string, range: string): string | null {
  const place = new JsonPlaces(text).find(range);
  return place === null ? null : text.slice(place.start, place.end);
}

test('a range of characters is found in the text as it was typed, through escapes and code points', () => {
  const text = String.raw`[ {"role": "user", "content": "🔑 a\nb \u00e9 KEY\t!"} ]`;
  assert.equal(cut(text, '0.content:8-11'), 'KEY');
  assert.equal(cut(text, '0.content:0-1'), '🔑');
  assert.equal(cut(text, '0.content:3-4'), String.raw`\n`);
  assert.equal(cut(text, '0.content:6-7'), String.raw`\u00e9`);
});

test('a path leads to a value, into JSON that is a string, and past keys with dots', () => {
  const text = String.raw`[{"a.b": [1, {"args": "{\"to\": \"bob\", \"x\": [true]}"}]}]`;
  assert.equal(cut(text, '0.a.b.0'), '1');
  assert.equal(cut(text, '0.a.b.1.args.to:0-3'), 'bob');
  assert.equal(cut(text, '0.a.b.1.args.x'), '[true]');
  assert.equal(cut(text, '0.a.b.1.args'), String.raw`"{\"to\": \"bob\", \"x\": [true]}"`);
});

test('a path may begin at the messages of an object', () => {
  const text = '{"system": "s", "messages": [{"content": "hello"}]}';
  assert.equal(cut(text, '0.content:0-4'), 'hell');
  assert.equal(cut(text, 'system'), '"s"');
});

test('a path that leads nowhere, and a text that is no JSON, have no places', () => {
  for (const range of ['1', '0.b', '0.a.b', '0.a.c:1-2', 'x'])
    assert.equal(cut('[{"a": "text"}]', range), null, range);
  assert.equal(cut('[{"a": ', '0'), null);
  const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
  assert.equal(new JsonPlaces(deep).find('0.0')?.start, 2);
});

test('whatever stands in a trace, a range cuts out the characters that it means', () => {
  const texts = fc.string({
    unit: fc.constantFrom('a', '"', '\\', '\n', '🔑', '\u0000', '\ud800', 'é', '{', '.'),
  });
  const traces = fc.record({
    key: texts,
    text: texts,
    start: fc.nat(12),
    length: fc.nat(6),
    indent: fc.nat(3),
  });
  fc.assert(
    fc.property(traces, ({ key, text, start, length, indent }) => {
      const points = [...text];
      const end = Math.min(start + length, points.length);
      fc.pre(start <= end);
      const nested = JSON.stringify({ [key]: text }, null, indent);
      for (const [trace, path] of [
        [[0, { [key]: text }], `1.${key}`],
        [[{ args: nested }], `0.args.${key}`],
      ] as const) {
        const written = JSON.stringify(trace, null, indent);
        const found = cut(written, `${path}:${start}-${end}`);
        const spelt = path.startsWith('1') ? `"${found}"` : JSON.parse(`"\\"${found}\\""`);
        assert.equal(JSON.parse(spelt), points.slice(start, end).join(''));
      }
    }),
    { numRuns: 300 },
  );
});

// ── the cases ───────────────────────────────────────────────────────────────────────────────────────────────────

const FOUND: Readonly<Record<string, string>> = {
  inbox: 'allow allow allow deny deny ask allow allow; 3 found, 1 undecided',
  agents: 'allow allow allow allow allow deny; 1 found, 0 undecided',
  anthropic: 'allow allow allow allow allow deny; 2 found, 0 undecided',
  mistakes: 'POL012 POL010 POL050 POL018',
  hostile: 'deny allow deny; 3 found, 1 undecided',
};

const CASES: readonly { readonly name: string; readonly parameters: Readonly<Record<string, string>> }[] =
  JSON.parse(readFileSync(join(PLAYGROUND, 'cases/index.json'), 'utf8'));

test('every case is looked at here', () => {
  assert.deepEqual(
    CASES.map(({ name }) => name),
    Object.keys(FOUND),
  );
});

for (const { name, parameters } of CASES) {
  test(`the case ${name} shows what it is meant to show`, () => {
    const loaded = loadPolicy(readFileSync(join(PLAYGROUND, `cases/${name}.gr`), 'utf8'));
    if (!loaded.ok) return assert.equal(loaded.fault.map(({ code }) => code).join(' '), FOUND[name]);
    const trace = readTrace(JSON.parse(readFileSync(join(PLAYGROUND, `cases/${name}.json`), 'utf8')));
    assert.ok(trace.ok);
    const { events } = trace.value;
    const { errors, undecided } = analyzeEvents(loaded.value, events, parameters);
    const monitor = new ExplainingMonitor(loaded.value, parameters);
    const verdicts = events.map((event) => monitor.admit([event], 'not-needed').verdict);
    const found = `${errors.length} found, ${undecided.length} undecided`;
    assert.equal(`${verdicts.join(' ')}; ${found}`, FOUND[name]);
  });
}

// ── the server ──────────────────────────────────────────────────────────────────────────────────────────────────

const server = spawn(process.execPath, ['--no-warnings', join(PLAYGROUND, 'serve.ts'), '--port', '0'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
let port = 0;

before(async () => {
  const [line] = await once(server.stdout, 'data');
  port = Number(/127\.0\.0\.1:(\d+)\//.exec(String(line))?.[1]);
});
after(() => server.kill());

interface Answer {
  readonly status: number | undefined;
  readonly type: string | undefined;
  readonly policy: string;
  readonly text: string;
}

function ask(path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part) => {
        text += part;
      });
      response.on('end', () =>
        resolve({
          status: response.statusCode,
          type: response.headers['content-type'],
          policy: String(response.headers['content-security-policy'] ?? ''),
          text,
        }),
      );
    });
    asked.on('error', reject);
    asked.end();
  });
}

test('the server gives the page with a policy that lets nothing else in', async () => {
  const { status, policy, text } = await ask('/');
  assert.equal(status, 200);
  assert.match(policy, /^default-src 'none'; script-src 'self' 'sha256-[\w+/]+=+';/);
  assert.match(policy, /require-trusted-types-for 'script'; trusted-types 'none'$/);
  assert.doesNotMatch(policy, /unsafe|https?:/);
  assert.doesNotMatch(text, /https?:|<style|style=| on[a-z]+=/);
});

test('the server gives modules without types, and no file outside of its table', async () => {
  const { status, type, text } = await ask('/modules/policy/policy.ts');
  assert.deepEqual([status, type], [200, 'text/javascript; charset=utf-8']);
  assert.match(text, /export class Policy/);
  assert.doesNotMatch(text, /export interface/);
  for (const path of [
    '/../../../package.json',
    '/modules/policy/../../package.json',
    '/modules/policy/%2e%2e/package.json',
    '/page/../serve.ts',
    '/serve.ts',
    '/?x',
    '//',
  ])
    assert.equal((await ask(path)).status, 404, path);
});

test('the server answers to this machine only, and only to reading', async () => {
  assert.equal((await ask('/', { host: 'evil.example' })).status, 421);
  assert.equal((await ask('/', { host: 'localhost.evil.example' })).status, 421);
  assert.equal((await ask('/', { host: 'localhost:1' })).status, 200);
  assert.equal((await ask('/', {}, 'POST')).status, 405);
});

test('the page compiles for a browser that has nothing of Node', (t) => {
  if (isLeftOut(t)) return;
  const compiler = join(PLAYGROUND, '../../../node_modules/typescript/bin/tsc');
  const ran = spawnSync(process.execPath, [compiler, '-p', PLAYGROUND], {
    encoding: 'utf8',
    timeout: 300_000,
  });
  assert.equal(ran.stdout, '');
  assert.equal(ran.status, 0);
});
