/** What the programs print, as a report; and a report of nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@cordon/core';
import { machineReport } from './report.ts';

const STARTS: JsonObject = {
  rows: [
    {
      name: 'bare',
      unit: 'ms',
      median: 30,
      quartiles: [29, 31],
      range: [28, 40],
      runs: 7,
      ratio: null,
      aim: null,
      met: null,
    },
    {
      name: 'confined',
      unit: 'ms',
      median: 39,
      quartiles: [38, 41],
      range: [37, 60],
      runs: 7,
      ratio: 1.3,
      aim: { below: 1.2, of: 'bare' },
      met: false,
    },
  ],
};

const POLICY: JsonObject = {
  rows: [
    { name: 'next event after 10, p50', value: 1.5, unit: 'µs', aim: null },
    { name: 'next event after 1,000, p50', value: 2, unit: 'µs', aim: 20 },
    { name: 'next event after 1,000, p99', value: 12, unit: 'µs', aim: 200 },
  ],
};

const SCAN: JsonObject = {
  rows: [
    { name: 'JSON.parse', speed: { runs: 5, median: 600, quartiles: [590, 610], range: [500, 620] } },
    { name: 'scan, one core', speed: { runs: 5, median: 150, quartiles: [140, 160], range: [130, 170] } },
  ],
  aims: [{ name: 'one core: share of JSON.parse', value: 0.25, aim: 0.5 }],
};

test('figures of all programs stand in one form, with their aims', () => {
  const { result, aims, sections } = machineReport(
    new Map([
      ['isolation/starts', STARTS],
      ['policy', POLICY],
      ['scan', SCAN],
    ]),
  );
  assert.deepEqual(aims, [
    { what: 'confined', measured: '1.30×', aim: '< 1.2×', isMet: false },
    { what: 'next event after 1,000, p50', measured: '2.00 µs', aim: '< 20 µs', isMet: true },
    { what: 'next event after 1,000, p99', measured: '12.0 µs', aim: '< 200 µs', isMet: true },
    { what: 'one core: share of JSON.parse', measured: '0.250 ×', aim: '≥ 0.5×', isMet: false },
  ]);
  assert.deepEqual(result.starts, {
    bare: { runs: 7, median: 30, quartiles: [29, 31], range: [28, 40] },
    confined: { runs: 7, median: 39, quartiles: [38, 41], range: [37, 60] },
  });
  const chart = sections.find(({ kind }) => kind === 'lines');
  assert.deepEqual(chart?.kind === 'lines' ? chart.lines : null, [
    {
      name: 'p50',
      points: [
        [10, 1.5],
        [1_000, 2],
      ],
    },
    { name: 'p99', points: [[1_000, 12]] },
  ]);
  const scan = sections.find((section) => section.kind === 'table' && section.title.startsWith('Scan'));
  assert.deepEqual(scan?.kind === 'table' ? scan.rows.map((row) => row[3]) : null, ['1.00×', '0.25×', '']);
});

test('a run that measured nothing has a report that says nothing', () => {
  assert.deepEqual(machineReport(new Map()), { result: {}, aims: [], sections: [] });
});
