/** The commands about policies and traces print what docs/cli.md says that they print. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Workplace } from '@cordon/testkit/cordon-program.ts';
import { isLeftOut } from '../../../tools/cases.ts';

const ROOT = join(import.meta.dirname, '../../..');
const PAGE = readFileSync(join(ROOT, 'docs/cli.md'), 'utf8');
const EXAMPLES = [
  ...PAGE.matchAll(/^```sh\ncordon ((?:analyze|explain|test) [^\n]+)\n```\n\n```\n(.*?)^```$/gms),
];

test('each of these commands has an example on the page', () => {
  const commands = EXAMPLES.map(([, command = '']) => command.split(' ')[0]);
  assert.deepEqual(commands, ['analyze', 'explain', 'test']);
});

for (const [, command = '', output] of EXAMPLES) {
  test(`\`cordon ${command}\` prints what the page shows`, (t) => {
    if (isLeftOut(t, command.startsWith('analyze'))) return;
    using place = new Workplace({}, ROOT);
    assert.equal(place.run(command.split(' ')).out, output);
  });
}

test('`cordon monitor` decides what the page shows', () => {
  const [, shown = ''] = /^```json\n(\{"line".*?)^```$/ms.exec(PAGE) ?? [];
  const trace: readonly unknown[] = JSON.parse(
    readFileSync(join(ROOT, 'examples/policy/steered.json'), 'utf8'),
  );
  using place = new Workplace({}, ROOT);
  const input = trace.map((message) => `${JSON.stringify(message)}\n`).join('');
  const { out } = place.run(['monitor', 'examples/policy/mail.gr', '--param', 'owner=me@example.org'], {
    input,
  });
  assert.equal(out.split('\n').slice(2).join('\n'), shown);
});
