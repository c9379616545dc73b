/** What the programs printed, as one report: tables by subject, the aims of all, and charts where something grows. */
import { isJsonObject, type Json, type JsonObject } from '@cordon/core';
import { bars, lines, listAt, numberAt, objectAt, table, textAt } from '../evaluation/report-parts.ts';
import type { Aim, Section, SuiteReport } from '../evaluation/suite.ts';

type Records = ReadonlyMap<string, JsonObject>;

/** One figure of whichever program, in the same form. */
interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** From a quarter to three; null: it was measured once. */
  readonly spread: readonly [number, number] | null;
  /** As others are compared with it; null: it is no repeated time. */
  readonly summary: JsonObject | null;
  readonly aim: string | null;
  readonly isMet: boolean | null;
  /** To the figure that the aim names. */
  readonly ratio: number | null;
}

export function machineReport(records: Records): SuiteReport {
  const groups: readonly Group[] = [
    { key: 'starts', title: 'Start of a spoke', figures: isolation(records, 'starts', 'warm') },
    { key: 'trips', title: 'Round trip and tool call', figures: isolation(records, 'trips', 'calls') },
    { key: 'memory', title: 'Memory, and spokes on a machine', figures: memory(records) },
    { key: 'neighbour', title: 'Files of a neighbour', figures: isolation(records, 'neighbour') },
    { key: 'harms', title: 'What a hostile app costs the hub', figures: isolation(records, 'harms') },
    { key: 'policy', title: 'Decisions and loading', figures: policy(records) },
    { key: 'scan', title: 'Scan beside `JSON.parse`', figures: scan(records) },
    { key: 'hub', title: 'A step of the hub', figures: hub(records) },
    { key: 'outputs', title: "Longest gap in the hub's loop", figures: outputs(records) },
    { key: 'start', title: 'Start of Cordon', figures: start(records) },
  ].filter(({ figures }) => figures.length > 0);
  return {
    result: Object.fromEntries(groups.map(({ key, figures }) => [key, resultOf(figures)])),
    aims: groups.flatMap(({ figures }) => figures.flatMap(aimOf)),
    sections: groups.flatMap((group) => [figureTable(group), ...chartsOf(group)]),
  };
}

interface Group {
  readonly key: string;
  readonly title: string;
  readonly figures: readonly Figure[];
}

// ── what each program prints ────────────────────────────────────────────────────────────────────────────────────

function isolation(records: Records, ...kinds: readonly string[]): readonly Figure[] {
  return kinds.flatMap((kind) =>
    rowsOf(records.get(`isolation/${kind}`)).map((row): Figure => {
      const aim = objectAt(row, 'aim');
      const isShare = aim !== null && typeof aim.of === 'string';
      return {
        ...summarised(row, textAt(row, 'name'), textAt(row, 'unit')),
        ratio: isShare ? numberAt(row, 'ratio') : null,
        aim: aim === null ? null : `< ${numberAt(aim, 'below')}${isShare ? '×' : ` ${textAt(row, 'unit')}`}`,
        isMet: aim === null ? null : row.met === true,
      };
    }),
  );
}

/** Of many idle spokes at once. */
function memory(records: Records): readonly Figure[] {
  const many = objectAt(records.get('isolation/spokes'), 'many');
  const machine = objectAt(records.get('isolation/memory') ?? records.get('isolation/spokes'), 'machine');
  const loop = isolation(records, 'memory').find(({ name }) => name.includes('loop'));
  const fitting =
    loop === undefined || machine === null
      ? []
      : [
          once(
            'idle agent loops that the memory of this machine holds',
            (numberAt(machine, 'memoryGiB') * 1073.7) / loop.value,
            '',
          ),
        ];
  if (many === null) return [...isolation(records, 'memory'), ...fitting];
  const delay = objectAt(many, 'delay');
  return [
    ...isolation(records, 'memory'),
    ...fitting,
    once('spokes at once', numberAt(many, 'spokes'), ''),
    once('… started in a second', numberAt(many, 'startsPerSecond'), ''),
    once('… memory of each', numberAt(many, 'megabytesEach'), 'MB'),
    once("… hub's event loop late, p50", numberAt(delay, 'p50'), 'ms'),
    once("… hub's event loop late, p99", numberAt(delay, 'p99'), 'ms'),
    once('… hub busy', 100 * numberAt(many, 'busy'), '%'),
    once('… all gone after', numberAt(many, 'endedIn'), 'ms'),
  ];
}

function policy(records: Records): readonly Figure[] {
  return rowsOf(records.get('policy')).map((row) => {
    const unit = textAt(row, 'unit');
    return limited(once(textAt(row, 'name'), numberAt(row, 'value'), unit), row.aim, unit);
  });
}

function scan(records: Records): readonly Figure[] {
  const record = records.get('scan');
  const rows = rowsOf(record);
  const parse = rows.find((row) => row.name === 'JSON.parse');
  const whole = numberAt(objectAt(parse, 'speed'), 'median');
  return [
    ...rows.map((row) => {
      const speed = summarised(objectAt(row, 'speed') ?? {}, textAt(row, 'name'), 'MB/s');
      return { ...speed, ratio: whole > 0 ? speed.value / whole : null };
    }),
    ...listAt(record, 'aims')
      .filter(isJsonObject)
      .map((row): Figure => {
        const [value, aim] = [numberAt(row, 'value'), numberAt(row, 'aim')];
        return { ...once(textAt(row, 'name'), value, '×'), aim: `≥ ${aim}×`, isMet: value >= aim };
      }),
  ];
}

function hub(records: Records): readonly Figure[] {
  const record = records.get('hub');
  const aim = numberAt(record, 'aimMs');
  return rowsOf(record).map((row): Figure => {
    const name = textAt(row, 'name');
    const figure = summarised(row, name, 'ms');
    if (name === 'query, CPU, 10000 calls before') {
      const ratio = numberAt(record, 'callRatio');
      return { ...figure, ratio, aim: '< 1.2×', isMet: ratio < 1.2 };
    }
    return name === 'step, 10000 events' ? limited(figure, aim, 'ms') : figure;
  });
}

/** While an app returns a large output and the model acts upon it, by the form and size of the output. */
function outputs(records: Records): readonly Figure[] {
  return rowsOf(records.get('outputs')).map((row) =>
    limited(once(textAt(row, 'name'), numberAt(row, 'value'), 'ms'), row.aim, 'ms'),
  );
}

function start(records: Records): readonly Figure[] {
  return rowsOf(records.get('start')).map((row) =>
    limited(summarised(row, textAt(row, 'name'), 'ms'), row.aim, 'ms'),
  );
}

function once(name: string, value: number, unit: string): Figure {
  return { name, value, unit, spread: null, summary: null, aim: null, isMet: null, ratio: null };
}

function summarised(row: JsonObject, name: string, unit: string): Figure {
  const [runs, median] = [numberAt(row, 'runs'), numberAt(row, 'median')];
  const [quartiles, range] = [pairAt(row, 'quartiles'), pairAt(row, 'range')];
  return {
    ...once(name, median, unit),
    spread: quartiles,
    summary:
      quartiles === null || range === null
        ? null
        : { runs, median, quartiles: [...quartiles], range: [...range] },
  };
}

/** @param aim what the value must stay below; no number: none */
function limited(figure: Figure, aim: Json | undefined, unit: string): Figure {
  return typeof aim === 'number'
    ? { ...figure, aim: `< ${aim} ${unit}`.trim(), isMet: figure.value < aim }
    : figure;
}

// ── what is shown ───────────────────────────────────────────────────────────────────────────────────────────────

function figureTable({ title, figures }: Group): Section {
  const rows = figures.map(({ name, value, unit, spread, ratio, aim, isMet }) => [
    name,
    `${shown(value)} ${unit}`.trim(),
    spread === null ? '' : spread.map(shown).join('–'),
    ratio === null ? '' : `${ratio.toFixed(2)}×`,
    aim === null ? '' : `${aim}, ${isMet === true ? 'met' : '**missed**'}`,
  ]);
  return table(title, ' | median | quartiles | ratio | aim', rows);
}

function chartsOf({ key, figures }: Group): readonly Section[] {
  if (key === 'policy') return decisionChart(figures);
  if (key !== 'scan') return [];
  const speeds = figures.filter(({ unit }) => unit === 'MB/s');
  return [
    bars(
      'Scan of recorded traces, each ten times',
      'MB/s',
      ['MB/s'],
      speeds.map(({ name, value }) => ({ name, values: [value] })),
    ),
  ];
}

const AFTER = /^next event after ([\d,]+), (p50|p99)$/;

function decisionChart(figures: readonly Figure[]): readonly Section[] {
  const points = figures.flatMap(({ name, value }) => {
    const [, length, share] = AFTER.exec(name) ?? [];
    return length === undefined || share === undefined
      ? []
      : [{ share, point: [Number(length.replaceAll(',', '')), value] as const }];
  });
  if (points.length === 0) return [];
  const line = (name: string) => ({
    name,
    points: points.filter(({ share }) => share === name).map(({ point }) => point),
  });
  return [
    lines(
      'A decision against the length of the trace',
      'logarithmic',
      ['events before it', 'microseconds'],
      [line('p50'), line('p99')],
    ),
  ];
}

function aimOf({ name, value, unit, ratio, aim, isMet }: Figure): readonly Aim[] {
  if (aim === null || isMet === null) return [];
  const measured = ratio === null ? `${shown(value)} ${unit}`.trim() : `${ratio.toFixed(2)}×`;
  return [{ what: name, measured, aim, isMet }];
}

/** By names that stand in paths: small letters and digits. */
function resultOf(figures: readonly Figure[]): JsonObject {
  return Object.fromEntries(
    figures.map(({ name, value, summary }) => [
      name
        .toLowerCase()
        .replace(/µ/g, 'u')
        .replace(/[^a-z0-9]+/g, '-')
        .replace(/^-|-$/g, ''),
      summary ?? value,
    ]),
  );
}

function shown(value: number): string {
  return value >= 100 ? value.toLocaleString('en', { maximumFractionDigits: 0 }) : value.toPrecision(3);
}

// ── reading ─────────────────────────────────────────────────────────────────────────────────────────────────────

function rowsOf(record: JsonObject | undefined): readonly JsonObject[] {
  return listAt(record, 'rows').filter(isJsonObject);
}

function pairAt(record: JsonObject, key: string): readonly [number, number] | null {
  const [first, second] = listAt(record, key);
  return typeof first === 'number' && typeof second === 'number' ? [first, second] : null;
}
