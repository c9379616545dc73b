import assert from 'node:assert/strict';
import { test } from 'node:test';
import { growsTooFast } from './growth.ts';

const make = (size: number) => 'a'.repeat(size);

/** Looks through the rest of the text from each of so many places in it. */
function searchFrom(places: (length: number) => number): (text: string) => number {
  return (text) => {
    let found = 0;
    for (let place = 0; place < places(text.length); place++) found += text.indexOf('}', place);
    return found;
  };
}

test('quadratic work grows too fast, and linear work does not', () => {
  assert.match(
    growsTooFast(
      searchFrom((length) => length),
      make,
      8_000,
    ) ?? '',
    /^[\d.]+ times from 8000 to 32000, [\d.]+ times from 40000 to 160000$/,
  );
  assert.equal(
    growsTooFast(
      searchFrom(() => 1_000),
      make,
      8_000,
    ),
    null,
  );
});

test('work that takes next to no time is repeated until it can be measured', () => {
  assert.equal(
    growsTooFast((text: string) => text.includes('}'), make, 400),
    null,
  );
});
