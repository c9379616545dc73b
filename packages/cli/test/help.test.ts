/** What `cordon --help` says first: the commands, in groups by what they are for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Workplace } from '@cordon/testkit/cordon-program.ts';

test('the help lists every command, in groups', () => {
  using place = new Workplace();
  const { code, out } = place.run(['--help']);
  assert.equal(code, 0);
  const groups = out.split('\n\n').flatMap((block) => {
    const [heading = '', ...lines] = block.trim().split('\n');
    const names = lines.flatMap((line) => /^ {2}([a-z]+)/.exec(line)?.[1] ?? []);
    return names.length === 0 ? [] : [[heading, names.join(' ')]];
  });
  assert.deepEqual(groups, [
    ['Use:', 'ask chat resume start prompts demo'],
    ['Apps:', 'apps run init'],
    ['Policies:', 'policy check test fmt analyze scan explain monitor'],
    ['Records:', 'sessions memory grants audit'],
    ['Machine:', 'doctor bench help'],
  ]);
});

test('the help of a command that serves queries lists its options, in groups', () => {
  using place = new Workplace();
  const { out } = place.run(['ask', '--help']);
  assert.deepEqual(out.match(/^[A-Z][a-z ]+:$/gm), [
    'Options:',
    'Model:',
    'Rules and isolation:',
    'Questions:',
    'Limits:',
  ]);
});

test('no line of the help is wider than a terminal of 80 columns', () => {
  using place = new Workplace();
  for (const words of [['--help'], ['ask', '--help'], ['apps', '--help']])
    for (const line of place.run(words).out.split('\n')) assert.ok(line.length <= 80, line);
});
