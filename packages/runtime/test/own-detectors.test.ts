/** Functions of the user's that rules call, in the confined process that answers for them. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { moduleAt } from '@cordon/config';
import { failed, ok } from '@cordon/core';
import { HERE } from '@cordon/dialler';
import { openSandbox } from '@cordon/sandbox';
import { Workplace } from '@cordon/testkit/cordon-program.ts';
import { lendResults, lentSelfTest } from '@cordon/testkit/lent-results.ts';
import { isLeftOut } from '../../../tools/cases.ts';
import { ModuleProcess } from '../src/own-detectors/module-process.ts';

/** With the result of an earlier self-test, where there is one. */
function workplace(files: Readonly<Record<string, unknown>> = {}): Workplace {
  const place = new Workplace(files);
  lendResults(join(place.root, '.local/share/cordon'));
  return place;
}

const RULE = `from cordon.detectors import is_rude
raise "rude" if:
    (m: Message)
    is_rude(m, least=1)`;
const RUDE = [{ role: 'user', content: 'you turnip' }];
const CIVIL = [{ role: 'user', content: 'good morning' }];

/** A module with one function, whose body this is. */
function moduleOf(body: string): string {
  return `import { defineDetectors } from '@cordon/detectors';
export default defineDetectors({
  is_rude: {
    parameters: ['message', 'least'],
    evaluate: async ({ message, least }) => { ${body} },
  },
});`;
}
const TURNIPS = moduleOf(`return message.content.split('turnip').length - 1 >= least;`);

const FILES = { 'rude.gr': RULE, 'rude.json': RUDE, 'civil.json': CIVIL };

function analyzed(place: Workplace, ...more: readonly string[]) {
  const traces = ['rude.json', 'civil.json'];
  const { lines, code, err } = place.run(['analyze', 'rude.gr', ...traces, '--json', ...more]);
  const found = lines.map((line) => [Object(line).errors.length, Object(line).undecided.length]);
  return { found, code, err };
}

test('`--detectors` offers the functions of a module to rules, and without it they are undecided', () => {
  using place = workplace({ ...FILES, 'own/tone.mjs': TURNIPS });
  const { found, code, err } = analyzed(place, '--detectors', 'own/tone.mjs');
  assert.deepEqual(
    found,
    [
      [1, 0],
      [0, 0],
    ],
    err,
  );
  assert.equal(code, 1);
  assert.deepEqual(analyzed(place).found, [
    [0, 1],
    [0, 1],
  ]);
});

test('a module in TypeScript can have other files beside it', (t) => {
  if (isLeftOut(t)) return;
  using place = workplace({
    ...FILES,
    'own/words.ts': `export const WORDS: readonly string[] = ['turnip'];`,
    'own/tone.ts': `import { WORDS } from './words.ts';
export default { is_rude: { parameters: ['message', 'least'],
  evaluate: ({ message }: { message: { content: string } }): boolean => WORDS.some((word) => message.content.includes(word)) } };`,
  });
  assert.deepEqual(analyzed(place, '--detectors', 'own/tone.ts').found, [
    [1, 0],
    [0, 0],
  ]);
});

for (const [what, body] of [
  ['throws', `throw new Error('no');`],
  ['ends its process', `process.exit(0);`],
  ['answers what is no JSON', `return new Map();`],
  ['writes garbage to the hub', `(await import('node:fs')).writeSync(3, 'garbage\\n'); return false;`],
  [
    'answers for others',
    `(await import('node:fs')).writeSync(3, '{"id":99,"answer":false}\\n'); return false;`,
  ],
  ['answers with too much', `return 'a'.repeat(2000000);`],
  [
    'declares its functions again',
    `(await import('node:fs')).writeSync(3, '{"declared":{"is_rude":["message"]}}\\n'); return false;`,
  ],
] as const) {
  test(`one that ${what} leaves its rule undecided`, (t) => {
    if (isLeftOut(t, what === 'answers for others')) return;
    using place = workplace({ ...FILES, 'own/tone.mjs': moduleOf(body) });
    assert.deepEqual(analyzed(place, '--detectors', 'own/tone.mjs').found, [
      [0, 1],
      [0, 1],
    ]);
  });
}

test('one that never answers is ended when its time is over', (t) => {
  if (isLeftOut(t)) return;
  using place = workplace({
    ...FILES,
    'own/tone.mjs': moduleOf('for (;;) {}'),
    'mine.json': { detectors: { modules: ['own/tone.mjs'], seconds: 1 } },
  });
  const { found } = analyzed(place, '--ask-models', '--config', 'mine.json');
  assert.deepEqual(found, [
    [0, 1],
    [0, 1],
  ]);
});

/** Attack: a module reads the user's files, starts programs, calls home, or looks at the environment. */
for (const [what, body] of [
  ['reads a file of the user', `(await import('node:fs')).readFileSync('SECRET')`],
  [
    'lists the folder above its own',
    `(await import('node:fs')).readdirSync('/module/..').includes('rude.gr') || (() => { throw 0 })()`,
  ],
  ['writes into its own folder', `(await import('node:fs')).writeFileSync('/module/x', 'x')`],
  ['starts a program', `(await import('node:child_process')).execFileSync('/usr/bin/id')`],
  ['connects to a server', `await fetch('http://127.0.0.1:PORT/')`],
  ['reads a variable of the user', `if (process.env.MY_TOKEN === undefined) throw 0`],
] as const) {
  test(`a module that ${what} cannot`, async (t) => {
    if (isLeftOut(t, what === 'reads a file of the user')) return;
    using place = workplace({ ...FILES, secret: 'the secret' });
    const server = createServer((_, response) => response.end('yes')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const port = String(Object(server.address()).port);
    const real = body.replace('SECRET', join(place.root, 'secret')).replace('PORT', port);
    place.write('own/tone.mjs', moduleOf(`try { ${real}; return true; } catch { return false; }`));
    try {
      const args = ['analyze', 'rude.gr', 'rude.json', '--json', '--detectors', 'own/tone.mjs'];
      const started = place.start(args);
      const [out] = await Promise.all([text(started.stdout), once(started, 'exit')]);
      const [line = ''] = out.split('\n');
      assert.deepEqual(JSON.parse(line), { trace: 'rude.json', errors: [], undecided: [] });
    } finally {
      server.close();
    }
  });
}

test('a host that the configuration grants is reached, and no other', async () => {
  using place = workplace({ ...FILES });
  const heard: unknown[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    heard.push(body);
    response.end(JSON.stringify(body.includes('turnip')));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = Object(server.address());
  const asks = (to: number) =>
    moduleOf(`const said = await fetch('http://127.0.0.1:${to}/', { method: 'POST', body: message.content });
      return said.json();`);
  place.write('own/tone.mjs', asks(port));
  place.write('other/tone.mjs', asks(port + 1));
  const configured = (file: string) => ({
    detectors: { modules: [{ file, network: [`127.0.0.1:${port}`] }] },
  });
  place.write('mine.json', configured('own/tone.mjs'));
  place.write('other.json', configured('other/tone.mjs'));
  try {
    const of = async (config: string) => {
      const args = ['analyze', 'rude.gr', 'rude.json', 'civil.json', '--json', '--ask-models'];
      const started = place.start([...args, '--config', config]);
      const [out] = await Promise.all([text(started.stdout), once(started, 'exit')]);
      const lines = out
        .trim()
        .split('\n')
        .slice(0, 2)
        .map((line) => JSON.parse(line));
      return lines.map(({ errors, undecided }) => [errors.length, undecided.length]);
    };
    assert.deepEqual(await of('mine.json'), [
      [1, 0],
      [0, 0],
    ]);
    assert.deepEqual(heard, ['you turnip', 'good morning']);
    assert.deepEqual(await of('other.json'), [
      [0, 1],
      [0, 1],
    ]);
    assert.equal(heard.length, 2);
  } finally {
    server.close();
  }
});

test('scan, monitor and test ask a module, too', (t) => {
  if (isLeftOut(t)) return;
  using place = workplace({
    ...FILES,
    'own/tone.mjs': TURNIPS,
    'rude.test.json': {
      cases: {
        rude: { trace: [{ user: 'you turnip' }], expect: 'rule-1', decision: 'deny' },
        civil: { trace: [{ user: 'good morning' }], expect: 'clean', decision: 'allow' },
      },
    },
  });
  const own = ['--detectors', 'own/tone.mjs'];
  const scanned = place.run(['scan', 'rude.gr', 'rude.json', 'civil.json', '--json', ...own]);
  assert.equal(scanned.code, 1, scanned.err);
  const { violations, undecided } = Object(scanned.lines.at(-1));
  assert.deepEqual([violations, undecided], [1, 0]);
  const input = [...CIVIL, ...RUDE].map((message) => `${JSON.stringify(message)}\n`).join('');
  const verdicts = place.run(['monitor', 'rude.gr', ...own], { input }).lines;
  assert.deepEqual(
    verdicts.map((line) => Object(line).verdict),
    ['allow', 'deny'],
  );
  const tested = place.run(['test', 'rude.test.json', ...own]);
  assert.equal(tested.code, 0, tested.out + tested.err);
  assert.equal(place.run(['test', 'rude.test.json']).code, 1);
});

test('`check` knows the functions of a module and their parameters', (t) => {
  if (isLeftOut(t)) return;
  using place = workplace({ ...FILES, 'own/tone.mjs': TURNIPS });
  const codes = (rule: string, ...more: readonly string[]) => {
    place.write('r.gr', rule);
    const { lines } = place.run(['check', 'r.gr', '--json', ...more]);
    return Object(lines[0]).diagnostics.map(({ code }: { code: string }) => code);
  };
  const own = ['--detectors', 'own/tone.mjs'];
  assert.deepEqual(codes(RULE, ...own), []);
  assert.notDeepEqual(codes(RULE), []);
  assert.notDeepEqual(codes(RULE.replace('least=1', 'most=1'), ...own), []);
});

for (const [what, file, source, said] of [
  [
    'a name of the standard library',
    'own/tone.mjs',
    'export default { pii: { parameters: ["m"], evaluate: () => [] } };',
    /a function `pii` already/,
  ],
  ['nothing to export', 'own/tone.mjs', 'export const x = 1;', /it has no default export/],
  ['a syntax error', 'own/tone.mjs', 'export default {', /cannot be used/],
  ['a folder that holds more than it', 'tone.mjs', TURNIPS, /into a separate folder/],
  ['another ending', 'own/tone.py', TURNIPS, /is no module/],
] as const) {
  test(`a module with ${what} is refused`, (t) => {
    if (isLeftOut(t, what === 'a syntax error')) return;
    using place = workplace({ ...FILES, [file]: source });
    const { code, err } = place.run(['analyze', 'rude.gr', 'rude.json', '--detectors', file]);
    assert.equal(code, 2, err);
    assert.match(err, said);
  });
}

const NO_RUDE_ANSWER = `from cordon.detectors import is_rude
raise "rude" if:
    (m: Message)
    m.role == "assistant"
    is_rude(m)`;

for (const [word, outcome, code] of [
  ['turnip', 'answered', 0],
  ['demonstration', 'refused', 1],
] as const) {
  test(`in a session an answer is decided by a module: with the word ${word} it is ${outcome}`, (t) => {
    if (isLeftOut(t)) return;
    const module = moduleOf(`return message.content.includes('${word}');`);
    using place = workplace({ 'rude.gr': NO_RUDE_ANSWER, 'own/tone.mjs': module });
    const own = ['--policy', 'rude.gr', '--detectors', 'own/tone.mjs'];
    const { lines, err, code: ended } = place.run(['ask', 'hello', '--model', 'obedient', '--json', ...own]);
    const of = (kind: string) => lines.filter((line) => Object(line).kind === kind);
    assert.equal(Object(of('query.ended')[0]).outcome, outcome, err);
    assert.equal(ended, code);
    assert.equal(of('question.answered').length, 1);
    assert.equal(Object(of('question.answered')[0]).service, 'predicate');
  });
}

test('a module in which an app may write is not started', () => {
  const app = { command: 'true', manifest: { description: 'Writes.', files: { write: ['./own'] } } };
  using place = workplace({
    ...FILES,
    'own/tone.mjs': TURNIPS,
    'mine.json': { apps: { writer: app }, detectors: { modules: ['own/tone.mjs'] } },
  });
  const { code, err } = analyzed(place, '--ask-models', '--config', 'mine.json');
  assert.equal(code, 2);
  assert.match(err, /an app may write in its folder/);
});

/** A module that ends its process when it is told to die. */
const MORTAL = `export default { is_rude: { parameters: ['m'], evaluate: ({ m }) => (m === 'die' ? process.exit(0) : m) } };`;

test('a process that has ended is started again, but never with other code than was read', async () => {
  using place = workplace({ 'own/tone.mjs': MORTAL });
  const places = { folder: place.root, home: '/nobody', closed: [] };
  const settings = moduleAt('own/tone.mjs', [], places);
  assert.ok(settings.ok, JSON.stringify(settings));
  const module = new ModuleProcess(
    settings.value,
    openSandbox({ node: process.execPath, cacheFile: lentSelfTest() }),
    HERE,
  );
  const ask = (m: string) => module.answer('is_rude', { m }, AbortSignal.timeout(300_000));
  try {
    assert.deepEqual(await module.declared(), ok({ is_rude: ['m'] }));
    assert.deepEqual(await Promise.all([ask('a'), ask('b')]), [ok('a'), ok('b')]);
    assert.deepEqual(await ask('die'), failed('`is_rude` gave no answer'));
    assert.deepEqual(await ask('c'), ok('c'));
    // Attack: who may write there later lets the predicate say what suits them.
    place.write('own/tone.mjs', MORTAL.replace(': m)', ': false)'));
    assert.deepEqual(await ask('die'), failed('`is_rude` gave no answer'));
    assert.deepEqual(await ask('d'), failed('the module of `is_rude` cannot be started'));
    place.write('own/tone.mjs', MORTAL);
    assert.deepEqual(await ask('e'), ok('e'));
  } finally {
    await module.close();
  }
  assert.equal((await ask('f')).ok, false);
});

test('a module that a file of the current folder names is started only once the file was agreed to', (t) => {
  if (isLeftOut(t)) return;
  const configuration = { detectors: { modules: ['own/tone.mjs'] } };
  using place = workplace({ ...FILES, 'own/tone.mjs': TURNIPS, 'mine.json': configuration });
  const codes = (...more: readonly string[]) => {
    const { lines } = place.run(['check', 'rude.gr', '--json', ...more]);
    return Object(lines.at(-1)).diagnostics.map(({ code }: { code: string }) => code);
  };
  place.write('cordon.json', configuration);
  assert.deepEqual(codes('--apps'), ['POL055']);
  assert.deepEqual(codes('--config', 'mine.json'), []);
  const { code, err } = place.run(['analyze', 'rude.gr', 'rude.json', '--ask-models']);
  assert.equal(code, 2);
  assert.match(err, /is in this folder/);
});
