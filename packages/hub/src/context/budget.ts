/**
 * What one query may still use: tokens, time and money. Each model call is announced before it is made and settled
 * behind it; what is under way counts, so that loops that run beside each other cannot each take the last of it.
 *
 * What is not known is not free: a model without a price does not run where money is limited.
 */
import {
  type Clock,
  type Fault,
  failed,
  fault,
  type ModelPrices,
  ok,
  type QueryLimit,
  type QueryUse,
  type Result,
  type TurnLimits,
  type Usage,
} from '@cordon/core';

export interface BudgetParts {
  readonly limits: TurnLimits;
  readonly prices: ModelPrices;
  readonly now: Clock;
  /** Called once, when the query has reached one of its limits: what is under way for it ends. */
  readonly onOver: () => void;
}

/** A call that is under way. It is settled exactly once, with what it used or, where it failed, with nothing. */
export interface Reservation {
  settle(usage: Usage | null): void;
}

/** A call's share while it runs: its prompt at four characters a token, and an answer of some length. */
const CHARACTERS_A_TOKEN = 4;
const ASSUMED_ANSWER = 1_000;
const MILLION = 1_000_000;
/** A call that nobody needs leaves room for so many, itself among them: those of planner and agent stay. */
const SPARE = 4;
const NOTHING_TO_SPARE: Fault = fault('budget-exceeded', 'the query has no budget left for this');

export class Budget {
  readonly #parts: BudgetParts;
  #modelCalls = 0;
  #tokens = 0;
  #cost = 0;
  #isPriced = true;
  #tokensUnderWay = 0;
  #costUnderWay = 0;
  #milliseconds = 0;
  #startedAt: number | null = null;
  #isOver = false;
  #timer: NodeJS.Timeout | undefined;
  #exceeded: { readonly limit: QueryLimit; readonly fault: Fault } | null = null;

  constructor(parts: BudgetParts) {
    this.#parts = parts;
  }

  /** The clock runs, until `pause`. */
  resume(): void {
    if (this.#isOver || this.#startedAt !== null) return;
    this.#startedAt = this.#parts.now();
    const left = Math.max(0, this.#parts.limits.seconds * 1000 - this.#milliseconds);
    // Node takes a longer wait for one of a millisecond.
    this.#timer = setTimeout(() => this.#timeOver(), Math.min(left, LONGEST_TIMER_MS));
  }

  /** The query is over. A question that ends with it starts no clock any more. */
  end(): void {
    this.pause();
    this.#isOver = true;
  }

  /** The user is asked something. */
  pause(): void {
    clearTimeout(this.#timer);
    if (this.#startedAt === null) return;
    this.#milliseconds += Math.max(0, this.#parts.now() - this.#startedAt);
    this.#startedAt = null;
  }

  get used(): QueryUse {
    const running = this.#startedAt === null ? 0 : Math.max(0, this.#parts.now() - this.#startedAt);
    return {
      modelCalls: this.#modelCalls,
      tokens: this.#tokens,
      milliseconds: this.#milliseconds + running,
      cost: this.#isPriced ? this.#cost : null,
    };
  }

  /** The limit that the query reached first, and the fault that says so; null: none was. */
  get exceeded(): { readonly limit: QueryLimit; readonly fault: Fault } | null {
    return this.#exceeded;
  }

  /** One turn made all of its model calls: that turn ends, and not what runs beside it. */
  stepsFault({ kind, message, help }: Fault): Fault {
    return fault(kind, message, help ?? this.#helpAbout('steps'));
  }

  /** Whether another call of this model fits, with `characters` of prompt. */
  reserve(model: string, characters: number): Result<Reservation, Fault> {
    if (this.#exceeded !== null) return failed(this.#exceeded.fault);
    const { limits, prices } = this.#parts;
    const price = prices.get(model);
    if (price === undefined && limits.cost !== null) {
      const unknown = `the price of \`${model}\` is unknown, so the cost limit cannot be enforced`;
      const help = `add it to \`prices\`: {"${model}": {"input": …, "output": …}}, for a million tokens each`;
      return failed(this.#exceed('cost', unknown, help));
    }
    if (this.#tokens + this.#tokensUnderWay >= limits.tokens)
      return failed(this.#exceed('tokens', `the query reached its limit of ${limits.tokens} tokens`));
    const isFree = price?.input === 0 && price.output === 0;
    if (limits.cost !== null && !isFree && this.#cost + this.#costUnderWay >= limits.cost)
      return failed(this.#exceed('cost', `the query reached its cost limit of ${limits.cost}`));
    const { tokens, cost } = this.#shareOf(model, characters);
    this.#tokensUnderWay += tokens;
    this.#costUnderWay += cost;
    this.#modelCalls++;
    let isOpen = true;
    const settle = (usage: Usage | null) => {
      if (!isOpen) return;
      isOpen = false;
      this.#tokensUnderWay -= tokens;
      this.#costUnderWay -= cost;
      if (usage === null) return;
      // Attack: a server that reports less than nothing buys itself more.
      const counted = {
        inputTokens: counting(usage.inputTokens),
        outputTokens: counting(usage.outputTokens),
      };
      this.#tokens += counted.inputTokens + counted.outputTokens;
      this.#cost += this.#costOf(model, counted);
      if (price === undefined) this.#isPriced = false;
    };
    return ok({ settle });
  }

  /**
   * As `reserve`, for a call that the query can do without: it is made only where several like it would fit, and where they
   * do not, the query continues without it. A guess must not take the last of a small budget from the planner.
   */
  reserveSpare(model: string, characters: number): Result<Reservation, Fault> {
    return this.#isSpare(model, characters) ? this.reserve(model, characters) : failed(NOTHING_TO_SPARE);
  }

  #isSpare(model: string, characters: number): boolean {
    const { limits, prices } = this.#parts;
    const share = this.#shareOf(model, characters);
    const tokensLeft = limits.tokens - this.#tokens - this.#tokensUnderWay;
    if (SPARE * share.tokens > tokensLeft) return false;
    if (limits.cost === null || share.cost === 0) return limits.cost === null || prices.has(model);
    return SPARE * share.cost <= limits.cost - this.#cost - this.#costUnderWay;
  }

  /** What a call counts for while it is under way. */
  #shareOf(model: string, characters: number): { readonly tokens: number; readonly cost: number } {
    const prompt = Math.ceil(characters / CHARACTERS_A_TOKEN);
    const cost = this.#costOf(model, { inputTokens: prompt, outputTokens: ASSUMED_ANSWER });
    return { tokens: prompt + ASSUMED_ANSWER, cost };
  }

  #costOf(model: string, { inputTokens, outputTokens }: Usage): number {
    const price = this.#parts.prices.get(model);
    return ((price?.input ?? 0) * inputTokens + (price?.output ?? 0) * outputTokens) / MILLION;
  }

  #timeOver(): void {
    this.#exceed('seconds', `the query reached its time limit of ${this.#parts.limits.seconds} s`);
  }

  #exceed(limit: QueryLimit, message: string, help = this.#helpAbout(limit)): Fault {
    if (this.#exceeded !== null) return this.#exceeded.fault;
    this.#exceeded = { limit, fault: fault('budget-exceeded', message, help) };
    this.#parts.onOver();
    return this.#exceeded.fault;
  }

  #helpAbout(limit: QueryLimit): string {
    return `it used ${toldUse(this.used)}; \`${OPTIONS[limit]}\` allows more`;
  }
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Whatever is no number of tokens is taken for the most there can be: it denies the next call. */
function counting(tokens: number): number {
  return Number.isFinite(tokens) && tokens >= 0 ? tokens : Number.MAX_SAFE_INTEGER;
}

const OPTIONS: Readonly<Record<QueryLimit, string>> = {
  steps: '--max-steps',
  tokens: '--max-tokens',
  seconds: '--max-seconds',
  cost: '--max-cost',
};

/** `5 model calls, 440 tokens, 1.2 s` and, where it is known and not nothing, what they cost. */
export function toldUse({ modelCalls, tokens, milliseconds, cost }: QueryUse): string {
  const calls = `${modelCalls} model ${modelCalls === 1 ? 'call' : 'calls'}`;
  const price = cost === null || cost === 0 ? [] : [`a price of ${Number(cost.toPrecision(3))}`];
  return [calls, `${tokens} tokens`, `${(milliseconds / 1000).toFixed(1)} s`, ...price].join(', ');
}
