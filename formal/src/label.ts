/**
 * The words that a model and a trace share: `vocabulary.pml` numbers them, and this reads the numbers from there, so that
 * nothing is written down twice.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const MODEL_FOLDER = join(import.meta.dirname, '..', 'model');

/** One step of a trace: a label without its `L_`, and four small numbers whose meaning `vocabulary.pml` gives. */
export interface Step {
  readonly label: string;
  readonly values: readonly [number, number, number, number];
}

/** In a model: no such thing. */
export const NONE = 255;
/** In a trace: the journal does not say which. */
export const ANY = 254;

const NUMBERS: ReadonlyMap<string, number> = new Map(
  [...readFileSync(join(MODEL_FOLDER, 'vocabulary.pml'), 'utf8').matchAll(/^#define L_(\w+) (\d+)/gm)].map(
    ([, name = '', number]) => [name, Number(number)],
  ),
);
const NAMES: ReadonlyMap<number, string> = new Map([...NUMBERS].map(([name, number]) => [number, name]));

/** Missing values are 0. Throws for a label that `vocabulary.pml` does not have: a bug. */
export function step(label: string, ...values: readonly number[]): Step {
  if (!NUMBERS.has(label)) throw new Error(`no model has a step \`${label}\``);
  const [a = 0, b = 0, c = 0, d = 0] = values;
  return { label, values: [a, b, c, d] };
}

/** As a model in accept mode reads it: five numbers a line. */
export function encodeTrace(trace: readonly Step[]): string {
  return trace.map(({ label, values }) => `${NUMBERS.get(label)} ${values.join(' ')}\n`).join('');
}

/** The steps that a model in generate mode printed; other lines of SPIN are left out. */
export function decodeWalk(output: string): readonly Step[] {
  return [...output.matchAll(/^@ (\d+) (\d+) (\d+) (\d+) (\d+)$/gm)].map(([, label, ...values]) =>
    step(NAMES.get(Number(label)) ?? `number ${label}`, ...values.map(Number)),
  );
}

export function describeStep({ label, values }: Step): string {
  const shown = values.map((value) => (value === NONE ? 'none' : value === ANY ? 'any' : String(value)));
  return `${label.toLowerCase().replaceAll('_', '-')}(${shown.join(', ')})`;
}
