/**
 * The recorded half of the protection suite: how many recorded attacks the rules catch, and how many good runs they
 * disturb. An attack is caught if a rule denies or asks at or before its last call; a good run is disturbed if any rule
 * denies or asks anywhere in it. Warnings count for neither; what a rule cannot decide counts for both, because the
 * monitor denies it. See docs/policy/packs.md.
 */

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { setImmediate as breath } from 'node:timers/promises';
import { readLabelFile } from '@cordon/config/labels';
import { BASE_PACK, DEFAULT_PACKS, PACKS } from '@cordon/config/packs';
import { type Fault, failed, fault, type JsonObject, ok, type Result } from '@cordon/core';
import { TraceLabels } from '@cordon/policy-tools';
import { packFile } from '@cordon/runtime/policies';
import { DATA_FOLDER, dataFile } from '../data.ts';
import type { BenchRequest, DataFile, PreparedSuite, Unit } from '../evaluation/suite.ts';
import { FRAMES } from './frames.ts';
import { Judge, type Saying } from './judge.ts';
import { IS_LINE_FILE, type Line, linesOf } from './line-file.ts';
import { type PlanVariant, variantsOf } from './plans/plan-errors.ts';
import { readPlans, readScriptedPlans } from './plans/plan-file.ts';
import { planOf, type ScriptedPlan, type ScriptedPlans } from './plans/scripted-plans.ts';
import { BARS } from './published-bars.ts';
import { ASKING_PACK, DETECTOR_PACK, reportRecorded } from './recorded-report.ts';
import { type RecordedTrace, recordedTrace } from './recorded-trace.ts';
import { rewordable } from './rewording.ts';

/** Those of the repository. */
export const TRACES = join(DATA_FOLDER, 'traces', 'agentdojo');
/** The tasks of those traces. */
const OWN_SUITES = join(DATA_FOLDER, 'scripted', 'agentdojo', 'suites.json.br');
/** Honest runs of another benchmark, by which no rule was tuned. */
const HONEST_TRACES = join(DATA_FOLDER, 'scripted', 'tau-bench');
const LABELS = join(import.meta.dirname, 'labels');
const BAR_FOLDER = join(import.meta.dirname, 'bars');
/** Of the traces, in a sample: there are fewer good runs, and fewer of them are disturbed. Of its attacks these are reworded. */
const SAMPLED = { attack: 1 / 8, good: 1 / 2, reworded: 1 / 8 };
/** Traces that are judged before anything else in this process may run. */
const IN_A_ROW = 8;
/** Lines that are no trace, kept with their reason; the others are only counted. */
const MOST_TOLD = 20;

/** A file of traces. */
export interface TraceFile {
  readonly path: string;
  /** Below the folder, without the ending: the model whose runs they are. */
  readonly name: string;
}

/** The data are those of the repository unless `--traces` names others; for those, tools are labelled by `--labels` alone. */
export async function recordedHalf(request: BenchRequest): Promise<Result<PreparedSuite, Fault>> {
  const files = request.traces === null ? ownFiles() : traceFiles(request.traces);
  if (!files.ok) return files;
  const labels = LabelSource.of(request);
  if (!labels.ok) return labels;
  const judge = Judge.of([...[BASE_PACK, ...PACKS].map(({ name }) => packFile(name)), ...barFiles()]);
  if (!judge.ok) return judge;
  const usual = [BASE_PACK.name, ...DEFAULT_PACKS];
  const reworded = Judge.of([...usual, ASKING_PACK].map(packFile));
  if (!reworded.ok) return reworded;
  const planned = Judge.of(usual.filter((name) => name !== DETECTOR_PACK).map(packFile));
  if (!planned.ok) return planned;
  const plans = plansFor(request);
  if (!plans.ok) return plans;
  const judges: Judges = { recorded: judge.value, reworded: reworded.value, planned: planned.value };
  const data: DataFile[] = [];
  try {
    for (const { path, name } of files.value) data.push(await dataFile(path, `traces/${name}`));
    if (request.plans !== undefined) data.push(await dataFile(request.plans, 'plans'));
    else if (request.traces === null) data.push(await dataFile(OWN_SUITES, 'scripted/agentdojo/suites.json'));
    for (const path of labels.value.files) data.push(await dataFile(path, `labels/${basename(path)}`));
  } catch (error) {
    return failed(fault('usage', `the traces cannot be read: ${messageOf(error)}`));
  }
  const units = files.value.map((file) =>
    unitOf(file, {
      judges,
      labels: labels.value,
      variants: variantsOf(plans.value),
      isQuick: request.isQuick,
    }),
  );
  return ok({
    data,
    units,
    notices: labels.value.notices,
    close: async () => {},
    report: (records) => reportRecorded(records),
  });
}

/** Of attacks in other words only the default set and the pack `injection-asks` are asked; with a plan, and without the detector, the default set but for its pack. */
interface Judges {
  readonly recorded: Judge;
  readonly reworded: Judge;
  readonly planned: Judge;
}

/** What traces are judged with. */
interface Judging {
  readonly judges: Judges;
  readonly labels: LabelSource;
  readonly variants: readonly PlanVariant[];
  readonly isQuick: boolean;
}

function unitOf(file: TraceFile, judging: Judging): Unit {
  return {
    key: `recorded/${file.name}`,
    weight: statSync(file.path).size / 100_000,
    run: (signal) => judgeFile(file, judging, signal),
  };
}

/** Those that are named; of the repository's traces those of their tasks. */
function plansFor({ plans, traces }: BenchRequest): Result<ScriptedPlans, Fault> {
  if (plans !== undefined) return readPlans(plans);
  return traces === null ? readScriptedPlans(OWN_SUITES) : ok(new Map());
}

/** The record of a file: what was said about each trace that counts, and how many do not. */
async function judgeFile(
  { path, name }: TraceFile,
  judging: Judging,
  signal: AbortSignal,
): Promise<JsonObject> {
  const { judges, labels, isQuick } = judging;
  const judged: JsonObject[] = [];
  const broken: JsonObject[] = [];
  let [brokenCount, uncounted, row] = [0, 0, 0];
  const tell = ({ number }: Line, why: string): void => {
    brokenCount += 1;
    if (broken.length < MOST_TOLD) broken.push({ line: number, why });
  };
  for await (const line of linesOf(path)) {
    if (signal.aborted) throw new Error('interrupted');
    if (line.text === null) tell(line, line.why);
    else {
      const trace = recordedTrace(line.text);
      if (!trace.ok) tell(line, trace.fault);
      else if (trace.value.truth.kind === 'uncounted') uncounted += 1;
      else if (!isQuick || isSampled(name, line.number, SAMPLED[trace.value.truth.kind])) {
        const { suite, userTask, injectionTask, truth } = trace.value;
        const said = judges.recorded.judge(trace.value, labels.of(suite));
        if (said.ok) {
          const seed = `${name}\n${line.number}`;
          judged.push({
            suite,
            userTask,
            injectionTask,
            truth: truth.kind,
            wording: trace.value.wording,
            hasCalls: truth.kind === 'attack' && truth.lastCall !== null,
            needsNoCall: truth.kind === 'attack' && truth.needsNoCall,
            said: said.value.map(sayingText),
            reworded:
              !isQuick || isSampled(`${name}\nreworded`, line.number, SAMPLED.reworded)
                ? await saidOfFrames(trace.value, judges.reworded, labels.of(suite), seed)
                : null,
            planned: await saidWithPlans(trace.value, judging, seed),
          });
        } else tell(line, said.fault);
      }
    }
    if (++row % IN_A_ROW === 0) await breath();
  }
  return { model: name, judged, uncounted, brokenCount, broken };
}

/** What is said of the same attack in each neutral frame; null: it is no attack, or wears no frame that is known. */
async function saidOfFrames(
  trace: RecordedTrace,
  judge: Judge,
  labels: TraceLabels,
  seed: string,
  plan?: ScriptedPlan,
): Promise<JsonObject | null> {
  if (trace.truth.kind !== 'attack') return null;
  const attack = rewordable(trace.messages, trace.attacks);
  if (attack === null) return null;
  const frames: [string, readonly string[]][] = [];
  for (const frame of FRAMES) {
    const said = judge.judge(
      { ...trace, messages: attack.in(frame, `${frame.name}\n${seed}`) },
      labels,
      plan,
    );
    if (!said.ok) throw new Error(`a reworded attack is no trace: ${said.fault}`);
    frames.push([frame.name, said.value.map(sayingText)]);
    await breath();
  }
  return Object.fromEntries(frames);
}

/** What is said with each variant of the task's plan, and with the plan itself of the attack in each frame; null: it has no plan. */
async function saidWithPlans(
  trace: RecordedTrace,
  { judges, labels, variants }: Judging,
  seed: string,
): Promise<JsonObject | null> {
  const { suite, userTask } = trace;
  const labelled = labels.of(suite);
  const said: [string, readonly string[]][] = [];
  for (const { name, plans } of variants) {
    const plan = planOf(plans, suite, userTask);
    if (plan === undefined) return null;
    const judged = judges.planned.judge(trace, labelled, plan);
    if (!judged.ok) throw new Error(`a trace with a plan is none: ${judged.fault}`);
    said.push([name, judged.value.map(sayingText)]);
    await breath();
  }
  const [whole] = variants;
  const plan = whole === undefined ? undefined : planOf(whole.plans, suite, userTask);
  if (plan === undefined) return null;
  const frames = await saidOfFrames(trace, judges.planned, labelled, seed, plan);
  return { variants: Object.fromEntries(said), frames };
}

function sayingText({ pack, rule, effect }: Saying): string {
  return `${pack}/${rule}/${effect}`;
}

/** The same lines for ever, and of each file about as many. */
export function isSampled(name: string, line: number, share: number): boolean {
  const digest = createHash('sha256').update(`cordon\n${name}\n${line}`).digest();
  return digest.readUInt32BE(0) < share * 2 ** 32;
}

/** Those of the repository. */
function ownFiles(): Result<readonly TraceFile[], Fault> {
  const attacked = traceFiles(TRACES);
  const honest = traceFiles(HONEST_TRACES);
  if (!attacked.ok) return attacked;
  if (!honest.ok) return honest;
  return ok([
    ...attacked.value,
    ...honest.value.map(({ path, name }) => ({ path, name: `tau-bench-${name}` })),
  ]);
}

/** Of a folder and all below it, or the one file that is named. */
export function traceFiles(folder: string): Result<readonly TraceFile[], Fault> {
  const help = 'name a folder of `.jsonl` or `.jsonl.br` files with `--traces`';
  if (!existsSync(folder))
    return failed(fault('usage', `there are no recorded traces: there is no ${folder}`, help));
  try {
    const paths = statSync(folder).isDirectory()
      ? readdirSync(folder, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile() && IS_LINE_FILE.test(entry.name))
          .map((entry) => join(entry.parentPath, entry.name))
          .sort()
      : [folder];
    if (paths.length === 0) return failed(fault('usage', `there are no recorded traces in ${folder}`, help));
    return ok(
      paths.map((path) => ({
        path,
        name: (relative(folder, path) || basename(path)).replace(IS_LINE_FILE, ''),
      })),
    );
  } catch (error) {
    return failed(fault('usage', `${folder} cannot be read: ${messageOf(error)}`, help));
  }
}

function barFiles(): readonly string[] {
  return BARS.map(({ file }) => join(BAR_FOLDER, `${file}.gr`));
}

/** What the tools of a suite do: from one file for all, from a file for each, or nothing, and then all is read strictly. */
export class LabelSource {
  readonly files: readonly string[];
  readonly notices: readonly string[];
  readonly #suites: ReadonlyMap<string, TraceLabels>;
  readonly #others: TraceLabels;

  private constructor(
    files: readonly string[],
    notices: readonly string[],
    suites: ReadonlyMap<string, TraceLabels>,
    others: TraceLabels,
  ) {
    this.files = files;
    this.notices = notices;
    this.#suites = suites;
    this.#others = others;
  }

  /** Refused if a label file is there and wrong. */
  static of({ traces, labels: given }: BenchRequest): Result<LabelSource, Fault> {
    const strict = new TraceLabels([]);
    const place = given ?? (traces === null ? LABELS : null);
    const none = 'tools of the traces are read strictly';
    if (place === null)
      return ok(new LabelSource([], [`no labels are given, so ${none}`], new Map(), strict));
    if (!existsSync(place))
      return ok(new LabelSource([], [`there is no label file ${place}, so ${none}`], new Map(), strict));
    if (!statSync(place).isDirectory()) {
      const read = readLabels(place);
      return read.ok ? ok(new LabelSource([place], [], new Map(), read.value)) : read;
    }
    const files = readdirSync(place)
      .filter((name) => name.endsWith(SUITE_LABELS))
      .sort()
      .map((name) => join(place, name));
    const suites = new Map<string, TraceLabels>();
    for (const file of files) {
      const read = readLabels(file);
      if (!read.ok) return read;
      suites.set(basename(file, SUITE_LABELS), read.value);
    }
    return ok(new LabelSource(files, [], suites, strict));
  }

  of(suite: string): TraceLabels {
    return this.#suites.get(suite) ?? this.#others;
  }
}

const SUITE_LABELS = '.labels.json';

function readLabels(file: string): Result<TraceLabels, Fault> {
  const read = readLabelFile(file);
  if (read.ok) return ok(new TraceLabels(read.value));
  const first = read.fault[0];
  const line = first?.range === undefined ? '' : `:${first.range.line}`;
  return failed(fault('usage', `${file}${line}: ${first?.message ?? 'it cannot be read'}`, first?.help));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
