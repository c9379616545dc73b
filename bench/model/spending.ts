/**
 * What a run of the benchmarks may spend on a model of a provider: calls and money, over all units that run at the same
 * time. A call counts from its beginning, with its prompt and an answer of some length, so that calls beside each other
 * cannot each take the last of it.
 *
 * An unknown cost is not free: where money is limited, a model without a price is not called, and a call that ended without
 * an answer counts with its estimate.
 */
import type { ModelPrice, ModelRequest, Usage } from '@cordon/core';

export interface SpendingLimits {
  /** Null: no limit. */
  readonly calls: number | null;
  /** In the currency of the prices; null: no limit. */
  readonly cost: number | null;
}

export interface Spent {
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Null: the price is not known. */
  readonly cost: number | null;
}

/** A call that is under way. `settle` is called once, with what it used; null: it ended without an answer. */
export interface CallUnderWay {
  settle(usage: Usage | null): Usage;
}

const CHARACTERS_A_TOKEN = 4;
const ASSUMED_ANSWER = 1_000;

export class Spending {
  readonly #limits: SpendingLimits;
  readonly #price: ModelPrice | null;
  #calls = 0;
  #usage: Usage = { inputTokens: 0, outputTokens: 0 };

  constructor(limits: SpendingLimits, price: ModelPrice | null) {
    this.#limits = limits;
    this.#price = price;
  }

  get spent(): Spent {
    return { calls: this.#calls, ...this.#usage, cost: costOf(this.#usage, this.#price) };
  }

  /** A reason in words: the next call is not made. */
  begin(request: ModelRequest): CallUnderWay | string {
    const { calls, cost } = this.#limits;
    if (calls !== null && this.#calls >= calls) return `the run made its ${calls} model calls`;
    const assumed = { inputTokens: tokensOf(request), outputTokens: ASSUMED_ANSWER };
    if (cost !== null) {
      const after = costOf(sum(this.#usage, assumed), this.#price);
      if (after === null) return 'the price of the model is not known';
      if (after > cost) return `the next model call could cost more than is left of ${cost}`;
    }
    this.#calls++;
    this.#usage = sum(this.#usage, assumed);
    return {
      settle: (usage) => {
        const used = usage === null ? assumed : counted(usage);
        this.#usage = sum(this.#usage, {
          inputTokens: used.inputTokens - assumed.inputTokens,
          outputTokens: used.outputTokens - assumed.outputTokens,
        });
        return used;
      },
    };
  }
}

/** Null: the price is not known. */
export function costOf({ inputTokens, outputTokens }: Usage, price: ModelPrice | null): number | null {
  return price === null ? null : (price.input * inputTokens + price.output * outputTokens) / 1e6;
}

function tokensOf({ messages, tools, answerSchema }: ModelRequest): number {
  return Math.ceil(JSON.stringify([messages, tools, answerSchema ?? null]).length / CHARACTERS_A_TOKEN);
}

/** Attack: a server that reports less than nothing buys itself more. */
function counted({ inputTokens, outputTokens }: Usage): Usage {
  const tokens = (value: number) => (Number.isFinite(value) && value >= 0 ? value : Number.MAX_SAFE_INTEGER);
  return { inputTokens: tokens(inputTokens), outputTokens: tokens(outputTokens) };
}

function sum(a: Usage, b: Usage): Usage {
  return { inputTokens: a.inputTokens + b.inputTokens, outputTokens: a.outputTokens + b.outputTokens };
}
