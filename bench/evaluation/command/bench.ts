/**
 * `cordon bench`: whether it protects, whether it still works, and what it costs, measured on this machine. docs/cli.md.
 */

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type CommandContext, EXIT, type ExitCode } from '@cordon/cli/program';
import { absolutePath, defaultDataFolder } from '@cordon/config/reading';
import { type Fault, fault, ok, type Result } from '@cordon/core';
import { renderTable } from '@cordon/print';
import { costOf, type Estimate, type PlayedModel, replayedModel } from '../../model/index.ts';
import { planFile, readScriptedPlans } from '../../protection/plans/plan-file.ts';
import { compared } from '../presentation/compare.ts';
import { page } from '../presentation/page.ts';
import { readResults, resultLine } from '../result.ts';
import { codeVersion } from '../running/code-version.ts';
import { type Observer, type Ran, runSuite } from '../running/run.ts';
import { keptRecords, RunStore, type Start } from '../running/run-store.ts';
import type { BenchRequest, OtherData, Suite } from '../suite.ts';
import { SUITES } from '../suites.ts';
import {
  type AskedModel,
  askedModel,
  estimateText,
  NOT_AGREED,
  type PlayOptions,
  playRefusal,
  requestWith,
} from './playing.ts';
import { BenchProgress } from './progress.ts';
import { type Look, lookOf, renderComparison, renderResult } from './rendering.ts';
/** As commander hands them over. */
export interface BenchOptions extends PlayOptions {
  readonly quick?: boolean;
  readonly out?: string;
  readonly data?: string;
  readonly traces?: string;
  readonly labels?: string;
  readonly pairs?: string;
  readonly plans?: string;
  readonly part?: string;
  readonly only?: string;
  readonly every?: string;
  readonly goOn?: boolean;
  readonly again?: boolean;
}

const OTHER_DATA: readonly OtherData[] = ['traces', 'labels', 'pairs', 'plans'];

/** 0: all aims are met; 1: one is missed; 2: it could not be measured, or not to the end. */
export async function bench(
  context: CommandContext,
  what: string,
  paths: readonly string[],
  options: BenchOptions,
): Promise<ExitCode> {
  if (what === 'compare') return compare(context, paths);
  const [path, ...more] = paths;
  if (what === 'plans' && path !== undefined && more.length === 0) return printPlans(context, path);
  if (paths.length > 0) {
    context.reportFault(
      fault('usage', `unexpected arguments: \`${paths.join(' ')}\``, 'name one benchmark, or `all`'),
    );
    return EXIT.failed;
  }
  if (what === 'list') return list(context);
  const suites = SUITES.filter(({ id }) => what === 'all' || what === id);
  if (suites.length === 0) {
    const names = [...SUITES.map(({ id }) => id), 'all', 'list', 'compare'].join(', ');
    context.reportFault(fault('usage', `there is no benchmark \`${what}\``, `name one of ${names}`));
    return EXIT.failed;
  }
  const refusal = refusalOf(suites, options) ?? playRefusal(suites, options);
  if (refusal !== null) {
    context.reportFault(refusal);
    return EXIT.failed;
  }
  const bencher = new Bencher(context, requestOf(context, options), startOf(options), options.yes === true);
  const player = playerOf(context, options, (reason) => bencher.stop(reason));
  if (player === 'wrong') return EXIT.failed;
  try {
    return await bencher.run(suites, outFolder(context, options), player);
  } finally {
    await player?.asked?.close();
  }
}

/** Who plays in a suite; `asked`: a provider is, and that costs. */
interface Player {
  readonly asked: AskedModel | null;
  readonly in: (suite: Suite) => Result<PlayedModel, Fault>;
}

/** Null: the obedient model. `wrong`: that has been told. */
function playerOf(
  context: CommandContext,
  options: BenchOptions,
  onStop: (reason: string) => void,
): Player | null | 'wrong' {
  const { model, replay } = options;
  if (replay !== undefined) {
    const folder = absolutePath(replay, process.cwd(), context.home);
    return {
      asked: null,
      in: ({ id, jobs }) => {
        const kept = keptRecords(folder, id);
        // Where time is measured, units run alone.
        return kept.ok ? ok(replayedModel(kept.value, jobs === 1)) : kept;
      },
    };
  }
  if (model === undefined) return null;
  const configuration = context.configurationInEffect();
  if (configuration === null) return 'wrong';
  const asked = askedModel(configuration, options, { now: () => performance.now(), onStop });
  if (asked.ok) return { asked: asked.value, in: () => ok(asked.value.played) };
  context.reportFault(asked.fault);
  return 'wrong';
}

/** Data that are given and that nobody looks at would be taken for what was measured. */
function refusalOf(suites: readonly Suite[], options: BenchOptions): Fault | null {
  const { part, every } = options;
  if (every !== undefined && !/^(?:[2-9]|[1-9]\d{1,5})$/.test(every))
    return fault('usage', '`--every` must be a whole number from 2 on', 'such as `--every 12`');
  const whole = suites.find(({ parts }) => part !== undefined && parts?.includes(part) !== true);
  if (whole !== undefined) {
    const names = whole.parts?.map((name) => `\`${name}\``).join(' or ');
    const help = names === undefined ? 'leave `--part` out' : `name ${names}`;
    return fault('usage', `\`${whole.id}\` has no part \`${part}\``, help);
  }
  const isTaken = (data: OtherData) => suites.some(({ takes }) => takes.includes(data));
  const left = OTHER_DATA.find((data) => options[data] !== undefined && !isTaken(data));
  if (left === undefined) return null;
  const takers = SUITES.filter(({ takes }) => takes.includes(left)).map(({ id }) => `\`${id}\``);
  const names = suites.map(({ id }) => `\`${id}\``).join(', ');
  return fault('usage', `${names} takes no \`--${left}\``, `leave it out, or measure ${takers.join(' or ')}`);
}

function list(context: CommandContext): ExitCode {
  if (context.wantsJson)
    for (const { id, question } of SUITES) context.json({ kind: 'bench.suite', suite: id, question });
  else
    renderTable(
      context.output,
      ['benchmark', 'question'],
      SUITES.map(({ id, question }) => [id, question]),
    );
  return EXIT.done;
}

/** 0: nothing that was met is missed; 1: an aim is; 2: there is nothing to compare. */
function compare(context: CommandContext, paths: readonly string[]): ExitCode {
  const [first, second, ...rest] = paths.map((path) => absolutePath(path, process.cwd(), context.home));
  if (first === undefined || second === undefined || rest.length > 0) {
    context.reportFault(
      fault('usage', '`compare` takes the folders of two runs', 'cordon bench compare before after'),
    );
    return EXIT.failed;
  }
  const [before, after] = [readResults(first), readResults(second)];
  if (!before.ok) return context.reportSetupError({ kind: 'fault', fault: before.fault });
  if (!after.ok) return context.reportSetupError({ kind: 'fault', fault: after.fault });
  const { comparisons, onlyBefore, onlyAfter } = compared(before.value, after.value);
  const look = lookOf(context);
  for (const comparison of comparisons)
    if (context.wantsJson) context.json({ kind: 'bench.compared', ...comparison });
    else renderComparison(look, comparison);
  for (const [names, where] of [
    [onlyBefore, first],
    [onlyAfter, second],
  ] as const)
    if (names.length > 0 && !context.wantsJson)
      context.notes.say('cordon: ', `only in ${where}: ${names.join(', ')}`);
  if (comparisons.length === 0) {
    context.reportFault(fault('usage', 'the two runs have no benchmark in common'));
    return EXIT.failed;
  }
  const isWorse = comparisons.some(({ aims }) => aims.some(({ verdict }) => verdict === 'missed now'));
  return isWorse ? EXIT.refused : EXIT.done;
}

/** Prints the plans of a file of scripted tasks. */
function printPlans(context: CommandContext, path: string): ExitCode {
  const plans = readScriptedPlans(absolutePath(path, process.cwd(), context.home));
  if (!plans.ok) {
    context.reportFault(plans.fault);
    return EXIT.failed;
  }
  context.write(`${JSON.stringify(planFile(plans.value))}\n`);
  return EXIT.done;
}

function requestOf(context: CommandContext, options: BenchOptions): BenchRequest {
  const path = (given: string | undefined) =>
    given === undefined ? null : absolutePath(given, process.cwd(), context.home);
  return {
    isQuick: options.quick === true,
    data: path(options.data),
    traces: path(options.traces),
    labels: path(options.labels),
    pairs: path(options.pairs),
    ...(options.plans === undefined
      ? {}
      : { plans: absolutePath(options.plans, process.cwd(), context.home) }),
    ...(options.part === undefined ? {} : { part: options.part }),
    ...(options.only === undefined ? {} : { only: options.only }),
    ...(options.every === undefined ? {} : { every: Number(options.every) }),
  };
}

function startOf({ goOn, again }: BenchOptions): Start {
  if (again === true) return 'none';
  return goOn === true ? 'any code' : 'same';
}

/** A sample, everything, each choice of units, each folder of other data and each model have records of their own. */
function outFolder(context: CommandContext, options: BenchOptions): string {
  const { home, environment } = context;
  if (options.out !== undefined) return absolutePath(options.out, process.cwd(), home);
  const { traces, labels, pairs, plans, isQuick } = requestOf(context, options);
  const { model, replay, only, every } = options;
  const more = [plans, model, replay, only, every === undefined ? undefined : `every ${every}`].flatMap(
    (one) => one ?? [],
  );
  const others = JSON.stringify([traces, labels, pairs, ...more]);
  const given =
    traces === null && pairs === null && more.length === 0
      ? ''
      : `-${createHash('sha256').update(others).digest('hex').slice(0, 8)}`;
  const data = defaultDataFolder({ environment, cwd: process.cwd(), home });
  return join(data, 'bench', `${isQuick ? 'quick' : 'full'}${given}`);
}

const SAME_INTERRUPT_MS = 500;

class Bencher {
  readonly #context: CommandContext;
  readonly #request: BenchRequest;
  readonly #start: Start;
  readonly #isAgreed: boolean;
  readonly #look: Look;
  readonly #stop = new AbortController();
  #stoppedAt = 0;

  constructor(context: CommandContext, request: BenchRequest, start: Start, isAgreed: boolean) {
    this.#context = context;
    this.#request = request;
    this.#start = start;
    this.#isAgreed = isAgreed;
    this.#look = lookOf(context);
  }

  /** Nothing more is measured, for a reason that is told once. */
  stop(reason: string): void {
    if (this.#stop.signal.aborted) return;
    if (this.#context.wantsJson) this.#context.json({ kind: 'bench.stopped', reason });
    else this.#note(`ending the run: ${reason}`);
    this.#stop.abort();
  }

  async run(suites: readonly Suite[], folder: string, player: Player | null): Promise<ExitCode> {
    const context = this.#context;
    const store = RunStore.open(folder);
    if (!store.ok) return context.reportSetupError({ kind: 'fault', fault: store.fault });
    context.onInterrupt = () => this.#interrupt();
    const codes: ExitCode[] = [];
    const version = codeVersion();
    try {
      for (const suite of suites) {
        if (this.#stop.signal.aborted) break;
        const progress = this.#progressOf(suite);
        const played = player?.in(suite);
        if (played?.ok === false) {
          codes.push(context.reportSetupError({ kind: 'fault', fault: played.fault }));
          continue;
        }
        const model = played?.value;
        const ran = await runSuite(suite, {
          request: model === undefined ? this.#request : requestWith(this.#request, model),
          store: store.value,
          version,
          start: this.#start,
          signal: this.#stop.signal,
          observer: this.#observer(suite, progress),
          now: () => performance.now(),
          ...(model === undefined
            ? {}
            : {
                played: {
                  model,
                  agrees: (estimate) => this.#agrees(suite, estimate, player?.asked ?? null),
                },
              }),
        }).finally(() => progress.clear());
        codes.push(
          ran.ok ? this.#report(ran.value) : context.reportSetupError({ kind: 'fault', fault: ran.fault }),
        );
      }
      this.#publish(store.value);
      if (player?.asked != null) this.#reportSpent(player.asked);
    } finally {
      store.value.close();
    }
    if (this.#stop.signal.aborted) {
      this.#note('interrupted: the results so far are kept; run the same command again to continue');
      codes.push(EXIT.failed);
    }
    // What was told to stop and did not would keep this process alive.
    if (this.#stop.signal.aborted) process.stdout.write('', () => process.exit(worst(codes)));
    return worst(codes);
  }

  /** Also what earlier runs left in the folder is on the page, each with its own facts. */
  #publish(store: RunStore): void {
    const results = readResults(store.folder);
    // Nothing was measured, and that was told.
    if (!results.ok) return;
    const order = SUITES.map(({ id }) => id);
    const inOrder = [...results.value].sort((a, b) => order.indexOf(a.suite) - order.indexOf(b.suite));
    const file = store.publish(page(inOrder));
    if (!this.#context.wantsJson) this.#context.notes.say('', `the same as a page: ${file}`);
  }

  /** Null: the run may start. What it will come to is told in any case. */
  #agrees({ id }: Suite, estimate: Estimate, asked: AskedModel | null): Fault | null {
    if (asked === null || estimate.units === 0) return null;
    const cost = costOf(estimate, asked.price);
    if (this.#context.wantsJson) this.#context.json({ kind: 'bench.estimate', suite: id, ...estimate, cost });
    else this.#note(`${id}: ${estimateText(asked.played, estimate, cost)}`);
    return this.#isAgreed ? null : NOT_AGREED;
  }

  #reportSpent({ spending: { spent } }: AskedModel): void {
    if (spent.calls === 0) return;
    if (this.#context.wantsJson) return this.#context.json({ kind: 'bench.spent', ...spent });
    const { calls, inputTokens, outputTokens, cost } = spent;
    const money = cost === null ? '' : `, cost ${Number(cost.toPrecision(3))}`;
    this.#note(`asked the model ${calls} times: ${inputTokens} tokens in and ${outputTokens} out${money}`);
  }

  #interrupt(): void {
    const isAgain = this.#stop.signal.aborted;
    // A terminal and a package manager both hand on the same Ctrl-C.
    if (isAgain && performance.now() - this.#stoppedAt < SAME_INTERRUPT_MS) return;
    if (isAgain) process.exit(EXIT.failed);
    this.#stoppedAt = performance.now();
    this.#note('finishing the current measurement; press Ctrl-C again to stop at once');
    this.#stop.abort();
  }

  #progressOf({ id }: Suite): BenchProgress {
    const { notes, hasUnicode } = this.#context;
    return new BenchProgress(
      {
        write: (text) => process.stderr.write(text),
        isTerminal: process.stderr.isTTY === true,
        columns: () => process.stderr.columns ?? 80,
        now: () => performance.now(),
        style: (style, text) => notes.style(style, text),
        hasUnicode,
      },
      id,
    );
  }

  #observer({ id }: Suite, progress: BenchProgress): Observer {
    const context = this.#context;
    return {
      began: (beginning, notices, units) => {
        if (context.wantsJson)
          return context.json({ kind: 'bench.began', suite: id, units, beginning, notices });
        if (beginning.kind === 'resumed')
          this.#note(
            beginning.records >= units
              ? `${id}: all ${units} units were measured before; \`--again\` repeats them`
              : `${id}: continuing from ${beginning.records} of ${units} units`,
          );
        if (beginning.kind === 'restarted')
          this.#note(
            `${id}: old records are not counted, ${beginning.why}; they are kept in ${beginning.kept}`,
          );
      },
      progressed: (now) => progress.update(now),
      unitFailed: (key, message) => {
        progress.clear();
        if (context.wantsJson) context.json({ kind: 'bench.failed', suite: id, unit: key, message });
        else context.notes.say('!! ', `${id}: ${key} could not be measured: ${message}`, 'warn');
      },
    };
  }

  #report({ result, missing, isInterrupted }: Ran): ExitCode {
    if (this.#context.wantsJson) this.#context.json(resultLine(result));
    else renderResult(this.#look, result);
    if (missing.length > 0 || isInterrupted) return EXIT.failed;
    return result.aims.every(({ isMet }) => isMet) ? EXIT.done : EXIT.refused;
  }

  #note(text: string): void {
    if (!this.#context.wantsJson) this.#context.notes.say('cordon: ', text);
  }
}

function worst(codes: readonly ExitCode[]): ExitCode {
  if (codes.includes(EXIT.failed)) return EXIT.failed;
  return codes.includes(EXIT.refused) ? EXIT.refused : EXIT.done;
}
