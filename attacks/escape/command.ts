/**
 * What `cordon doctor --attack` starts, and `npm run attacks [-- GROUP|ID...]`: the attempts to get out of the sandbox. Each is a
 * small hostile program in a real sandbox of this machine, beside one that does what is allowed.
 */
import type { CommandContext } from '@cordon/cli/program';
import { EXIT, type ExitCode } from '@cordon/cli/program';
import { renderTable } from '@cordon/print';
import { readWeaker } from '@cordon/runtime/weaker';
import type { Outcome } from './program.ts';
import { type Result as Attempted, attemptsHere, runSuite } from './suite.ts';

/** `wanted`: groups of attempts, or single ones by their ids; empty: all. */
export async function attack(context: CommandContext, wanted: readonly string[]): Promise<ExitCode> {
  const all = attemptsHere();
  const unknown = wanted.find((name) => !all.some(({ id, group }) => id === name || group === name));
  if (unknown !== undefined) {
    const groups = [...new Set(all.map(({ group }) => group))].join(', ');
    context.notes.say('cordon: ', `unknown group of attempts; help: use one of ${groups}`, 'bad');
    return EXIT.failed;
  }
  const attempts = all.filter(
    ({ id, group }) => wanted.length === 0 || wanted.includes(id) || wanted.includes(group),
  );
  const weaker = readWeaker(context.configurationInEffect()?.weaker ?? []);
  if (!weaker.ok) return context.reportSetupError({ kind: 'diagnostics', diagnostics: weaker.fault });
  const progress = new Progress(context, attempts.length);
  const results = await runSuite(attempts, () => progress.step(), weaker.value);
  progress.clear();
  return report(context, results);
}

function report(context: CommandContext, results: readonly Attempted[]): ExitCode {
  const bad = results.filter(({ verdict }) => verdict !== 'stopped' && verdict !== 'known');
  const isGood = bad.length === 0 && results.length > 0;
  if (context.wantsJson) {
    for (const result of results) context.json(asJson(result));
    context.json({
      kind: 'doctor.attacked',
      tried: results.length,
      stopped: results.length - bad.length,
    });
  } else show(context, results, bad);
  return isGood ? EXIT.done : EXIT.failed;
}

function asJson({ attempt, outcome, twin, verdict }: Attempted) {
  const { id, group, title, layers, also = null, known = null } = attempt;
  const how = inWords(outcome);
  return {
    kind: 'doctor.attempt',
    id,
    group,
    title,
    verdict,
    how,
    allowed: inWords(twin),
    layers,
    also,
    known,
  };
}

function inWords(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'through':
      return 'through';
    case 'stopped':
      return outcome.by;
    case 'unclear':
    case 'not-run':
      return outcome.why;
  }
}

function show(context: CommandContext, results: readonly Attempted[], bad: readonly Attempted[]): void {
  const { output, options } = context;
  const shown = options.verbose === true ? results : results.filter(({ verdict }) => verdict !== 'stopped');
  output.line();
  renderTable(output, ['', 'attempts', 'tried', 'stopped'], groupRows(results));
  if (shown.length > 0) {
    output.line();
    renderTable(output, ['', 'an app that', 'result'], shown.map(row));
  }
  const tried = `${results.length} attempts to escape`;
  const verdict =
    bad.length === 0
      ? `${tried}: all were blocked as expected, and allowed actions work`
      : `${tried}: ${bad.length} did not end as expected`;
  output.say('', verdict, bad.length === 0 ? 'good' : 'bad');
}

function groupRows(results: readonly Attempted[]): readonly (readonly string[])[] {
  return [...Map.groupBy(results, ({ attempt }) => attempt.group)].map(([group, some]) => {
    const stopped = some.filter(({ verdict }) => verdict === 'stopped').length;
    const isFine = some.every(({ verdict }) => verdict === 'stopped' || verdict === 'known');
    return [isFine ? 'yes' : 'NO', group, String(some.length), String(stopped)];
  });
}

const MARKS: Readonly<Record<Attempted['verdict'], string>> = {
  stopped: 'yes',
  known: 'but',
  through: 'NO',
  unclear: 'NO',
  'not-run': 'NO',
};

function row({ attempt, outcome, twin, verdict }: Attempted): readonly string[] {
  const came =
    attempt.known !== undefined && verdict === 'known' ? `gets through: ${attempt.known}` : inWords(outcome);
  const broken = twin.kind === 'through' ? '' : `; an allowed action does not work: ${inWords(twin)}`;
  return [MARKS[verdict], attempt.title, `${came}${broken}`];
}

const CLEAR = '\r\u001b[K';

/** One line that is overwritten, for people who wait. */
class Progress {
  readonly #context: CommandContext;
  readonly #total: number;
  readonly #began = performance.now();
  #done = 0;

  constructor(context: CommandContext, total: number) {
    this.#context = context;
    this.#total = total;
  }

  step(): void {
    this.#done += 1;
    if (!this.#isShown()) return;
    const passed = performance.now() - this.#began;
    const left = Math.ceil((passed / this.#done) * (this.#total - this.#done) * 0.001);
    process.stderr.write(`${CLEAR}${this.#done} of ${this.#total} attempts, about ${left} s left`);
  }

  clear(): void {
    if (this.#isShown()) process.stderr.write(CLEAR);
  }

  #isShown(): boolean {
    return process.stderr.isTTY === true && !this.#context.wantsJson;
  }
}
