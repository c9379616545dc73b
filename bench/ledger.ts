/** All measurements of a run, in the order in which they were first made, and the judgement against their aims. */
import { type Summary, summary } from './sample.ts';

export interface Row extends Summary {
  readonly name: string;
  /** Milliseconds that the median must stay below; null: the number only explains others. */
  readonly aim: number | null;
  readonly met: boolean | null;
}

interface Measurement {
  readonly aim: number | null;
  readonly values: number[];
}

export class Ledger {
  readonly #measurements = new Map<string, Measurement>();

  /** @param value milliseconds */
  add(name: string, value: number, aim: number | null = null): void {
    const known = this.#measurements.get(name);
    if (known === undefined) this.#measurements.set(name, { aim, values: [value] });
    else known.values.push(value);
  }

  rows(): readonly Row[] {
    return [...this.#measurements].map(([name, { aim, values }]) => {
      const told = summary(values);
      return { name, aim, met: aim === null ? null : told.median < aim, ...told };
    });
  }
}
