/**
 * Work that the hub does on its own behalf after a query has ended, one piece after the other, so that nobody waits for it but, at
 * most, the next query. What it asks a model has a small separate budget.
 */
import type { JsonSchema } from '@cordon/core';
import type { Context } from '../context/context.ts';
import type { Query } from '../context/query.ts';
import type { ModelCalls } from '../mediation/model-calls.ts';

export interface BackgroundParts {
  readonly models: ModelCalls;
  /** For the budget of one model call: it is no query of the user's. */
  readonly newErrand: (signal: AbortSignal) => Query;
}

/** What one model call is asked: in the hub's words, and then what it is asked about. */
export interface Errand {
  readonly prompt: string;
  readonly text: string;
  readonly answerSchema?: JsonSchema;
}

export class Background {
  readonly #parts: BackgroundParts;
  readonly #ending = new AbortController();
  #working: Promise<void> = Promise.resolve();
  /** What failed since somebody waited last. */
  #failures: readonly unknown[] = [];

  constructor(parts: BackgroundParts) {
    this.#parts = parts;
  }

  /** Work that fails, because the store does, stops no later work. */
  begin(work: () => Promise<void>): void {
    this.#working = this.#working.then(work).catch((failure: unknown) => {
      this.#failures = [...this.#failures, failure];
    });
  }

  /** When nothing is being done. Throws once what failed meanwhile. */
  async settled(): Promise<void> {
    await this.#working;
    const [failure, ...others] = this.#failures;
    this.#failures = [];
    if (others.length > 0) throw new AggregateError([failure, ...others], 'work of the hub itself failed');
    if (failure !== undefined) throw failure;
  }

  /** The session is left: what is being done is given up, and done when the session resumes. */
  stop(): void {
    this.#ending.abort();
  }

  get isStopped(): boolean {
    return this.#ending.signal.aborted;
  }

  /** What a model answers; null: it fails, or the policy forbids the call. */
  async ask(context: Context, { prompt, text, ...wanted }: Errand): Promise<string | null> {
    const query = this.#parts.newErrand(this.#ending.signal);
    try {
      const answer = await this.#parts.models.complete(context, query, {
        role: 'agent',
        messages: [
          { role: 'system', text: prompt },
          { role: 'user', text },
        ],
        tools: [],
        ...wanted,
      });
      return answer.ok ? answer.value.text : null;
    } finally {
      query.end();
    }
  }
}
