import assert from 'node:assert/strict';
import { test } from 'node:test';
import { extract } from '../../src/memory/extract.ts';
import { divideHistory, type Said, shortened } from '../../src/memory/working-memory.ts';

function talk(count: number, length = 10): readonly Said[] {
  return Array.from({ length: count }, (_, n): readonly Said[] => [
    { role: 'user', text: `q${n} `.padEnd(length, '.') },
    { role: 'assistant', text: `a${n} `.padEnd(length, '.') },
  ]).flat();
}

function shown(turns: readonly Said[], interactions: number, characters: number): readonly string[] {
  return divideHistory(turns, { interactions, characters }).shown.map(({ text }) => text.replace(/ .*/, ''));
}

test('the newest interactions are shown, each whole, as far as both limits go', () => {
  assert.deepEqual(shown(talk(5), 2, 1000), ['q3', 'a3', 'q4', 'a4']);
  assert.deepEqual(shown(talk(5), 5, 65), ['q2', 'a2', 'q3', 'a3', 'q4', 'a4']);
  assert.deepEqual(shown(talk(5), 9, 1000).length, 10);
  assert.deepEqual(shown([], 9, 1000), []);
});

test('the newest one is shown whatever the limits', () => {
  assert.deepEqual(shown(talk(3), 0, 1), ['q2', 'a2']);
  assert.deepEqual(shown(talk(3), 1, 0), ['q2', 'a2']);
});

test('nothing is lost or shown twice: what is not shown is older', () => {
  for (let count = 0; count < 12; count++) {
    for (let interactions = 0; interactions < 6; interactions++) {
      for (const characters of [0, 15, 40, 90, 1000]) {
        const turns = talk(count);
        const { older, shown: rest } = divideHistory(turns, { interactions, characters });
        assert.deepEqual([...older, ...rest], turns);
        assert.equal(rest.length === 0 || rest[0]?.role === 'user', true);
      }
    }
  }
});

test('what follows no message of the user belongs to the first one that is shown', () => {
  const turns: readonly Said[] = [{ role: 'assistant', text: 'welcome' }, ...talk(1)];
  assert.deepEqual(shown(turns, 9, 1000), ['welcome', 'q0', 'a0']);
});

test('of one long text the middle is left out', () => {
  const text = `${'a'.repeat(500)}${'b'.repeat(500)}`;
  const cut = shortened(text, 100);
  assert.equal(cut, `${'a'.repeat(75)}\n[… 900 characters left out …]\n${'b'.repeat(25)}`);
  assert.equal(shortened('short', 100), 'short');
});

test('a summary without a model is the beginnings of what was said, the oldest left out when there are too many', () => {
  const first = extract(null, talk(2), 1000);
  assert.equal(
    first,
    '- the user: q0 .......\n- answer: a0 .......\n- the user: q1 .......\n- answer: a1 .......',
  );
  assert.equal(
    extract(first, [{ role: 'user', text: 'line\none' }], 1000).endsWith('\n- the user: line one'),
    true,
  );
  const short = extract(first, talk(1), 100);
  assert.equal(short, '(4 earlier left out)\n- the user: q0 .......\n- answer: a0 .......');
  assert.equal(
    extract(short, talk(1), 100),
    '(6 earlier left out)\n- the user: q0 .......\n- answer: a0 .......',
  );
});

test('a summary without a model never grows beyond its limit, and is the same of the same', () => {
  let summary: string | null = null;
  for (let n = 0; n < 60; n++) {
    const next: string = extract(summary, talk(1, 3000), 1000);
    assert.equal(next, extract(summary, talk(1, 3000), 1000));
    assert.equal(next.length <= 1000, true);
    summary = next;
  }
  assert.equal(summary?.includes('earlier left out'), true);
});
