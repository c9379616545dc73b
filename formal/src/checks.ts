/**
 * What is checked: each model within its bounds, and each model with one thing broken in it, which must be found. A property
 * that no broken model violates says nothing, so there is at least one for each.
 */
import type { SearchKind } from './spin.ts';

/** A model with nothing broken. */
export interface Check {
  readonly model: string;
  readonly kind: SearchKind;
  /** `-D` flags beside the bounds that the model has by itself. */
  readonly bounds: readonly string[];
  /** Only with `--full`: takes minutes. */
  readonly isLarge: boolean;
}

/** A model with one thing broken: `MUTANT_<name>`. */
export interface Mutant {
  readonly model: string;
  readonly name: string;
  readonly kind: SearchKind;
  readonly bounds: readonly string[];
  /** What the counterexample must violate. */
  readonly breaks: string;
}

const LIVE_BOUNDS: Readonly<Record<string, readonly string[]>> = {
  gate: ['STEPS=1'],
  exchange: ['CONTEXTS=3'],
  prompts: [],
};

export const CHECKS: readonly Check[] = [
  ...['grants', 'gate', 'exchange', 'prompts'].map((model) => safety(model)),
  ...Object.keys(LIVE_BOUNDS).map((model) => liveness(model)),
  safety('gate', ['CRASHES=0', 'MOST_DOUBTS=1', 'EDITS=true']),
  safety('grants', ['OTHER_ACTIONS=2'], true),
  safety('gate', ['MOST_DOUBTS=1', 'EDITS=true'], true),
  safety('exchange', ['CONTEXTS=3', 'REQUESTS=3', 'DEPTH=2'], true),
  safety('prompts', ['CRASHES=3'], true),
  liveness('gate', ['STEPS=2'], true),
  liveness('exchange', ['CONTEXTS=4'], true),
];

export const MUTANTS: readonly Mutant[] = [
  broken('grants', 'CONSUME_IN_TWO_STEPS', 'dead_grant_never_fires'),
  broken('grants', 'CONSUME_AFTER_EFFECT', 'once_grant_fires_once'),
  broken('grants', 'NO_CONSUME', 'dead_grant_never_fires'),
  broken('grants', 'EXPIRY_UNCHECKED', 'dead_grant_never_fires'),
  broken('grants', 'ANY_SESSION', 'grant_stays_in_its_session'),
  broken('grants', 'ANY_DIGEST', 'grant_is_for_what_was_shown'),
  broken('grants', 'PERMANENT_IRREVERSIBLE', 'irreversible_is_never_granted_for_long'),
  broken('gate', 'EFFECT_BEFORE_JOURNAL', 'effect_only_when_allowed'),
  broken('gate', 'DECISION_NOT_SYNCED', 'decision_is_on_the_disk_first'),
  broken('gate', 'SPENT_TWICE', 'one_effect_for_one_decision'),
  broken('gate', 'SILENT_RETRY', 'crash_never_doubles_an_effect'),
  broken('gate', 'FINISHED_IS_FORGOTTEN', 'crash_never_doubles_an_effect'),
  broken('gate', 'OLD_YES_REPEATS', 'crash_never_doubles_an_effect'),
  broken('gate', 'SILENCE_IS_CONSENT', 'permission_where_it_is_needed'),
  broken('gate', 'JOINED_YES', 'permission_where_it_is_needed'),
  broken('gate', 'DECIDED_BEFORE_THE_ANSWER', 'decided_again_after_the_answer'),
  broken('gate', 'YES_AFTER_THE_END', 'no_yes_after_the_end'),
  broken('gate', 'PERMANENT_IRREVERSIBLE', 'irreversible_is_never_granted_for_long'),
  broken('gate', 'REVOKED_STAYS_FOUND', 'dead_grant_never_fires'),
  broken('gate', 'ONCE_IS_NOT_SPENT', 'once_grant_fires_once'),
  broken('gate', 'THREAD_HELD', 'no deadlock'),
  broken('gate', 'ASKED_FOR_EVER', 'every_query_ends', 'liveness'),
  broken('exchange', 'SERVED_BEFORE_DECIDED', 'served_only_when_allowed'),
  broken('exchange', 'REFUSED_RESPONSE_DELIVERED', 'delivered_only_when_allowed'),
  broken('exchange', 'ANY_PEER', 'peer_id_is_of_no_use_elsewhere'),
  broken('exchange', 'NO_DEPTH', 'depth_is_bounded'),
  broken('exchange', 'REQUEST_AFTER_THE_END', 'no_request_after_the_end'),
  broken('exchange', 'TOLD_TWICE', 'one_reply_for_one_request'),
  broken('exchange', 'NEVER_TOLD', 'no deadlock'),
  broken('exchange', 'NO_IDLE_LIMIT', 'every_query_ends', 'liveness'),
  broken('exchange', 'STOP_NOT_PASSED_ON', 'every_query_ends', 'liveness'),
  broken('prompts', 'CLOSED_IN_TWO_STEPS', 'accepted_answer_counts'),
  broken('prompts', 'LAST_ANSWER_COUNTS', 'first_answer_counts'),
  broken('prompts', 'ANSWERED_AFTER_THE_END', 'no_answer_after_the_end'),
  broken('prompts', 'TAKEN_AGAIN', 'one_yes_one_effect'),
  broken('prompts', 'NOISE_IS_YES', 'yes_only_if_somebody_said_it'),
  broken('prompts', 'NOT_TAKEN_UP_AGAIN', 'every_question_ends', 'liveness'),
];

function safety(model: string, bounds: readonly string[] = [], isLarge = false): Check {
  return { model, kind: 'safety', bounds, isLarge };
}

function liveness(model: string, bounds = LIVE_BOUNDS[model] ?? [], isLarge = false): Check {
  return { model, kind: 'liveness', bounds, isLarge };
}

function broken(model: string, name: string, breaks: string, kind: SearchKind = 'safety'): Mutant {
  return { model, name, kind, breaks, bounds: kind === 'liveness' ? (LIVE_BOUNDS[model] ?? []) : [] };
}
