/** How a query ends, for the user and the journal. */
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
  const { refusal, budget, signal } = query;
  const answer = served.ok ? served.value.text : null;
  if (!served.ok && budget.exceeded !== null) return withoutAnswer('failed', budget.exceeded.fault);
  if (refusal !== null) return { kind: 'refused', answer, reason: refusal.message, help: null };
  if (served.ok) return { kind: 'answered', answer, reason: null, help: null };
  if (served.fault.kind !== 'cancelled') return withoutAnswer('failed', served.fault);
  return withoutAnswer(signal.aborted ? 'cancelled' : 'refused', served.fault);
}

function withoutAnswer(kind: Outcome['kind'], { message, help }: Fault): Outcome {
  return { kind, answer: null, reason: message, help: help ?? null };
}

/** The limit that a failed query reached: its own, or that of the turn that it ended with. */
export function limitOf({ budget }: Query, { kind }: Fault): { readonly limit?: QueryLimit } {
  if (budget.exceeded !== null) return { limit: budget.exceeded.limit };
  return kind === 'budget-exceeded' ? { limit: 'steps' } : {};
}
