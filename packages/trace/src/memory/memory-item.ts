/** What memory holds, and for whom. */
import type { AppId, EventId, Label, SessionId } from '@cordon/core';

/** `vanilla`: the contexts without app. `shared`: the one context of `--isolation none`. `spoke`: those of an app. */
export type MemoryOwner =
  | { readonly kind: 'system' | 'vanilla' | 'shared' }
  | { readonly kind: 'spoke'; readonly app: AppId };

/** Where something comes from. */
export interface Provenance {
  /** The app whose words it is or in whose context it was learnt; null: the user or the hub. */
  readonly origin: AppId | null;
  /** The event that carried it; null: none. */
  readonly source: EventId | null;
  readonly label: Label;
  /** Of a turn or a summary: closed values may stand in it that others may have chosen. They taint nothing; absent: no. */
  readonly holdsOthersValues?: boolean;
}

export type TurnRole = 'user' | 'assistant' | 'tool';

/** Names one row, over all owners; only the user's own commands find something by it. */
export type ItemId = string;

/** What a row of memory says besides. */
export interface Kept {
  /** The user has put another text there than the one that was kept; absent: no. */
  readonly isCorrected?: true;
}

export interface Turn extends Provenance, Kept {
  readonly id: ItemId;
  readonly session: SessionId;
  readonly role: TurnRole;
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
}

/** `stated`: the user said it. `observed`: a value of an app's output, as its manifest says. */
export type FactKind = 'stated' | 'observed';

export interface MemoryFact extends Provenance, Kept {
  readonly id: ItemId;
  readonly name: string;
  readonly value: string;
  readonly learnt: FactKind;
  /** When it was last learnt. */
  readonly time: number;
}

/** What became of the older turns of a session. */
export interface Summary extends Omit<Provenance, 'origin'>, Kept {
  readonly id: ItemId;
  readonly session: SessionId;
  readonly text: string;
  readonly madeBy: 'model' | 'extract';
  readonly time: number;
}

/** A turn of a session that its summary does not cover yet, with its place in the history. */
export interface OpenTurn extends Turn {
  readonly place: number;
}

export interface NewSummary extends Omit<Provenance, 'origin'> {
  readonly text: string;
  readonly madeBy: Summary['madeBy'];
  /** `place` of the last turn that it covers. */
  readonly through: number;
}
