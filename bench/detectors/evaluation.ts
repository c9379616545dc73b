/**
 * `cordon bench detectors`: how much detectors find, how much of it is right, and how fast, beside packages of others
 * where they are installed (`peers.ts`). A unit is a detector's labelled texts, read by one of them.
 */
import { type Fault, isJsonObject, type Json, type JsonObject, ok, type Result } from '@cordon/core';
import { dataFile } from '../data.ts';
import { asPercent, bars, NONE, numberAt, table } from '../evaluation/report-parts.ts';
import type {
  Aim,
  BenchRequest,
  Suite as BenchSuite,
  DataFile,
  PreparedSuite,
  Section,
  SuiteReport,
  Unit,
} from '../evaluation/suite.ts';
import { labelledFile } from './labelled.ts';
import type { Measured } from './measurement.ts';
import type { Score } from './score.ts';
import type { Find, Row, Suite } from './suite.ts';

export const detectorsSuite: BenchSuite = {
  id: 'detectors',
  question: 'How much do detectors find, how much of it is right, and how fast?',
  // Speed is measured.
  jobs: 1,
  takes: [],
  prepare,
};

const OURS = 'Cordon';

async function prepare({ isQuick }: BenchRequest): Promise<Result<PreparedSuite, Fault>> {
  const [{ SUITES }, { measured, SHORT, WHOLE }] = await Promise.all([
    import('./suites.ts'),
    import('./measurement.ts'),
  ]);
  const data: DataFile[] = [];
  const units: Unit[] = [];
  const missing: string[] = [];
  const add = (suite: Suite, by: string, find: Find, rows: readonly Row[]): void => {
    units.push({
      key: `${suite.detector}/${by}`,
      weight: by === OURS ? 2 : 5,
      run: async (signal) => recordOf(by, await measured(suite, find, rows, isQuick ? SHORT : WHOLE, signal)),
    });
  };
  for (const suite of SUITES) {
    data.push(await dataFile(labelledFile(suite.detector), `texts/${suite.detector}`));
    add(suite, OURS, suite.find, suite.rows);
    // Some packages of others take seconds for what takes ours a millisecond.
    for (const peer of isQuick ? [] : suite.peers) {
      const find = await peer.load();
      if (find === null) missing.push(peer.name);
      else
        add(
          suite,
          peer.name,
          find,
          suite.rows.filter(({ name }) => peer.rows?.includes(name) ?? true),
        );
    }
  }
  const notices = [
    ...(isQuick ? ['packages of others are left out, and speeds are taken from short rounds'] : []),
    ...(missing.length > 0
      ? [`not installed, see bench/detectors/peers.ts: ${[...new Set(missing)].sort().join(', ')}`]
      : []),
  ];
  return ok({ data, units, notices, close: async () => {}, report: (records) => reportOf(SUITES, records) });
}

// ── records ─────────────────────────────────────────────────────────────────────────────────────────────────────

function recordOf(by: string, rows: readonly Measured[]): JsonObject {
  return {
    by,
    rows: rows.map(({ row, tuning, heldOut, speed }) => ({
      row: row.name,
      tuning: shares(tuning),
      heldOut: shares(heldOut),
      speed: { ordinary: speed.ordinary, dense: speed.dense },
    })),
  };
}

/** What is a share of nothing is null. */
function shares({ recall, precision, exact, labels }: Score): JsonObject {
  const known = (share: number) => (Number.isFinite(share) ? share : null);
  return { found: known(recall), right: known(precision), exact: known(exact), labels };
}

interface Line {
  readonly suite: Suite;
  readonly row: Row;
  readonly by: string;
  readonly tuning: JsonObject;
  readonly heldOut: JsonObject;
  readonly speed: JsonObject;
}

/** In the order of the suites, ours first. */
function linesOf(suites: readonly Suite[], records: ReadonlyMap<string, JsonObject>): readonly Line[] {
  return suites.flatMap((suite) =>
    [...records]
      .filter(([key]) => key.startsWith(`${suite.detector}/`))
      .flatMap(([, { by, rows }]) =>
        (Array.isArray(rows) ? rows : []).flatMap((one: Json): readonly Line[] => {
          const row = isJsonObject(one) ? suite.rows.find(({ name }) => name === one.row) : undefined;
          if (!isJsonObject(one) || row === undefined || typeof by !== 'string') return [];
          const { tuning, heldOut, speed } = one;
          if (!isJsonObject(tuning) || !isJsonObject(heldOut) || !isJsonObject(speed)) return [];
          return [{ suite, row, by, tuning, heldOut, speed }];
        }),
      ),
  );
}

// ── what is told ────────────────────────────────────────────────────────────────────────────────────────────────

function reportOf(suites: readonly Suite[], records: ReadonlyMap<string, JsonObject>): SuiteReport {
  const lines = linesOf(suites, records);
  const ours = lines.filter(({ by }) => by === OURS);
  return {
    result: {
      detectors: Object.fromEntries(suites.map(({ detector }) => [detector, figuresOf(lines, detector)])),
    },
    aims: [...ours.flatMap(qualityAim), ...suites.flatMap((suite) => speedAim(suite, ours))],
    sections: [detectorTable(lines), detectorBars(ours)],
  };
}

function figuresOf(lines: readonly Line[], detector: string): JsonObject {
  const own = lines.filter(({ suite }) => suite.detector === detector);
  return Object.fromEntries(
    [...Map.groupBy(own, ({ by }) => by)].map(([by, rows]) => [
      by,
      Object.fromEntries(
        rows.map(({ row, tuning, heldOut, speed }) => [row.name, { ...tuning, heldOut, speed }]),
      ),
    ]),
  );
}

/** On the texts that are held out. */
function qualityAim({ suite, row: { name, aim }, heldOut }: Line): readonly Aim[] {
  if (aim === null) return [];
  const [found, right] = [numberAt(heldOut, 'found'), numberAt(heldOut, 'right')];
  const isMet = found >= aim.recall && right >= aim.precision;
  return [
    {
      what: `\`${suite.detector}\`, ${name}: found, right`,
      measured: `${asPercent(found)}, ${asPercent(right)}`,
      aim: `≥ ${asPercent(aim.recall)}, ${asPercent(aim.precision)}`,
      isMet,
    },
  ];
}

function speedAim({ detector, speedAim }: Suite, ours: readonly Line[]): readonly Aim[] {
  const line = ours.find(({ suite }) => suite.detector === detector);
  if (speedAim === null || line === undefined) return [];
  const ordinary = numberAt(line.speed, 'ordinary');
  return [
    {
      what: `\`${detector}\`: speed on ordinary text`,
      measured: `${megabytes(ordinary)} MB/s`,
      aim: `≥ ${speedAim} MB/s`,
      isMet: ordinary >= speedAim * 1e6,
    },
  ];
}

function detectorTable(lines: readonly Line[]): Section {
  return table(
    'Detectors on labelled texts',
    'detector | what | by | found | right | exact | found, held out | right, held out | MB/s | MB/s, dense',
    lines.map(({ suite, row, by, tuning, heldOut, speed }) => [
      `\`${suite.detector}\``,
      row.name,
      by,
      ...['found', 'right', 'exact'].map((key) => asPercent(numberAt(tuning, key))),
      ...['found', 'right'].map((key) => asPercent(numberAt(heldOut, key))),
      ...['ordinary', 'dense'].map((key) => megabytes(numberAt(speed, key))),
    ]),
  );
}

function detectorBars(ours: readonly Line[]): Section {
  return bars(
    'Detectors on texts that are held out',
    '%',
    ['found', 'right'],
    ours.map(({ suite, row, heldOut }) => ({
      name: `${suite.detector}, ${row.name}`,
      values: [100 * numberAt(heldOut, 'found'), 100 * numberAt(heldOut, 'right')],
    })),
  );
}

function megabytes(bytes: number): string {
  if (Number.isNaN(bytes)) return NONE;
  const value = bytes / 1e6;
  return value >= 100 ? value.toFixed(0) : value.toPrecision(2);
}
