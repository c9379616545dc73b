import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { documented } from '../documentation/documentation.ts';
import type { RunFacts, SuiteResult } from '../result.ts';
import type { Section } from '../suite.ts';
import { compared } from './compare.ts';
import { barRows, figureText, lineRows } from './figure.ts';
import { page } from './page.ts';

const RUN: RunFacts = {
  isOnOtherData: false,
  isSample: false,
  units: 4,
  measured: 4,
  isMixed: false,
  notices: [],
  cordon: '0.1.0',
  code: 'c0de',
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
  data: [{ name: 'traces/one', sha256: 'aa' }],
  ended: '2026-11-21T20:00:00.000Z',
  seconds: 12.5,
};
const HOSTILE = `<script>alert("1")</script><img src=x onerror='alert(2)'>`;
const BARS: Section = {
  kind: 'bars',
  title: 'Attack success (by column)',
  unit: '%',
  series: ['one', 'two'],
  bars: [
    { name: HOSTILE, values: [99.34, Number.NaN] },
    { name: 'both', values: [0, -1] },
  ],
};
const LINES: Section = {
  kind: 'lines',
  title: 'Decision',
  x: { name: 'events', scale: 'logarithmic' },
  y: { name: 'µs', scale: 'linear' },
  lines: [
    {
      name: 'p50',
      points: [
        [0, 1],
        [10, 2.34],
        [100_000, 2.5],
      ],
    },
    {
      name: HOSTILE,
      points: [
        [10, Number.POSITIVE_INFINITY],
        [1000, 12],
      ],
    },
    { name: 'none', points: [] },
  ],
};
const TABLE: Section = {
  kind: 'table',
  title: 'By suite (3)',
  columns: ['', 'caught'],
  rows: [['a | b', '98.4 %'], [HOSTILE, '–'], ['short']],
  note: HOSTILE,
};
const RESULT: SuiteResult = {
  suite: 'protection',
  question: 'are attacks stopped?',
  figures: { recorded: { caught: 0.98406, suites: { slack: { caught: 1 } } }, obedient: null },
  aims: [{ what: 'recorded attacks caught', measured: '98.4 %', aim: '≥ 98 %', isMet: true }],
  sections: [BARS, LINES, TABLE, { kind: 'text', title: null, text: HOSTILE }],
  run: RUN,
};

const VOID = new Set(['meta', '!doctype']);

/** The names of all elements, each with its end. Throws where one has none. */
function elements(html: string): readonly string[] {
  const open: string[] = [];
  const names: string[] = [];
  const withoutStyle = html.replace(/<style>[^<]*<\/style>/, '');
  for (const [tag, slash, name = '', rest = ''] of withoutStyle.matchAll(
    /<(\/?)([a-z!0-9]+)((?:[^<>"]|"[^"<>]*")*)>/g,
  )) {
    if (slash === '/') assert.equal(open.pop(), name, tag);
    else {
      names.push(name);
      if (!VOID.has(name) && !rest.endsWith('/')) open.push(name);
    }
  }
  assert.deepEqual(open, []);
  assert.equal(
    [...withoutStyle.matchAll(/</g)].length,
    [...withoutStyle.matchAll(/<\/?[a-z!0-9]+(?:[^<>"]|"[^"<>]*")*>/g)].length,
  );
  return names;
}

test('the page is well formed, and words of others make no element of it', () => {
  const html = page([RESULT, { ...RESULT, suite: 'machine' }]);
  const names = elements(html);
  assert.ok(names.includes('svg') && names.includes('table'));
  assert.deepEqual(
    names.filter((name) => ['script', 'img', 'iframe', 'link', 'object', 'a'].includes(name)),
    ['a', 'a'],
  );
  assert.ok(html.includes('&lt;script&gt;alert(&quot;1&quot;)'));
});

test('the page fetches nothing, and its policy allows its own style alone', () => {
  const html = page([RESULT]);
  assert.doesNotMatch(html, /https?:|url\(|@import|\bsrc=(?!x)|\bstyle="|<script/);
  const style = /<style>([^<]*)<\/style>/.exec(html)?.[1] ?? '';
  const digest = createHash('sha256').update(style).digest('base64');
  assert.ok(html.includes(`content="default-src 'none'; style-src 'sha256-${digest}'"`));
});

test('a sample, other data, and what is missing stand on the page', () => {
  const run = {
    ...RUN,
    isSample: true,
    every: 12,
    isOnOtherData: true,
    measured: 3,
    notices: ['left out: `x`'],
  };
  const html = page([{ ...RESULT, run }]);
  for (const said of [
    'A sample, not the whole evaluation.',
    'about one in 12 units',
    '1 of 1 aims are met.',
    'Incomplete: 3 of 4 units are measured.',
    'On data that were named',
    'left out: <code>x</code>',
  ])
    assert.ok(html.includes(said), said);
});

test('numbers that are none are drawn as such, and points that have no place are left out', () => {
  const html = page([RESULT]);
  assert.doesNotMatch(html, /NaN|Infinity/);
  assert.ok(html.includes('99.3 %'));
});

for (const [value, text] of [
  [0.98406, '0.984'],
  [2.304, '2.3'],
  [1234.56, '1,235'],
  [14350, '14,350'],
  [0, '0'],
  [Number.NaN, '–'],
] as const)
  test(`${value} is read as ${text}`, () => assert.equal(figureText(value), text));

test('charts as rows have the same figures', () => {
  assert.deepEqual(BARS.kind === 'bars' ? barRows(BARS).rows[1] : [], ['both', '0', '-1']);
  assert.deepEqual(LINES.kind === 'lines' ? lineRows(LINES).rows.map(([x, p50]) => [x, p50]) : [], [
    ['0', '1'],
    ['10', '2.34'],
    ['1,000', ''],
    ['100,000', '2.5'],
  ]);
});

test('of a line with many points as many are rows as can be read, the ends among them', () => {
  const points = Array.from({ length: 500 }, (_, index): [number, number] => [index, index]);
  const { rows } = lineRows({
    ...(LINES as Extract<Section, { kind: 'lines' }>),
    lines: [{ name: 'a', points }],
  });
  assert.deepEqual([rows.length, rows.at(0)?.[0], rows.at(-1)?.[0]], [12, '0', '499']);
});

// ── documentation ───────────────────────────────────────────────────────────────────────────────────────────────

const made = (text: string) => documented(text, [RESULT], ['protection', 'overhead']);

test('what stands between marks is made from the results, and the rest is left alone', () => {
  const text = 'Before.\n<!-- bench:protection/aims -->\nold | 50 %\n<!-- /bench -->\nAfter 50 %.\n';
  const expected = `Before.
<!-- bench:protection/aims -->
|  | measured | aim |  |
|---|---|---|---|
| recorded attacks caught | 98.4 % | ≥ 98 % | met |
<!-- /bench -->
After 50 %.
`;
  const done = made(text);
  assert.equal(done.ok && done.value, expected);
  const again = made(expected);
  assert.equal(again.ok && again.value, expected);
});

test('a figure stands in the middle of a line, as a number or as a percentage', () => {
  const done = made(
    '| <!-- bench:protection.recorded.caught % --><!-- /bench --> | <!-- bench:protection.recorded.caught -->9<!-- /bench --> |',
  );
  assert.equal(
    done.ok && done.value,
    '| <!-- bench:protection.recorded.caught % -->98.4 %<!-- /bench --> | <!-- bench:protection.recorded.caught -->0.984<!-- /bench --> |',
  );
});

test('a table is named by its title without its count, and its cells stay cells', () => {
  const done = made('<!-- bench:protection/by-suite -->\n<!-- /bench -->');
  assert.match(done.ok ? done.value : '', /\| a \\\| b \| 98\.4 % \|/);
});

test('of a suite that has no result yet it is said so', () => {
  const done = made(
    '<!-- bench:overhead/aims -->\n<!-- /bench --> <!-- bench:overhead.p95 -->9<!-- /bench -->',
  );
  assert.equal(
    done.ok && done.value,
    '<!-- bench:overhead/aims -->\nNot measured yet: `npm run bench -- overhead`.\n<!-- /bench --> <!-- bench:overhead.p95 -->–<!-- /bench -->',
  );
});

for (const [text, complaint] of [
  ['<!-- bench:speed -->\n<!-- /bench -->', /there is no `speed`/],
  ['<!-- bench:protection/no-such-table -->\n<!-- /bench -->', /no-such-table/],
  ['<!-- bench:protection.recorded.constructor -->x<!-- /bench -->', /constructor/],
  ['<!-- bench:protection.obedient -->x<!-- /bench -->', /obedient/],
  ['<!-- bench:protection -->\nno end', /of 1 marks 0 have their end/],
] as const)
  test(`\`${text.split('\n')[0]}\` is refused`, () => {
    const done = made(text);
    assert.match(done.ok ? '' : done.fault.join(), complaint);
  });

// ── comparison ──────────────────────────────────────────────────────────────────────────────────────────────────

const time = (median: number, quartiles: readonly [number, number]) => ({
  runs: 7,
  median,
  quartiles,
  range: quartiles,
});

test('times are told with their spread, shares and counts as they are', () => {
  const after: SuiteResult = {
    ...RESULT,
    aims: [{ what: 'recorded attacks caught', measured: '97.0 %', aim: '≥ 98 %', isMet: false }],
    figures: { caught: 0.97, start: time(101, [95, 105]), call: time(30, [29, 31]), fresh: 1, same: 5 },
    run: {
      ...RUN,
      code: 'other',
      only: 'set/',
      every: 12,
      measured: 3,
      data: [{ name: 'traces/one', sha256: 'bb' }],
    },
  };
  const before: SuiteResult = {
    ...RESULT,
    figures: { caught: 0.98, start: time(100, [98, 103]), call: time(20, [19, 21]), gone: 2, same: 5 },
  };
  const { comparisons, onlyBefore, onlyAfter } = compared([before, { ...RESULT, suite: 'machine' }], [after]);
  const [one] = comparisons;
  assert.deepEqual([onlyBefore, onlyAfter, comparisons.length], [['machine'], [], 1]);
  assert.deepEqual(one?.aims, [
    { what: 'recorded attacks caught', before: '98.4 %', after: '97.0 %', verdict: 'missed now' },
  ]);
  assert.deepEqual(
    one?.figures.map(({ path, before: then, after: now, verdict }) => [path, then, now, verdict]),
    [
      ['caught', '0.98', '0.97', 'changed'],
      ['start', '100 (98–103)', '101 (95–105)', 'within the spread'],
      ['call', '20 (19–21)', '30 (29–31)', 'beyond the spread'],
      ['gone', '2', '', 'gone'],
      ['fresh', '', '1', 'new'],
    ],
  );
  assert.equal(one?.same, 1);
  assert.deepEqual(one?.circumstances, [
    'units: all units, then all units, with `set/` in their key, about one in 12',
    'code: c0de, then other',
    'the data are others',
    'the second is incomplete: 3 of 4 units',
  ]);
});
