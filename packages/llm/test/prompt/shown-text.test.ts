import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ShownText } from '../../src/prompt/shown-text.ts';
import '../../../../tools/seed.ts';

function show(...attempts: readonly (readonly string[])[]): string {
  let shown = '';
  const text = new ShownText((delta) => {
    shown += delta;
  });
  for (const deltas of attempts) {
    text.restart();
    for (const delta of deltas) text.add(delta);
  }
  return shown;
}

test('the same words are shown once, however they are divided', () => {
  assert.equal(show(['Hello', ' wo'], ['He', 'llo w', 'orld']), 'Hello world');
  assert.equal(show(['Hello'], ['Hello'], ['Hello', '!']), 'Hello!');
});

test('other words start on a new line, in full', () => {
  assert.equal(show(['Hello wo'], ['Hel', 'p me', ' now']), 'Hello wo\nHelp me now');
});

test('a third attempt is compared with the latest words', () => {
  assert.equal(show(['abc'], ['abx'], ['abxy']), 'abc\nabxy');
});

test('whatever came before, what is shown ends with the last attempt if that is not shorter', () => {
  const deltas = fc.array(fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 3 }), { maxLength: 5 });
  fc.assert(
    fc.property(deltas, deltas, (first, second) => {
      const whole = second.join('');
      const shown = show(first, second);
      assert.ok(shown.endsWith(whole) || first.join('').startsWith(whole));
    }),
  );
});
