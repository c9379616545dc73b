import assert from 'node:assert/strict';
import { test } from 'node:test';
import { growsTooFast } from './growth.ts';

const make = (size: number) => 'a'.repeat(size);

/** Looks so many times at each place of the text. */
function look(times: (length: number) => number): (text: string) => number {
  return (text) => {
    let found = 0;
    for (let time = 0; time < times(text.length); time++)
      for (let place = 0; place < text.length; place++) if (text.charCodeAt(place) === time) found++;
    return found;
  };
}

test('quadratic work grows too fast, and linear work does not', () => {
  const quadratic = look((length) => length);
  const linear = look(() => 100);
  const told = /^[\d.]+ times from 500 to 2000, [\d.]+ times from 2500 to 10000$/;
  assert.match(growsTooFast(quadratic, make, 500, 9) ?? '', told);
  assert.equal(growsTooFast(linear, make, 500, 9), null);
});

test('work that takes next to no time is repeated until it can be measured', () => {
  assert.equal(
    growsTooFast((text: string) => text.includes('}'), make, 400, 9),
    null,
  );
});
