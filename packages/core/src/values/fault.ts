/**
 * A fault is something outside that failed: a process died, a peer broke the protocol, a time limit passed.
 * It travels as a value to the nearest boundary that fails closed.
 */

/** Each boundary names its kinds; the set is closed so that every handler covers all of them. */
export type FaultKind =
  | 'app-unavailable' // the app's process could not be started, or ended before it answered
  | 'app-timeout' // the app did not answer within its limit
  | 'app-protocol' // the app sent something that is not MCP, or too much of it
  | 'app-error' // the app answered with a JSON-RPC error
  | 'app-unreviewed' // nobody has agreed to what the app says of itself, or it says something else now
  | 'spoke-unavailable' // the agent loop's process could not be started, or ended before its answer
  | 'spoke-protocol' // the agent loop sent something that is not the hub-spoke protocol
  | 'budget-exceeded' // steps, time, tokens or bytes ran out
  | 'answer-unfit' // a context that serves another's request gave no answer of its format
  | 'model-failure' // the model provider failed; `message` says how
  | 'sandbox-unavailable' // a layer of the sandbox could not be set up
  | 'journal-unavailable' // the data folder cannot be used
  | 'usage' // the command line asks for what there is not
  | 'interrupted' // the hub itself ended before the outcome was recorded
  | 'cancelled'; // the user stopped the query

export interface Fault {
  readonly kind: FaultKind;
  /** One sentence, lower-case start, no full stop. */
  readonly message: string;
  /** What the reader can do about it. */
  readonly help?: string;
  /** What was asked for may have happened all the same. Absent: it is known that it did not. */
  readonly outcome?: 'unknown';
}

export function fault(kind: FaultKind, message: string, help?: string): Fault {
  return help === undefined ? { kind, message } : { kind, message, help };
}
