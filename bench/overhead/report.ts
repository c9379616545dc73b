/**
 * What all measured queries say together: the distribution of the overhead (figure 9 of the paper), where the time went
 * (its table IV), tokens and money by the number of installed apps.
 */
import { isJsonObject, type Json, type JsonObject } from '@cordon/core';
import { asPercent, countAt, lines, meanOf, table } from '../evaluation/report-parts.ts';
import type { Section, SuiteReport } from '../evaluation/suite.ts';
import { LATENCY, PRICE } from './latency.ts';
import { MEASURES, type Measure, type Phase, type Query } from './measure.ts';
import { COST, PERCENTILES, TABLE_IV } from './published.ts';
import { timeByApps } from './table-four.ts';

/** Of the tool `need` as a model is shown it, for one tool of a short name; a test counts them. */
export const NEED_TOKENS = 110;

const PHASES: readonly Phase[] = ['cold', 'warm'];

/** Of the ratio of times. */
interface Distribution {
  readonly queries: number;
  readonly under10: number;
  readonly under30: number;
  readonly p50: number;
  readonly p75: number;
  readonly p90: number;
  readonly p95: number;
  /** All time isolated, of all time in the shared context. */
  readonly mean: number;
}

const SEVERAL: ReadonlySet<string> = new Set(['typewriter, 26 apps', 'relational data']);

/** @param model of a provider that played, `provider/model`; null: the obedient one behind the simulated provider */
export function reportOf(records: ReadonlyMap<string, JsonObject>, model: string | null): SuiteReport {
  const queries = [...records.values()].flatMap(queriesOf);
  const warm = queries.filter(({ phase }) => phase === 'warm');
  const all = distribution(queries);
  const several = distribution(queries.filter(({ set }) => SEVERAL.has(set)));
  const sizes = [...new Set(queries.map(({ installed }) => installed))].sort((a, b) => a - b);
  const costs = new Map(
    sizes.map((size) => [size, costRatio(queries.filter((one) => one.installed === size))]),
  );
  const isMeasured = queries.length > 0;
  const costAt = (size: number) => costs.get(size) ?? null;
  return {
    result: {
      latency: model === null ? { ...LATENCY } : null,
      price: { ...PRICE },
      all: { ...all },
      cold: { ...distribution(queries.filter(({ phase }) => phase === 'cold')) },
      warm: { ...distribution(warm) },
      several: { ...several },
      cost: Object.fromEntries([...costs].map(([size, ratio]): [string, Json] => [String(size), ratio])),
    },
    aims: [
      {
        what: 'queries whose time is less than 1.10 times that of the shared context',
        measured: asPercent(all.under10),
        aim: '95 %',
        isMet: isMeasured && all.under10 >= 0.95,
      },
      {
        what: 'time of queries that need several apps, of that in the shared context',
        measured: times(several.mean),
        aim: '< 1.15×',
        isMet: several.queries > 0 && several.mean < 1.15,
      },
      {
        what: 'cost with 3 installed apps, of that of the shared context',
        measured: times(costAt(3) ?? 0),
        aim: '≤ 1.15×',
        isMet: costAt(3) !== null && (costAt(3) ?? 2) <= 1.15,
      },
      ...[10, 30].map((size) => ({
        what: `cost with ${size} installed apps, of that of the shared context`,
        measured: costAt(size) === null ? 'not measured' : times(costAt(size) ?? 0),
        aim: '< 1×',
        isMet: (costAt(size) ?? 2) < 1,
      })),
    ],
    sections: isMeasured ? sections(queries, sizes, costs, model) : [],
  };
}

function sections(
  queries: readonly Query[],
  sizes: readonly number[],
  costs: ReadonlyMap<number, number>,
  model: string | null,
): readonly Section[] {
  return [
    { kind: 'text', title: null, text: methodOf(model) },
    table(
      'Time, of that in the shared context',
      'queries | number | < 1.10× | < 1.30× | median | 75 % | 90 % | 95 % | mean',
      [
        ...groups(queries, sizes).map(([name, ones]) => distributionRow(name, distribution(ones))),
        [
          'IsolateGPT (all, cold)',
          '103',
          '',
          asPercent(PERCENTILES.under30),
          '',
          '',
          times(PERCENTILES.p90),
          times(PERCENTILES.p95),
          '',
        ],
      ],
      'IsolateGPT: wall times of GPT-4 over the network, a Python prototype; only ratios can be set beside ours, and theirs hold the chance of a real model.',
    ),
    lines(
      'Overhead: share of the queries that take at most so many times as long (figure 9)',
      'linear',
      ['time, of that in the shared context', 'share of queries'],
      PHASES.flatMap((phase) =>
        sizes.map((size) => ({
          name: `${size} apps, ${phase}`,
          points: cumulative(queries.filter((one) => one.phase === phase && one.installed === size)),
        })),
      ).filter(({ points }) => points.length > 0),
    ),
    table(
      'Where the time goes, cold and warm',
      'set | start | shared: total | isolated: total | ratio | model | waiting for the plan | tools | starts | hub and rest',
      breakdown(queries),
      'Means in milliseconds, over all numbers of installed apps. What goes on beside a model call of the answering context is in none of the other columns.',
    ),
    timeByApps(queries),
    table(
      'IsolateGPT, table IV',
      'queries | number | VanillaGPT, s | IsolateGPT, s | ratio',
      TABLE_IV.map(({ what, queries: number, vanilla, isolated }) => [
        what,
        String(number),
        vanilla.toFixed(1),
        isolated.toFixed(1),
        times(isolated / vanilla),
      ]),
      'Seconds are of another model, so only the ratios compare. Their planner is a model call before every query, and their spokes are told of all functionalities in every call.',
    ),
    table(
      'Model calls, tokens and cost',
      'installed apps | calls: shared | isolated | tokens in: shared | isolated | tokens out: shared | isolated | in and out for facts | calls with `need` | cost | IsolateGPT',
      sizes.map((size) => {
        const ones = queries.filter((one) => one.installed === size);
        const mean = (column: 'baseline' | 'isolated', of: (measure: Measure) => number) =>
          meanOf(ones.map((one) => of(one[column])));
        const pair = (of: (measure: Measure) => number, digits: number) => [
          mean('baseline', of).toFixed(digits),
          mean('isolated', of).toFixed(digits),
        ];
        return [
          String(size),
          ...pair(({ modelCalls }) => modelCalls, 2),
          ...pair(({ inputTokens }) => inputTokens, 0),
          ...pair(({ outputTokens }) => outputTokens, 0),
          mean('isolated', ({ factTokens }) => factTokens).toFixed(0),
          mean('isolated', ({ needCalls }) => needCalls).toFixed(2),
          times(costs.get(size) ?? 0),
          times(COST),
        ];
      }),
      `Means of a query. ${factsNote(queries)} Prices: ${PRICE.input} and ${PRICE.output} dollars a million tokens in and out (GPT-4o); discounts for cached prompts are left out, they would make the shared context cheaper where it is long.`,
    ),
  ];
}

/** What nobody waits for who reads the answer; the next query does. */
function factsNote(queries: readonly Query[]): string {
  const learning = meanOf(queries.map(({ isolated }) => isolated.learning));
  return `The call for facts begins behind the answer and takes ${learning.toFixed(0)} ms; it is in no time above, and a query that is asked within it waits for its end. \`need\` is ${NEED_TOKENS} tokens in each call that has it, for one tool of a short name.`;
}

function methodOf(model: string | null): string {
  const who =
    model === null
      ? 'The obedient model answers over HTTP, from its own process, after ' +
        `${LATENCY.base} ms + ${LATENCY.input} ms a token in + ${LATENCY.output} ms a token out, really waited for; tokens are counted by o200k_base. `
      : `\`${model}\` answers, as fast as its provider does, with the tokens that it reports; what nobody waited for is not counted. `;
  return who + METHOD;
}

const METHOD =
  'Each conversation is two queries: before the first nothing is started (cold), at the second app and agent loop run (warm) and both columns have the first in their history. ' +
  'The clock of the shared context starts with its first model call, so that no start counts against it. Whatever is asked is granted, as in the paper.';

function groups(
  queries: readonly Query[],
  sizes: readonly number[],
): readonly (readonly [string, readonly Query[]])[] {
  return [
    ['all', queries] as const,
    ...PHASES.map((phase) => [phase, queries.filter((one) => one.phase === phase)] as const),
    ...sizes.map(
      (size) => [`${size} apps installed`, queries.filter((one) => one.installed === size)] as const,
    ),
    ...[...new Set(queries.map(({ set }) => set))].map(
      (set) => [set, queries.filter((one) => one.set === set)] as const,
    ),
    ['several apps needed', queries.filter(({ set }) => SEVERAL.has(set))] as const,
  ];
}

function distributionRow(name: string, of: Distribution): readonly string[] {
  const { queries, under10, under30, p50, p75, p90, p95, mean } = of;
  return [
    name,
    String(queries),
    asPercent(under10),
    asPercent(under30),
    ...[p50, p75, p90, p95, mean].map(times),
  ];
}

function breakdown(queries: readonly Query[]): readonly (readonly string[])[] {
  const sets = [...new Set(queries.map(({ set }) => set))];
  return sets.flatMap((set) =>
    PHASES.map((phase) => {
      const ones = queries.filter((one) => one.set === set && one.phase === phase);
      const isolated = (of: (measure: Measure) => number) => meanOf(ones.map((one) => of(one.isolated)));
      const shared = meanOf(ones.map(({ baseline }) => baseline.total));
      const total = isolated((measure) => measure.total);
      const parts = (['model', 'planning', 'tools', 'starts', 'rest'] as const).map((part) =>
        isolated((measure) => measure[part]),
      );
      return [
        set,
        phase,
        shared.toFixed(0),
        total.toFixed(0),
        times(total / shared),
        ...parts.map((part) => part.toFixed(0)),
      ];
    }),
  );
}

function distribution(queries: readonly Query[]): Distribution {
  const ratios = queries.map(ratio).sort((a, b) => a - b);
  const under = (limit: number) =>
    ratios.length === 0 ? 0 : ratios.filter((one) => one < limit).length / ratios.length;
  const at = (share: number) => ratios[Math.ceil(share * ratios.length) - 1] ?? 0;
  const sum = (column: 'baseline' | 'isolated') => queries.reduce((all, one) => all + one[column].total, 0);
  return {
    queries: ratios.length,
    under10: under(1.1),
    under30: under(1.3),
    p50: at(0.5),
    p75: at(0.75),
    p90: at(0.9),
    p95: at(0.95),
    mean: queries.length === 0 ? 0 : sum('isolated') / sum('baseline'),
  };
}

function ratio({ baseline, isolated }: Query): number {
  return isolated.total / baseline.total;
}

function cumulative(queries: readonly Query[]): readonly (readonly [number, number])[] {
  return queries
    .map(ratio)
    .sort((a, b) => a - b)
    .map((value, index): [number, number] => [value, (index + 1) / queries.length]);
}

function costRatio(queries: readonly Query[]): number {
  const sum = (column: 'baseline' | 'isolated') => queries.reduce((all, one) => all + one[column].dollars, 0);
  return sum('isolated') / sum('baseline');
}

function queriesOf(record: JsonObject): readonly Query[] {
  const { set, installed, baseline, isolated } = record;
  return PHASES.flatMap((phase) => {
    const [shared, apart] = [measureIn(baseline, phase), measureIn(isolated, phase)];
    if (shared === null || apart === null) return [];
    return [{ set: String(set), installed: Number(installed), phase, baseline: shared, isolated: apart }];
  });
}

function measureIn(column: Json | undefined, phase: Phase): Measure | null {
  const found = isJsonObject(column) ? column[phase] : undefined;
  if (!isJsonObject(found)) return null;
  return Object.fromEntries(MEASURES.map((key) => [key, countAt(found, key)])) as Record<
    keyof Measure,
    number
  >;
}

function times(ratio: number): string {
  return `${ratio.toFixed(2)}×`;
}
