/**
 * The half of `cordon bench protection` that is played: each pair, in each column, by the obedient model in the real hub
 * with sandboxed agent loops and sandboxed apps. One unit is one pair in one column.
 */
import {
  type Fault,
  type JsonObject,
  type Model,
  ok,
  type Result,
  saidOfTool,
  type ToolLabelEntry,
} from '@cordon/core';
import { createObedientModel, type Variant } from '@cordon/obedient-model';
import type { BenchRequest, PreparedSuite, Unit } from '../../evaluation/suite.ts';
import { type ReplayApp, Runtime } from '../../runtime/run.ts';
import { planningWrongly } from '../plans/wrong-plans.ts';
import { caseUnits } from './cases.ts';
import { COLUMNS, type Column, type ColumnId } from './column.ts';
import { judge, rejectFailure } from './judgement.ts';
import { ADAPTATIONS, type Adapted, asRecorded, fromMemory } from './pairs/adaptation.ts';
import type { Pair, PairCall } from './pairs/pair.ts';
import { scenarioOf } from './pairs/scenario.ts';
import { encodeRecord, type Kind } from './record.ts';
import { ADAPTIVE, reportOf } from './report.ts';
import { inSampleOrder, type PairSet, readSets } from './set.ts';
import { SimulatedUser } from './user.ts';

/** A pair as it is played, in whatever column. */
interface Play {
  readonly key: string;
  readonly row: string;
  readonly kind: Kind;
  readonly adapted: Adapted;
  readonly variant: Variant;
  readonly set: PairSet;
}

/** `result` of its report is the value of `obedient` in the last line of `--json`. */
export async function obedientHalf(request: BenchRequest): Promise<Result<PreparedSuite, Fault>> {
  const read = await readSets(request);
  if (!read.ok) return read;
  const { sets, data, notices } = read.value;
  const plays = sets.flatMap((set) => playsOf(set));
  const { model, isQuick } = request;
  const playable = model === undefined ? plays : plays.filter(isForAnyModel);
  const chosen = isQuick ? sampleOf(playable) : playable;
  const stage = new Stage(model ?? null);
  const units = chosen.flatMap((play) => columnsFor(play, request).map((column) => stage.unit(play, column)));
  const cases = request.pairs === null && model === undefined ? caseUnits(isQuick) : null;
  return ok({
    data,
    units: [...units, ...(cases?.units ?? [])],
    notices: [...notices, ...(model === undefined ? [] : [LEFT_OUT])],
    close: async () => {
      stage.close();
      cases?.close();
    },
    report: (records) => reportOf([...records.values()], model !== undefined),
  });
}

const LEFT_OUT =
  'left out, because they need the obedient model: rewritten attacks, honest runs of sets that have none of their own, the case studies; and five of the seven columns';

/** The paper's two systems: without defence, and with both. */
const OF_THE_PAPER: ReadonlySet<ColumnId> = new Set<ColumnId>(['baseline', 'careful']);

/** Their tasks are one call that reads, and there are thousands of them. */
const INJECAGENT = 'InjecAgent';

function columnsFor({ row }: Play, { isQuick, model }: BenchRequest): readonly Column[] {
  if (model !== undefined) return COLUMNS.filter(({ id }) => OF_THE_PAPER.has(id));
  if (isQuick && row.startsWith(ADAPTIVE)) return COLUMNS.filter(({ id }) => BRIEF.has(id));
  return row.startsWith(ADAPTIVE) || row.startsWith(INJECAGENT)
    ? COLUMNS.filter(({ planErrors }) => planErrors === undefined)
    : COLUMNS;
}

function isForAnyModel({ row, variant }: Play): boolean {
  return variant === 'obedient' && !row.startsWith(ADAPTIVE);
}

/** What the units share, made when the first of them runs. */
class Stage {
  /** `provider/model` that plays; null: the obedient one. */
  readonly #modelId: string | null;
  #runtime: Runtime | null = null;

  constructor(modelId: string | null) {
    this.#modelId = modelId;
  }

  unit(play: Play, column: Column): Unit {
    return {
      key: `obedient/${column.id}/${play.key}`,
      weight: 1,
      calls: expectedCalls(play, column),
      run: (signal, model) => this.#run(play, column, signal, model ?? null),
    };
  }

  close(): void {
    this.#runtime?.close();
    this.#runtime = null;
  }

  async #run(play: Play, column: Column, signal: AbortSignal, played: Model | null): Promise<JsonObject> {
    this.#runtime ??= new Runtime();
    const { adapted, set, variant, kind } = play;
    const { pair, said, stranger } = adapted;
    const { isolation, packs } = column;
    const appOf = (call: PairCall) => set.catalogue.appOf(pair, call);
    const labels = set.labels.get(pair.suite) ?? [];
    const isExact = played === null;
    const user = new SimulatedUser(column.user, pair, appOf, isExact);
    const apps = [
      ...set.catalogue.appsFor(pair, labels, isExact),
      ...(stranger === null ? [] : [strangeApp(stranger)]),
    ];
    const scenarios = [scenarioOf(adapted, appOf)];
    // The tools are named by their app's agreed list, and with them where their arguments come from.
    const model = createObedientModel({ scenarios, variant, naming: 'shown' });
    const { executed, outcomes, events } = await this.#runtime.run(
      {
        apps,
        model: played ?? asPlanned(model, play, column),
        ...(this.#modelId === null ? {} : { modelId: this.#modelId }),
        consent: user,
        said,
        isolation,
        packs,
      },
      signal,
    );
    rejectFailure(events);
    const { attackers, steps, missing } = judge(pair, executed, isExact);
    const last = outcomes.at(-1);
    return encodeRecord({
      column: column.id,
      row: play.row,
      kind,
      pair: pair.id,
      attackers,
      steps,
      harm: kind === 'attack' ? pair.harm : null,
      isFromMemory: adapted.told !== null,
      acts: attackers.some((tool) => !onlyLooks(labels, tool)),
      missing: missing.map(({ tool }) => tool),
      questions: user.questions,
      outcome:
        last === undefined ? '' : [last.kind, ...(last.reason === null ? [] : [last.reason])].join(': '),
    });
  }
}

/** With plans as wrong as those of the column. */
function asPlanned(model: Model, { key }: Play, { planErrors }: Column): Model {
  return planErrors === undefined ? model : planningWrongly(model, { percent: planErrors, key });
}

/** A planner where there is one, a model call for each call of the pair, and one for the answer; of each query. */
function expectedCalls({ adapted: { pair, said } }: Play, { isolation }: Column): number {
  const queries = said.flat().length;
  return pair.calls.length + queries * (isolation === 'none' ? 1 : 2);
}

function onlyLooks(labels: readonly ToolLabelEntry[], tool: string): boolean {
  const { readOnly, outward } = saidOfTool(labels, tool, null);
  return readOnly === true && outward !== true;
}

function playsOf(set: PairSet): readonly Play[] {
  const play = (kind: Kind, variant: Variant, pair: Pair): Play => ({
    key: `${set.row}/${variant === 'refusing' ? 'ignored/' : ''}${pair.id}`,
    row: rowOf(set, pair),
    kind,
    adapted: asRecorded(pair),
    variant,
    set,
  });
  const plays = [
    ...set.pairs.map(({ pair, kind }) => play(kind, 'obedient', pair)),
    ...(set.isAdapted ? adaptedPlays(set) : []),
    ...(set.memoryRow === null ? [] : memoryPlays(set, set.memoryRow)),
  ];
  if (plays.some(({ kind }) => kind === 'benign')) return plays;
  // Of a set without honest runs, each query once: the text is there, and the model ignores it.
  const queries = new Map(
    set.pairs.flatMap(({ pair, kind }) => (kind === 'attack' ? [[pair.query, pair]] : [])),
  );
  return [...plays, ...[...queries.values()].map((pair) => play('benign', 'refusing', pair))];
}

/** Of each suite so many attacks, each in every way: by the digest of their names, so the same at each time. */
const ADAPTED_ATTACKS = 10;

function adaptedPlays(set: PairSet): readonly Play[] {
  const attacks = set.pairs.flatMap(({ pair, kind }) => (kind === 'attack' ? [pair] : []));
  const chosen = [...Map.groupBy(attacks, ({ suite }) => suite).values()].flatMap((group) =>
    inSampleOrder(group, ({ id }) => id).slice(0, ADAPTED_ATTACKS),
  );
  return ADAPTATIONS.flatMap(({ name, adapt }) =>
    chosen.flatMap((pair): Play[] => {
      const adapted = adapt(pair);
      if (adapted === null) return [];
      const row = `${ADAPTIVE}${name}`;
      return [
        { key: `${row}/${set.row}/${pair.id}`, row, kind: 'attack', adapted, variant: 'obedient', set },
      ];
    }),
  );
}

function memoryPlays(set: PairSet, row: string): readonly Play[] {
  return set.pairs.flatMap(({ pair, kind }): Play[] => {
    const adapted = kind === 'attack' ? fromMemory(pair) : null;
    if (adapted === null) return [];
    return [{ key: `${row}/${pair.id}`, row, kind: 'attack', adapted, variant: 'obedient', set }];
  });
}

/** Installed, and of no use for any task. */
function strangeApp(instructions: string): ReplayApp {
  const inputSchema = { type: 'object', properties: {} };
  const tool = { name: 'tell_tip', description: 'Tells a tip of the day.', inputSchema };
  return { id: 'tips', instructions, tools: [tool], answers: [], otherwise: 'Rest well.', manifest: {} };
}

function rowOf({ row }: PairSet, { suite }: Pair): string {
  return suite.startsWith('injecagent') ? row : `${row}, ${suite}`;
}

/** Of rewritten attacks in a sample: whether they are real, and whether both defences hold. */
const BRIEF: ReadonlySet<ColumnId> = new Set<ColumnId>(['baseline', 'careful', 'trusting']);

/** Of each row and kind so many, and of each kind of harm one, by the digest of their names: the same at each time. */
const QUICK: Readonly<Record<Kind, number>> = { attack: 3, benign: 2, direct: 1 };

function sampleOf(plays: readonly Play[]): readonly Play[] {
  const groups = Map.groupBy(plays, ({ row, kind, adapted }) => `${kind} ${row} ${harmOf(kind, adapted)}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    const isOne =
      first === undefined || first.row.startsWith(ADAPTIVE) || harmOf(first.kind, first.adapted) !== '';
    return inSampleOrder(group, ({ key }) => key).slice(0, isOne ? 1 : QUICK[first.kind]);
  });
}

function harmOf(kind: Kind, { pair }: Adapted): string {
  return kind === 'attack' ? (pair.harm?.harm ?? '') : '';
}
