/**
 * A question while it stands before the user: on the surface of the session, and in the store, where another process can
 * answer it. The first answer counts; once the question is over, none does.
 */
import type { EventId } from '@cordon/core';
import type { StoredAnswer, StoredQuestion } from '@cordon/trace';

/** Questions that wait where other processes can answer them; implemented by the store. */
export interface WaitingPrompts {
  /** Null: it cannot be kept, and can be answered here only. */
  open(question: StoredQuestion, fingerprint: string): { readonly id: EventId } | null;
  answered(prompt: EventId): StoredAnswer | null;
  close(prompt: EventId): StoredAnswer | null;
}

export interface OpenQuestionParts {
  readonly prompts: WaitingPrompts;
  /** Resolves after so many milliseconds, or when the signal aborts. */
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

export interface FirstAnswer {
  readonly answer: StoredAnswer;
  /** From the session's own surface, or from another process. */
  readonly from: 'here' | 'elsewhere';
}

/** How often it is looked whether somebody answered elsewhere. */
const LOOK_MS = 200;

/**
 * Puts the question to `ask`, under the id that others know it by, and waits for the first answer. Null: the signal
 * aborted before there was one. What `ask` throws is thrown, and the question is over.
 */
export async function firstAnswer(
  { prompts, pause }: OpenQuestionParts,
  question: StoredQuestion,
  fingerprint: string,
  signal: AbortSignal,
  ask: (shown: EventId, signal: AbortSignal) => Promise<StoredAnswer>,
): Promise<FirstAnswer | null> {
  if (signal.aborted) return null;
  const shown = prompts.open(question, fingerprint)?.id ?? question.prompt.id;
  const done = new AbortController();
  const waiting = AbortSignal.any([signal, done.signal]);
  let here: FirstAnswer | null = null;
  try {
    const asking = async () => {
      here = { answer: await ask(shown, waiting), from: 'here' };
    };
    const looking = async () => {
      while (!waiting.aborted && prompts.answered(shown) === null) await pause(LOOK_MS, waiting);
    };
    // An answer that was given while nobody asked needs no surface.
    if (prompts.answered(shown) === null) await Promise.race([asking(), looking()]);
  } finally {
    done.abort();
    const elsewhere = prompts.close(shown);
    // It is looked for now and then only: a no that the user has seen taken here is not overruled by a yes of that moment.
    if (elsewhere !== null && !isUsersNo(here)) here = { answer: elsewhere, from: 'elsewhere' };
  }
  return signal.aborted ? null : here;
}

function isUsersNo(first: FirstAnswer | null): boolean {
  if (first?.answer.kind !== 'permission') return false;
  const { answer } = first.answer;
  return !answer.allow && answer.reason === 'user';
}
