/**
 * Looks at texts for the rules of a hub, in confined processes that start with the first question. Whatever a process does, its
 * question has an answer or none in time, and none leaves the rule undecided.
 */
import {
  type AnswerBook,
  type Fault,
  failed,
  type Json,
  type Question,
  type Result,
  sizeOfTexts,
  type TextJudge,
} from '@cordon/core';
import type { TextWork } from '@cordon/policy';
import type { ConfinedProcess } from '@cordon/sandbox';
import { type DetectorFault, DetectorProcess, FAULTS } from './detector-process.ts';

export interface ConfinedDetectorsOptions {
  /** Where answers are kept, and where the policy looks for them. */
  readonly book: AnswerBook;
  readonly launch: LaunchFor;
}

/**
 * `own`: our own code alone looks at the texts, and a third-party library is not even there. `parsers`: the detectors that need
 * one. Attack: a text takes a parser over; what rules ask of our own code is never asked of the process in which it happened.
 */
export type Work = 'own' | 'parsers';

/** Starts a process for one kind of work; the signal ends it. */
export type LaunchFor = (work: Work, signal: AbortSignal) => Promise<Result<ConfinedProcess, Fault>>;

/** Of all texts of one question, in UTF-16 units. An output of a tool is a megabyte at most, with as much in its structured content. */
const MOST_TEXT = 16 * 1024 * 1024;
const TOO_LARGE = 'the text is too long to look at';

export class ConfinedDetectors implements TextJudge {
  readonly #book: AnswerBook;
  readonly #own: DetectorProcess;
  readonly #parsers: DetectorProcess;

  constructor({ book, launch }: ConfinedDetectorsOptions) {
    this.#book = book;
    this.#own = new DetectorProcess((signal) => launch('own', signal));
    this.#parsers = new DetectorProcess((signal) => launch('parsers', signal));
  }

  async answer(question: Question): Promise<void> {
    const isTooLarge = sizeOfTexts(question.input, MOST_TEXT, 1) > MOST_TEXT;
    // The input of such a question is a piece of work: `TextQuestions` alone writes them.
    const work = question.input as unknown as TextWork;
    const answer = isTooLarge ? null : await this.#answerTo(work);
    if (answer === null) this.#book.keep(question, failed(TOO_LARGE));
    else this.#book.keep(question, answer.ok ? answer : failed(FAULTS[answer.fault]));
  }

  rest(): void {
    this.#own.rest();
    this.#parsers.rest();
  }

  /** Ends both processes at once; what they were asked has no answer. */
  async close(): Promise<void> {
    await Promise.all([this.#own.close(), this.#parsers.close()]);
  }

  async #answerTo(work: TextWork): Promise<Result<Json, DetectorFault>> {
    if (work.kind !== 'detector') return this.#own.ask(work);
    if (work.isParsed) return this.#parsers.ask(work);
    const own = await this.#own.ask(work);
    return own.ok || own.fault !== 'needs-parser' ? own : this.#parsers.ask(work);
  }
}
