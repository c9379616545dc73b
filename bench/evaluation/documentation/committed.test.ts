import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { type RunFacts, readResults, type SuiteResult } from '../result.ts';
import { objection, pagesNow, RESULTS, withPart } from './committed.ts';

test('the documentation says what the results of the repository say', () => {
  const pages = pagesNow();
  assert.equal(pages.ok ? '' : pages.fault.message, '');
  for (const { page, text, made } of pages.ok ? pages.value : [])
    assert.equal(text, made, `${page} is not what was measured: run \`npm run bench:docs\``);
});

test('the results of the repository are whole, and of its own data', () => {
  const results = existsSync(RESULTS) ? readResults(RESULTS) : null;
  const objections = results?.ok === true ? results.value.flatMap((one) => objection(one) ?? []) : [];
  assert.deepEqual([results === null || results.ok, objections], [true, []]);
});

const RUN: RunFacts = {
  isOnOtherData: false,
  isSample: false,
  units: 9,
  measured: 9,
  isMixed: false,
  notices: ['something of that run'],
  cordon: '0.1.0',
  code: 'old',
  policy: '90',
  machine: {
    cpu: 'Some processor',
    cores: 2,
    memoryGiB: 8,
    kernel: 'Linux 6.1',
    distribution: 'Debian 12',
    node: 'v24.0.0',
    load: 0.5,
  },
  data: [
    { name: 'traces', sha256: 'a1' },
    { name: 'pairs', sha256: 'b1' },
  ],
  ended: '2030-01-02T03:04:05.000Z',
  seconds: 12.5,
};

function resultOf(
  figures: SuiteResult['figures'],
  run: Partial<RunFacts>,
  parts: readonly string[],
): SuiteResult {
  return {
    suite: 'protection',
    question: '?',
    figures,
    aims: parts.map((part) => ({ part, what: part, measured: '1', aim: '1', isMet: true })),
    sections: parts.map((part) => ({ part, kind: 'text', title: `${part} ${run.code}`, text: '' })),
    run: { ...RUN, ...run },
  };
}

test('a result of one part replaces that part alone, and says of when the rest is', () => {
  const before = resultOf({ recorded: 1, obedient: 2 }, { code: 'old' }, ['recorded', 'obedient']);
  const fresh = resultOf(
    { recorded: 3, obedient: null },
    { code: 'new', part: 'recorded', units: 4, measured: 4, data: [{ name: 'traces', sha256: 'a2' }] },
    ['recorded'],
  );
  const { figures, aims, sections, run } = withPart(before, fresh, 'recorded');
  assert.deepEqual(figures, { recorded: 3, obedient: 2 });
  assert.deepEqual(
    [aims.map(({ what }) => what), sections.map(({ title }) => title)],
    [
      ['recorded', 'obedient'],
      ['recorded new', 'obedient old'],
    ],
  );
  assert.deepEqual(
    [run.code, run.units, run.part, run.data.map(({ sha256 }) => sha256)],
    ['new', 4, undefined, ['a2', 'b1']],
  );
  assert.deepEqual(run.notices, ['This run measured `recorded` alone; the rest is of 2030-01-02, code old.']);
  const third = resultOf({ recorded: 5, obedient: null }, { code: 'newer', part: 'recorded' }, ['recorded']);
  const again = withPart({ ...before, run }, third, 'recorded');
  assert.deepEqual(again.run.notices, run.notices, 'the rest was not measured in between');
  const other = withPart({ ...before, run }, third, 'obedient');
  assert.deepEqual(other.run.notices, [
    'This run measured `obedient` alone; the rest is of 2030-01-02, code new.',
  ]);
});

test('a result of a model that not everybody can ask, or of a sample, does not stand in the repository, the whole one of the obedient model does', () => {
  const result = (run: RunFacts): SuiteResult => ({
    suite: 'functionality',
    question: '?',
    figures: {},
    aims: [],
    sections: [],
    run,
  });
  assert.equal(objection(result(RUN)), null);
  assert.match(objection(result({ ...RUN, model: 'a/b' })) ?? '', /`a\/b` played in it/);
  assert.match(objection(result({ ...RUN, every: 12 })) ?? '', /only about one in 12 units were run/);
});
