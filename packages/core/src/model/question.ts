/**
 * Questions of rules whose answers take time: a detector notes one, the hub has it answered, and the rule is decided again.
 *
 * Whoever answers is ring 1, and what they say is hostile by assumption.
 */

import type { Json, JsonObject } from '../json/json.ts';
import type { Fault } from '../values/fault.ts';
import type { Result } from '../values/result.ts';

/**
 * Who can be asked. `llm` is the model port, `predicate` a function of the user's in a confined process; the others stand
 * behind addresses that the user gives.
 */
export const SERVICES = ['llm', 'embedding', 'moderation', 'ocr', 'predicate'] as const;
export type ServiceName = (typeof SERVICES)[number];

/** What is asked for a rule. Holds content of the trace, which may be protected. */
export interface Question {
  /** `text`: nobody outside; a confined process of ours computes the answer from a text that the hub does not look at itself. */
  readonly service: ServiceName | 'text';
  /** Identifies all of it (SHA-256 for a service): the same question has the same answer. */
  readonly digest: string;
  readonly input: JsonObject;
}

/** What is known so far. A failure says why there is no answer, and names no content. */
export interface AnswerBook {
  /** Null: nobody has answered yet. */
  find(question: Pick<Question, 'service' | 'digest'>): Result<Json, string> | null;
  /** A failure is kept for a short time only. */
  keep(question: Question, answer: Result<Json, string>): void;
}

/** Judges texts for rules: computes the answers to questions for `text`, and keeps them where the rules look. */
export interface TextJudge {
  /** Settles when the book that the rules read has an answer or a failure. Never rejects. */
  answer(question: Question): Promise<void>;
  /** Nobody asks for now: what it keeps running ends once it has answered, until the next question. */
  rest(): void;
}

/** A service of the user's beside the models. It may be slow, broken or hostile. */
export interface Service {
  /** As the journal and the policy know it: `endpoint/embedding`. */
  readonly name: string;
  answer(question: Question, signal: AbortSignal): Promise<Result<Json, Fault>>;
}
