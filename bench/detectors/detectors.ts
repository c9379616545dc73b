/**
 * `npm run bench:detectors`: how much detectors find, how much of it is right, and how fast, beside what others offer.
 *
 *     --only NAME     one detector
 *     --ours          without the packages of others
 *     --mistakes      what was missed and what was wrong, on the texts that are not held out
 *     --json          for programs
 *
 * Ends with 1 if an aim is missed.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { thisMachine } from '../machine.ts';
import { type Labelled, type LabelledSet, readLabelled } from './labelled.ts';
import { type Judged, type Mistake, type Score, scoreOfRanges, scoreOfTexts } from './score.ts';
import type { Find, Row, Suite } from './suite.ts';
import { SUITES } from './suites.ts';

interface Line {
  readonly detector: string;
  readonly row: string;
  readonly by: string;
  readonly isOurs: boolean;
  readonly tuning: Score;
  readonly heldOut: Score;
  /** Bytes a second on ordinary text, and on the labelled texts. */
  readonly speed: { readonly ordinary: number; readonly dense: number };
  readonly missedAim: string | null;
}

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    ours: { type: 'boolean', default: false },
    mistakes: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});

async function run(): Promise<void> {
  const suites = SUITES.filter(({ detector }) => values.only === undefined || values.only === detector);
  const machine = thisMachine();
  const lines: Line[] = [];
  for (const suite of suites) lines.push(...(await measured(suite)));
  if (values.json) console.log(JSON.stringify({ machine, lines: lines.map(told) }, null, 2));
  else print(lines);
  const missed = lines.flatMap(({ missedAim }) => missedAim ?? []);
  for (const aim of missed) console.error(`aim missed: ${aim}`);
  if (missed.length > 0) process.exitCode = 1;
}

async function measured(suite: Suite): Promise<readonly Line[]> {
  const set = readLabelled(suite.detector);
  const lines = [...(await linesOf(suite, set, 'Cordon', suite.find, suite.rows))];
  for (const peer of values.ours ? [] : suite.peers) {
    const find = await peer.load();
    if (find === null) console.error(`${peer.name} is not installed: see bench/detectors/peers.ts`);
    else {
      const rows = suite.rows.filter(({ name }) => peer.rows?.includes(name) ?? true);
      lines.push(...(await linesOf(suite, set, peer.name, find, rows)));
    }
  }
  return lines;
}

async function linesOf(
  suite: Suite,
  set: LabelledSet,
  by: string,
  find: Find,
  rows: readonly Row[],
): Promise<readonly Line[]> {
  const isOurs = by === 'Cordon';
  const tuning = await judged(set.tuning, find);
  const heldOut = await judged(set.heldOut, find);
  const speed = await speeds(set, find);
  return rows.map((row) => {
    const scores = { tuning: scored(suite, row, tuning), heldOut: scored(suite, row, heldOut) };
    if (values.mistakes && isOurs) tellMistakes(suite, row, scores.tuning);
    const missedAim = isOurs ? missedAimOf(suite, row, scores.heldOut, speed.ordinary) : null;
    return { detector: suite.detector, row: row.name, by, isOurs, ...scores, speed, missedAim };
  });
}

async function judged(texts: readonly Labelled[], find: Find): Promise<readonly Judged[]> {
  const all: Judged[] = [];
  for (const labelled of texts) all.push({ labelled, found: await find(labelled.text) });
  return all;
}

function scored(suite: Suite, row: Row, all: readonly Judged[]): Score {
  if (suite.judged === 'texts') return scoreOfTexts(all);
  return scoreOfRanges(all, row.kinds === null ? null : new Set(row.kinds));
}

function missedAimOf(suite: Suite, row: Row, { recall, precision }: Score, speed: number): string | null {
  const { aim } = row;
  const isSlow = suite.speedAim !== null && speed < suite.speedAim * 1e6;
  if (isSlow) return `${suite.detector}: ${suite.speedAim} MB/s`;
  const isMet = aim === null || (recall >= aim.recall && precision >= aim.precision);
  return isMet
    ? null
    : `${suite.detector}, ${row.name}: ${percent(aim.recall)} of them, ${percent(aim.precision)} right`;
}

// ── speed ───────────────────────────────────────────────────────────────────────────────────────────────────────

/** Rounds last so long at least; a subject that is slow has one. */
const ROUND_MS = 300;
const ROUNDS = 5;
/** A slow subject is given less. */
const SIZES = [1_000_000, 32_000];

async function speeds(set: LabelledSet, find: Find): Promise<Line['speed']> {
  const dense = set.tuning.map(({ text }) => text).join('\n\n');
  return { ordinary: await bestSpeed(ordinaryText(), find), dense: await bestSpeed(dense, find) };
}

/** Bytes a second of processor time, the best of some rounds: other work makes rounds slow and never fast. */
async function bestSpeed(sample: string, find: Find): Promise<number> {
  const small = cut(sample, SIZES[1] ?? 0);
  const first = await processorTime(small, find, 1);
  const isSlow = first > ROUND_MS;
  const text = isSlow ? small : cut(sample, SIZES[0] ?? 0);
  const once = isSlow ? first : await processorTime(text, find, 1);
  const runs = Math.max(1, Math.round(ROUND_MS / once));
  let best = once;
  for (let round = 0; round < (isSlow ? 0 : ROUNDS); round++)
    best = Math.min(best, (await processorTime(text, find, runs)) / runs);
  return (Buffer.byteLength(text) / best) * 1000;
}

/** Milliseconds. */
async function processorTime(text: string, find: Find, runs: number): Promise<number> {
  const before = process.cpuUsage();
  for (let run = 0; run < runs; run++) await find(text);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function cut(sample: string, size: number): string {
  return sample.repeat(Math.ceil(size / sample.length)).slice(0, size);
}

/** What was written for readers, and holds next to nothing to be found: this repository's documentation. */
function ordinaryText(): string {
  const folder = join(import.meta.dirname, '../../docs');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.md'),
  );
  return files
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n');
}

// ── what is told ────────────────────────────────────────────────────────────────────────────────────────────────

function print(lines: readonly Line[]): void {
  console.log(
    '| detector | what | by | found | right | exact | found, held out | right, held out | MB/s | MB/s, dense |',
  );
  console.log('|---|---|---|--:|--:|--:|--:|--:|--:|--:|');
  for (const { detector, row, by, isOurs, tuning, heldOut, speed } of lines) {
    const cells = [
      detector,
      row,
      isOurs ? '**Cordon**' : by,
      ...[tuning.recall, tuning.precision, tuning.exact, heldOut.recall, heldOut.precision].map(percent),
      ...[speed.ordinary, speed.dense].map((bytes) => (bytes / 1e6).toPrecision(2)),
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
}

function told({ tuning, heldOut, ...line }: Line): object {
  const figures = ({ recall, precision, exact, labels }: Score) => ({ recall, precision, exact, labels });
  return { ...line, tuning: figures(tuning), heldOut: figures(heldOut) };
}

function percent(share: number): string {
  return Number.isNaN(share) ? '–' : `${(share * 100).toFixed(1)} %`;
}

function tellMistakes(suite: Suite, row: Row, { missed, wrong }: Score): void {
  for (const [what, mistakes] of [
    ['missed', missed],
    ['wrong', wrong],
  ] as const)
    for (const { label, labelled } of mistakes.map(shown))
      console.error(
        `${suite.detector}, ${row.name}, ${what}: ${label.kind} ${JSON.stringify(labelled.text)} (${labelled.note})`,
      );
}

/** The text around a mistake, the mistake between markers. */
function shown({ label, labelled }: Mistake): Mistake {
  const { text } = labelled;
  const [before, it, behind] = [
    text.slice(Math.max(0, label.start - 40), label.start),
    text.slice(label.start, label.end),
    text.slice(label.end, label.end + 40),
  ];
  return { label, labelled: { ...labelled, text: `${before}⟦${it}⟧${behind}` } };
}

await run();
