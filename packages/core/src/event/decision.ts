/**
 * Decisions, and the proof of one. Every effect takes an `Allowed` made for exactly that effect; only the
 * reference monitor makes them, and each is good for one use.
 */
import type { EventId, RuleId } from '../values/id.ts';
import type { AnyProposal, Proposal } from './proposal.ts';

/** Why: the rule, its message, and the events that it looked at. Never holds protected values. */
export interface Reason {
  readonly rule: RuleId;
  /** From the rule's author, or from the permission model. */
  readonly message: string;
  readonly events: readonly EventId[];
  /** `undecided`: the rule could not be evaluated, and what cannot be decided is denied. */
  readonly because: 'rule' | 'undecided' | 'permission' | 'fault';
}

export type Decision =
  | { readonly verdict: 'allow'; readonly warnings: readonly Reason[] }
  | { readonly verdict: 'ask'; readonly reasons: readonly Reason[]; readonly warnings: readonly Reason[] }
  | { readonly verdict: 'deny'; readonly reasons: readonly Reason[]; readonly warnings: readonly Reason[] };

declare const proof: unique symbol;

/**
 * Proof that the monitor allowed this very proposal. Opaque: the proposal comes back only by spending it, once
 * (`ReferenceMonitor.spend`), so an effect cannot be repeated with one decision or redirected to another target.
 */
export interface Allowed<P extends AnyProposal = Proposal> {
  readonly [proof]: P;
}

export type Ruling<P extends AnyProposal = Proposal> =
  | { readonly allowed: true; readonly allowance: Allowed<P>; readonly warnings: readonly Reason[] }
  | { readonly allowed: false; readonly reasons: readonly Reason[] };
