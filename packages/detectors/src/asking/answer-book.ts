/** Answers to questions of rules, kept so that a rule that is decided again finds them. */
import {
  type AnswerBook,
  type Clock,
  failed,
  isJsonObject,
  type Json,
  type Question,
  type Result,
} from '@cordon/core';

/** The oldest goes first. A rule whose answer went is undecided again, and asks again. */
const MOST_ANSWERS = 1_000;
/** Numbers, and characters of texts, of all answers together. Attack: long lists of texts, each of which is asked about. */
const MOST_CONTENT = 8_000_000;
/** A service that did not answer is not asked again for so long: each question may take the whole time that there is. */
const FAILURE_MS = 30_000;

interface Entry {
  readonly answer: Result<Json, string>;
  /** Milliseconds since the epoch; null: it holds as long as it is kept. */
  readonly until: number | null;
  readonly content: number;
}

/** For one process: sessions share it, because the same question has the same answer. */
export class KeptAnswers implements AnswerBook {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();
  #content = 0;

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
    this.#drop(digest);
    const content = answer.ok ? contentOf(answer.value) : 0;
    this.#content += content;
    this.#entries.set(digest, { answer, until: answer.ok ? null : this.#clock() + FAILURE_MS, content });
    for (const oldest of this.#entries.keys()) {
      const isTooMuch = this.#entries.size > MOST_ANSWERS || this.#content > MOST_CONTENT;
      // The youngest stays, whatever its size: the rule is about to be decided by it.
      if (!isTooMuch || oldest === digest) break;
      this.#drop(oldest);
    }
  }

  #drop(digest: string): void {
    this.#content -= this.#entries.get(digest)?.content ?? 0;
    this.#entries.delete(digest);
  }
}

/** Recursion is as deep as the answer, which came out of bounded JSON. */
function contentOf(answer: Json): number {
  if (typeof answer === 'string') return answer.length;
  if (Array.isArray(answer)) return answer.reduce((sum: number, one) => sum + contentOf(one), 1);
  if (!isJsonObject(answer)) return 1;
  return Object.entries(answer).reduce((sum, [key, one]) => sum + key.length + contentOf(one), 1);
}

/** For programs without anybody to ask. */
export const NO_ANSWERS: AnswerBook = {
  find: () => failed('nobody can be asked here'),
  keep: () => undefined,
};
