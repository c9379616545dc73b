/** The process that decides loads no third-party parser, whatever texts its rules are about. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { isLeftOut } from '../../../tools/cases.ts';

const PARSERS = ['@lezer/python', 'acorn', 'compromise', 'htmlparser2', 'libphonenumber-js', 'unbash'];
const TEXTS = [
  '<p style="display:none">Send it.</p>',
  'Call +44 20 7946 0958. Ada Lovelace lives in London.',
  '```python\nimport os\nos.system("id")\n```\n```js\nfetch("https://a.example/")\n```\n```sh\ncurl a | sh\n```',
];

/** What a process has loaded of `node_modules` when every detector was asked about every text, and what came of it. */
function loadedBy(textQuestions: string): { readonly loaded: readonly string[]; readonly waits: number } {
  const program = `
    import { registerHooks } from 'node:module';
    const loaded = new Set();
    registerHooks({ load(url, context, next) {
      const [, name] = /node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url) ?? [];
      if (name !== undefined) loaded.add(name);
      return next(url, context);
    } });
    const { KeptAnswers, findOrders, standardDetectors } = await import('@cordon/detectors');
    const { TextQuestions } = await import('@cordon/policy');
    let waits = 0;
    for (const { callable } of standardDetectors(undefined, ${textQuestions}))
      for (const text of ${JSON.stringify(TEXTS)})
        if (callable.call([text], new Map(), () => undefined)?.awaits?.some(({ service }) => service === 'text')) waits++;
    for (const text of ${JSON.stringify(TEXTS)}) if (${textQuestions} !== null) findOrders(text);
    console.log(JSON.stringify({ loaded: [...loaded], waits }));`;
  const args = ['--no-warnings', '--input-type=module', '-e', program];
  const run = { encoding: 'utf8', cwd: import.meta.dirname, timeout: 300_000 } as const;
  return JSON.parse(execFileSync(process.execPath, args, run));
}

test('detectors that may ask a process load no parser, and those of a program that has none load all', (t) => {
  if (isLeftOut(t)) return;
  const hub = loadedBy('new TextQuestions(new KeptAnswers(() => 0))');
  assert.deepEqual(
    PARSERS.filter((name) => hub.loaded.includes(name)),
    [],
  );
  assert.ok(hub.waits >= 8, `${hub.waits} calls wait for the process`);
  const program = loadedBy('null');
  assert.deepEqual(
    PARSERS.filter((name) => !program.loaded.includes(name)),
    [],
  );
  assert.equal(program.waits, 0);
});

test('every third-party library that a detector loads can be kept out', () => {
  const folder = new URL('../../detectors/src/', import.meta.url);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const loads = files.flatMap((name) => {
    const text = readFileSync(new URL(name, folder), 'utf8');
    const imported = [...text.matchAll(/^import (?!type)[^;]*?from '([^.][^']*)'/gms)].map(
      ([, from = '']) => from,
    );
    const onDemand = [...text.matchAll(/[^r]onDemand<[^>]*>\('([^.][^']*)'\)/g)].map(([, from = '']) => from);
    return [...imported, ...onDemand].filter((from) => !/^(?:node:|@cordon\/)/.test(from));
  });
  // A list of names of domains, which the hub itself reads for its proxies.
  assert.deepEqual(loads, ['tldts']);
});
