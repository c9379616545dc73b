/**
 * A request that names a peer of its context and fits the format of what it asks for; nothing is decided yet.
 *
 * Ring 0.
 */
import type { EphemeralId, InstalledApp, Json, Result } from '@cordon/core';
import type { Context, Peer } from '../context/context.ts';
import type { Query } from '../context/query.ts';
import type { PlacedText } from '../context/references.ts';

export interface CheckedRequest {
  readonly context: Context;
  readonly query: Query;
  readonly peerId: EphemeralId;
  readonly peer: Peer;
  readonly app: InstalledApp;
  /** With each reference replaced by its text. */
  readonly message: Json;
  /** The texts of others that stand in it. */
  readonly texts: readonly PlacedText[];
  /** Whether another message fits the format too. */
  readonly check: (message: Json) => Result<Json, string>;
  /** Aborts when the turn that asked is over. */
  readonly signal: AbortSignal;
}
