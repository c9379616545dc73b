/**
 * Two runs side by side: which aims were met before and are not now, which figures differ, and by how much. Shares and
 * counts are what they are, so each difference is one; times spread, and what lies within the spread is called so.
 */
import { isJsonObject, type Json, type JsonObject } from '@cordon/core';
import type { RunFacts, SuiteResult } from '../result.ts';
import type { SuiteId } from '../suite.ts';
import { figureText } from './figure.ts';

export interface Comparison {
  readonly suite: SuiteId;
  /** What is not the same about the two runs, so that figures may differ for that reason. */
  readonly circumstances: readonly string[];
  readonly aims: readonly AimChange[];
  readonly figures: readonly FigureChange[];
  /** Figures that are the same in both. */
  readonly same: number;
}

export interface AimChange {
  readonly what: string;
  /** Null: the run has no such aim. */
  readonly before: string | null;
  readonly after: string | null;
  readonly verdict: 'same' | 'changed' | 'met now' | 'missed now' | 'new' | 'gone';
}

export interface FigureChange {
  /** `recorded.suites.banking.caught` */
  readonly path: string;
  readonly before: string;
  readonly after: string;
  readonly verdict: 'changed' | 'within the spread' | 'beyond the spread' | 'new' | 'gone';
  /** After as a multiple of before; null: there is none. */
  readonly ratio: number | null;
}

/** Suites that both runs have; the others are returned by name. */
export function compared(
  before: readonly SuiteResult[],
  after: readonly SuiteResult[],
): {
  readonly comparisons: readonly Comparison[];
  readonly onlyBefore: readonly SuiteId[];
  readonly onlyAfter: readonly SuiteId[];
} {
  const idsOf = (results: readonly SuiteResult[]) => results.map(({ suite }) => suite);
  const [then, now] = [idsOf(before), idsOf(after)];
  return {
    comparisons: before.flatMap((one) => {
      const other = after.find(({ suite }) => suite === one.suite);
      return other === undefined ? [] : [compareSuite(one, other)];
    }),
    onlyBefore: then.filter((id) => !now.includes(id)),
    onlyAfter: now.filter((id) => !then.includes(id)),
  };
}

function compareSuite(before: SuiteResult, after: SuiteResult): Comparison {
  const [then, now] = [figuresOf(before.figures), figuresOf(after.figures)];
  const paths = [...new Set([...then.keys(), ...now.keys()])];
  const changes = paths.flatMap((path) => figureChange(path, then.get(path), now.get(path)) ?? []);
  return {
    suite: before.suite,
    circumstances: circumstances(before.run, after.run),
    aims: aimChanges(before, after),
    figures: changes,
    same: paths.length - changes.length,
  };
}

function circumstances(before: RunFacts, after: RunFacts): readonly string[] {
  const said = ({ isSample, only, every }: RunFacts) =>
    [
      isSample ? 'a sample' : 'all units',
      ...(only === undefined ? [] : [`with \`${only}\` in their key`]),
      ...(every === undefined ? [] : [`about one in ${every}`]),
    ].join(', ');
  const machine = ({ machine: { cpu, cores, memoryGiB } }: RunFacts) =>
    `${cpu}, ${cores} cores, ${memoryGiB} GiB`;
  const data = (run: RunFacts) =>
    run.data
      .map(({ name, sha256 }) => `${name} ${sha256}`)
      .sort()
      .join('\n');
  const pairs: readonly (readonly [string, string, string])[] = [
    ['units', said(before), said(after)],
    ['model', before.model ?? 'obedient', after.model ?? 'obedient'],
    ['machine', machine(before), machine(after)],
    ['Node', before.machine.node, after.machine.node],
    ['load', String(before.machine.load), String(after.machine.load)],
    ['code', before.code, after.code],
    ['policies', before.policy, after.policy],
  ];
  const incomplete = [before, after].flatMap(({ measured, units }, index) =>
    measured < units
      ? [`${index === 0 ? 'the first' : 'the second'} is incomplete: ${measured} of ${units} units`]
      : [],
  );
  return [
    ...pairs.flatMap(([what, a, b]) => (a === b ? [] : [`${what}: ${a}, then ${b}`])),
    ...(data(before) === data(after) ? [] : ['the data are others']),
    ...incomplete,
  ];
}

function aimChanges(before: SuiteResult, after: SuiteResult): readonly AimChange[] {
  const names = [...new Set([...before.aims, ...after.aims].map(({ what }) => what))];
  return names.map((what) => {
    const [then, now] = [before, after].map(({ aims }) => aims.find((aim) => aim.what === what));
    const verdict = ((): AimChange['verdict'] => {
      if (then === undefined) return 'new';
      if (now === undefined) return 'gone';
      if (then.isMet !== now.isMet) return now.isMet ? 'met now' : 'missed now';
      return then.measured === now.measured ? 'same' : 'changed';
    })();
    return { what, before: then?.measured ?? null, after: now?.measured ?? null, verdict };
  });
}

/** A figure, or a time with its spread, as `summary` of sample.ts tells it. */
interface Figure {
  readonly value: number;
  readonly quartiles: readonly [number, number] | null;
}

function figuresOf(figures: JsonObject): ReadonlyMap<string, Figure> {
  const found = new Map<string, Figure>();
  // Figures are no deeper than what reading them allows.
  const visit = (value: Json, path: string): void => {
    if (typeof value === 'number') found.set(path, { value, quartiles: null });
    else if (isJsonObject(value)) {
      const spread = spreadOf(value);
      if (spread !== null) found.set(path, spread);
      else
        for (const [key, inner] of Object.entries(value)) visit(inner, path === '' ? key : `${path}.${key}`);
    } else if (Array.isArray(value))
      for (const [index, inner] of value.entries()) visit(inner, `${path}.${index}`);
  };
  visit(figures, '');
  return found;
}

function spreadOf({ median, quartiles }: JsonObject): Figure | null {
  if (typeof median !== 'number' || !Array.isArray(quartiles)) return null;
  const [lower, upper] = quartiles;
  if (typeof lower !== 'number' || typeof upper !== 'number') return null;
  return { value: median, quartiles: [lower, upper] };
}

/** Null: there is no difference. */
function figureChange(
  path: string,
  before: Figure | undefined,
  after: Figure | undefined,
): FigureChange | null {
  const shown = { path, before: figure(before), after: figure(after) };
  if (before === undefined) return { ...shown, verdict: 'new', ratio: null };
  if (after === undefined) return { ...shown, verdict: 'gone', ratio: null };
  if (before.value === after.value) return null;
  const ratio = before.value === 0 ? null : after.value / before.value;
  return { ...shown, verdict: verdictOf(before, after), ratio };
}

function verdictOf({ quartiles: a }: Figure, { quartiles: b }: Figure): FigureChange['verdict'] {
  if (a === null || b === null) return 'changed';
  const overlap = a[0] <= b[1] && b[0] <= a[1];
  return overlap ? 'within the spread' : 'beyond the spread';
}

function figure(one: Figure | undefined): string {
  if (one === undefined) return '';
  const { value, quartiles } = one;
  return quartiles === null
    ? figureText(value)
    : `${figureText(value)} (${quartiles.map(figureText).join('–')})`;
}
