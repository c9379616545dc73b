/**
 * `npm run formal`: searches every model, and every broken model for its counterexample. A line for each as it ends; exit
 * 0: all is as it must be, 1: a property fails or a broken model passes, 2: SPIN or a compiler is missing.
 *
 *   --full          larger bounds too; minutes
 *   --model NAME    only this one
 *   --json          one object a line in the place of the text
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { CHECKS, type Check, MUTANTS, type Mutant } from './src/checks.ts';
import { missingTools, type SearchResult, search } from './src/spin.ts';

interface Report {
  readonly model: string;
  readonly kind: 'safety' | 'liveness';
  readonly bounds: readonly string[];
  /** Null: the model as it is. */
  readonly mutant: string | null;
  readonly ok: boolean;
  readonly states: number | null;
  readonly milliseconds: number;
  readonly said: string;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      full: { type: 'boolean', default: false },
      model: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const missing = missingTools();
  if (missing !== null) {
    console.error(`formal: ${missing}`);
    return 2;
  }
  const isWanted = ({ model }: { readonly model: string }) =>
    values.model === undefined || model === values.model;
  const tasks = [
    ...CHECKS.filter((check) => isWanted(check) && (values.full || !check.isLarge)).map(
      (check) => () => judge(check),
    ),
    ...MUTANTS.filter(isWanted).map((mutant) => () => judgeMutant(mutant)),
  ];
  if (tasks.length === 0) {
    console.error(`formal: there is no model \`${values.model}\``);
    return 2;
  }
  const began = performance.now();
  const reports = await inParallel(tasks, Math.min(4, availableParallelism()), (report) =>
    console.log(values.json ? JSON.stringify(report) : lineOf(report)),
  );
  const bad = reports.filter(({ ok }) => !ok);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const broken = reports.filter(({ mutant }) => mutant !== null).length;
  if (!values.json) {
    console.log(
      `${reports.length - broken} searches, ${broken} broken models, ${bad.length} not as they must be; ${seconds} s`,
    );
  }
  return bad.length === 0 ? 0 : 1;
}

async function judge({ model, kind, bounds, isLarge }: Check): Promise<Report> {
  const { result, milliseconds } = await timed(() => search(model, { kind, defines: bounds, isLong: true }));
  const base = { model, kind, bounds, mutant: null, milliseconds };
  switch (result.kind) {
    case 'holds':
      return { ...base, ok: true, states: result.states, said: isLarge ? 'holds (full)' : 'holds' };
    case 'fails':
      return { ...base, ok: false, states: result.states, said: `violated: ${result.property}` };
    case 'unfinished':
      return { ...base, ok: false, states: null, said: `no verdict: ${result.reason}` };
    default:
      return result satisfies never;
  }
}

async function judgeMutant({ model, name, kind, bounds, breaks }: Mutant): Promise<Report> {
  const defines = [...bounds, `MUTANT_${name}`];
  const { result, milliseconds } = await timed(() => search(model, { kind, defines, isLong: false }));
  const base = { model, kind, bounds, mutant: name, milliseconds };
  switch (result.kind) {
    case 'fails': {
      const ok = result.property === breaks;
      const said = ok ? `found: ${breaks}` : `violates ${result.property} in the place of ${breaks}`;
      return { ...base, ok, states: result.states, said };
    }
    case 'holds':
      return { ...base, ok: false, states: result.states, said: `not found: ${breaks} says nothing` };
    case 'unfinished':
      return { ...base, ok: false, states: null, said: `no verdict: ${result.reason}` };
    default:
      return result satisfies never;
  }
}

async function timed(work: () => Promise<SearchResult>) {
  const began = performance.now();
  const result = await work();
  return { result, milliseconds: Math.round(performance.now() - began) };
}

async function inParallel<T>(
  tasks: readonly (() => Promise<T>)[],
  width: number,
  onDone: (value: T) => void,
): Promise<readonly T[]> {
  const waiting = [...tasks];
  const done: T[] = [];
  const work = async () => {
    for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) {
      const value = await task();
      done.push(value);
      onDone(value);
    }
  };
  await Promise.all(Array.from({ length: width }, work));
  return done;
}

function lineOf({ model, kind, bounds, mutant, ok, states, milliseconds, said }: Report): string {
  const what =
    mutant === null ? [kind, ...bounds].join(' ') : `broken: ${mutant.toLowerCase().replaceAll('_', ' ')}`;
  const size = states === null ? '' : `${states.toLocaleString('en')} states`;
  const time = `${(milliseconds / 1000).toFixed(1)} s`;
  return `${ok ? 'ok  ' : 'FAIL'} ${model.padEnd(9)}${what.padEnd(42)}${size.padStart(18)}${time.padStart(8)}  ${said}`;
}

process.exitCode = await main();
