/**
 * How a query ends, for the user and the journal.
 *
 * Ring 0.
 */
import type { Fault, QueryLimit, Result } from '@cordon/core';
import type { Query } from '../context/query.ts';

/** What the user gets. `refused` may carry an answer too: the model's account of what it could not do. */
export interface Outcome {
  readonly kind: 'answered' | 'refused' | 'failed' | 'cancelled';
  readonly answer: string | null;
  readonly reason: string | null;
  readonly help: string | null;
}

/** `served`: the text that the user has, or why there is none. */
export function outcomeOf(query: Query, served: Result<{ readonly text: string }, Fault>): Outcome {
  const { refusal } = query;
  const over = query.budget.exceeded;
  if (!served.ok && over !== null) {
    const { message, help = null } = over.fault;
    return { kind: 'failed', answer: null, reason: message, help };
  }
  if (served.ok) {
    const { text } = served.value;
    if (refusal === null) return { kind: 'answered', answer: text, reason: null, help: null };
    return { kind: 'refused', answer: text, reason: refusal.message, help: null };
  }
  const { kind, message, help = null } = served.fault;
  if (refusal !== null) return { kind: 'refused', answer: null, reason: refusal.message, help: null };
  if (kind === 'cancelled' && query.signal.aborted)
    return { kind: 'cancelled', answer: null, reason: message, help };
  return { kind: kind === 'cancelled' ? 'refused' : 'failed', answer: null, reason: message, help };
}

/** The limit that a failed query reached: its own, or that of the turn that it ended with. */
export function limitOf({ budget }: Query, { kind }: Fault): { readonly limit?: QueryLimit } {
  if (budget.exceeded !== null) return { limit: budget.exceeded.limit };
  return kind === 'budget-exceeded' ? { limit: 'steps' } : {};
}
