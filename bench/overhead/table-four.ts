/**
 * IsolateGPT's table IV: where the time of a query goes, by the number of apps that it used, and which part of the extra
 * time is the hub's and the spokes' (section VII-B). As in the paper, of queries before which nothing is started.
 */
import { meanOf, table } from '../evaluation/report-parts.ts';
import type { Section } from '../evaluation/suite.ts';
import type { Measure, Query } from './measure.ts';

/** At most so many apps; the last group has no end. */
const GROUPS: readonly (readonly [name: string, most: number])[] = [
  ['0', 0],
  ['1', 1],
  ['2', 2],
  ['3–5', 5],
  ['6–13', 13],
  ['more', Number.POSITIVE_INFINITY],
];

type Timed = Pick<
  Measure,
  'total' | 'planning' | 'model' | 'tools' | 'starts' | 'hubMemory' | 'spokeMemory' | 'rest'
>;

export function timeByApps(queries: readonly Query[]): Section {
  const cold = queries.filter(({ phase }) => phase === 'cold');
  const sets = [...new Set(cold.map(({ set }) => set))];
  return table(
    'Where the time goes, by the number of apps used (table IV)',
    'set | apps used | queries | shared: planning | execution | memory | total | hub: planning | memory | spoke: planning | execution | memory | starts | rest | isolated: total | extra: hub | spoke | starts and rest',
    sets.flatMap((set) =>
      GROUPS.flatMap(([name], at) => {
        const ones = cold.filter((one) => one.set === set && groupOf(one.isolated.apps) === at);
        return ones.length === 0 ? [] : [[set, name, String(ones.length), ...rowOf(ones)]];
      }),
    ),
    'Means in milliseconds of queries before which nothing is started, over all numbers of installed apps. Planning: model calls; the hub’s are the planner’s that something waited for. Memory: nothing else went on meanwhile; the hub keeps that of the spokes. ' +
      'Extra: shares of the time that isolation takes more, in percent; a part that takes less has a share below 0; none where isolation takes no more.',
  );
}

function groupOf(apps: number): number {
  return GROUPS.findIndex(([, most]) => apps <= most);
}

function rowOf(queries: readonly Query[]): readonly string[] {
  const shared = meanMeasure(queries.map(({ baseline }) => baseline));
  const isolated = meanMeasure(queries.map((one) => one.isolated));
  const extra = isolated.total - shared.total;
  const share = (more: number) => (extra <= 0 ? '–' : ((100 * more) / extra).toFixed(1));
  const spoke = ({ model, tools, spokeMemory }: Timed) => model + tools + spokeMemory;
  const hub = ({ planning, hubMemory }: Timed) => planning + hubMemory;
  const other = ({ starts, rest }: Timed) => starts + rest;
  const more = (of: (one: Timed) => number) => share(of(isolated) - of(shared));
  return [
    ...[
      shared.model + shared.planning,
      shared.tools,
      shared.hubMemory + shared.spokeMemory,
      shared.total,
    ].map(shown),
    ...[isolated.planning, isolated.hubMemory, isolated.model, isolated.tools, isolated.spokeMemory].map(
      shown,
    ),
    ...[isolated.starts, isolated.rest, isolated.total].map(shown),
    more(hub),
    more(spoke),
    more(other),
  ];
}

function meanMeasure(measures: readonly Measure[]): Timed {
  const mean = (key: keyof Timed) => meanOf(measures.map((one) => one[key]));
  return {
    total: mean('total'),
    planning: mean('planning'),
    model: mean('model'),
    tools: mean('tools'),
    starts: mean('starts'),
    hubMemory: mean('hubMemory'),
    spokeMemory: mean('spokeMemory'),
    rest: mean('rest'),
  };
}

function shown(milliseconds: number): string {
  return milliseconds.toFixed(1);
}
