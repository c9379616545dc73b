/** With `--json`, a wrong option is a fault of usage, and a data folder that cannot be used is another kind. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isJsonObject } from '@cordon/core';
import { Workplace } from '@cordon/testkit/cordon-program.ts';
import { isLeftOut } from '../../../../tools/cases.ts';

function faultKind(place: Workplace, args: readonly string[]): unknown {
  const { code, lines } = place.run([...args, '--json']);
  assert.equal(code, 2);
  const [fault] = lines.flatMap((line) => (isJsonObject(line) && line.kind === 'fault' ? [line.fault] : []));
  return isJsonObject(fault) ? fault.kind : null;
}

for (const args of [
  ['grants', 'revoke'],
  ['grants', 'list', '--scope', 'nothing'],
  ['sessions', 'delete'],
  ['memory', 'delete'],
  ['memory', 'prune'],
  ['memory', 'rekey'],
  ['memory', 'rekey', '--none', '--new-key-file', 'key'],
  ['ask', 'hello', '--wait', 'soon'],
]) {
  test(`\`cordon ${args.join(' ')}\` is a fault of usage`, (t) => {
    if (isLeftOut(t, ['grants list', 'memory delete'].includes(args.slice(0, 2).join(' ')))) return;
    using place = new Workplace();
    assert.equal(faultKind(place, args), 'usage');
  });
}

test('a data folder that cannot be used is a fault of the journal', () => {
  using place = new Workplace({ data: 'a file' });
  assert.equal(faultKind(place, ['sessions', '--data', 'data']), 'journal-unavailable');
});
