/** Asking someone for a rule: the question is noted, and its answer is there when the rule is decided again. */

import { createHash } from 'node:crypto';
import {
  type AnswerBook,
  canonicalJson,
  type Json,
  type JsonObject,
  type Question,
  type ServiceName,
} from '@cordon/core';
import { awaiting, type NoAnswer, noAnswer } from '@cordon/policy';
import { NO_ANSWERS } from './answer-book.ts';
/** A module of the user's functions, without its code. */
export interface DeclaredModule {
  /** The digest of all of its code: an answer of other code is another answer. */
  readonly digest: string;
  /** By name, the parameters of each function. */
  readonly functions: ReadonlyMap<string, readonly [string, ...string[]]>;
}

/** Who answers here. */
export interface Asking {
  readonly book: AnswerBook;
  readonly offers: ReadonlySet<ServiceName>;
  /** `provider/model` behind `llm`: a rule may name it, and no other. */
  readonly model: string | null;
  /** Modules of the user's whose functions rules may call; absent: none. */
  readonly own?: readonly DeclaredModule[];
}

export const NOBODY_ANSWERS: Asking = { book: NO_ANSWERS, offers: new Set(), model: null };

/** Of all texts of one question, in UTF-16 units: more fits into no model, and costs. */
const MOST_ASKED = 200_000;

/** The answer to a question; else why the rule is undecided, or what it waits for. */
export function asked(
  { book, offers }: Asking,
  service: ServiceName,
  input: JsonObject,
): { readonly answer: Json } | NoAnswer {
  if (!offers.has(service)) return noAnswer(`\`${service}\` is not set up: see \`detectors\` in cordon.json`);
  const content = canonicalJson(input);
  if (service !== 'ocr' && content.length > MOST_ASKED)
    return noAnswer(`a question has more than ${MOST_ASKED} characters`);
  const digest = createHash('sha256').update(`${service}\n${content}`).digest('hex');
  const question: Question = { service, digest, input };
  const known = book.find(question);
  if (known === null) return awaiting(question);
  return known.ok ? { answer: known.value } : noAnswer(known.fault);
}
