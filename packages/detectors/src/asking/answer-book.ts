/** Answers to questions of rules, kept so that a rule that is decided again finds them. Ring 1. */
import { type AnswerBook, type Clock, failed, type Json, type Question, type Result } from '@cordon/core';

/** The oldest goes first. A rule whose answer went is undecided again, and asks again. */
const MOST_ANSWERS = 1_000;
/** Whoever did not answer is not asked again for so long: each question may take the whole time that there is. */
const FAILURE_MS = 30_000;

interface Entry {
  readonly answer: Result<Json, string>;
  /** Milliseconds since the epoch; null: it holds as long as it is kept. */
  readonly until: number | null;
}

/** For one process: sessions share it, because the same question has the same answer. */
export class KeptAnswers implements AnswerBook {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  find({ digest }: Question): Result<Json, string> | null {
    const entry = this.#entries.get(digest);
    if (entry === undefined || (entry.until !== null && entry.until <= this.#clock())) return null;
    return entry.answer;
  }

  keep({ digest }: Question, answer: Result<Json, string>): void {
    // What was kept last is the youngest, also where it stood before.
    this.#entries.delete(digest);
    this.#entries.set(digest, { answer, until: answer.ok ? null : this.#clock() + FAILURE_MS });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > MOST_ANSWERS && oldest !== undefined) this.#entries.delete(oldest);
  }
}

/** For where nobody can be asked. */
export const NO_ANSWERS: AnswerBook = {
  find: () => failed('nobody can be asked here'),
  keep: () => undefined,
};
