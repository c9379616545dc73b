/**
 * Grants: what the user agreed to that lasts, and what it is bound to.
 *
 * Ring 0.
 */
import {
  type AppId,
  canonicalJsonOf,
  type EventId,
  type Grant,
  type GrantTerm,
  type PermissionSubject,
} from '@cordon/core';
import type { Recorder } from '../journal/recorder.ts';

/** The grants of one session's user; implemented by the store. */
export interface Grants {
  find(subject: PermissionSubject, digest: string): Grant | null;
  /** Null: the store refuses it, and it authorises nothing. */
  give(gift: GrantGift): Grant | null;
  /** Uses a grant for one action; false when it was revoked, is over or was used. */
  consume(grant: Grant): boolean;
  /** Whether a flow was ever permitted and not taken back. */
  hasFlowed(flow: string): boolean;
  /** Whether a lasting grant of this subject was given when its apps were something else. */
  isOutdated(subject: PermissionSubject, binding: string): boolean;
}

export type GrantGift = GrantTerm & {
  readonly subject: PermissionSubject;
  readonly digest: string;
  readonly binding: string;
  readonly prompt: EventId;
  readonly flows: readonly string[];
};

/** What tells whether an app is still the one that the user agreed to. */
export interface IdentityParts {
  /** Digest of what an app is: its command, its manifest, what it says of itself. Null: nobody has agreed to it. */
  readonly identityOf: (app: AppId) => string | null;
  readonly digest: (text: string) => string;
  readonly recorder: Recorder;
}

/** What the apps of a subject are. Null: nobody has agreed to one of them, so no answer about it lasts. */
export function bindingOf(
  { from, to }: PermissionSubject,
  { identityOf, digest }: Pick<IdentityParts, 'identityOf' | 'digest'>,
): string | null {
  const identities = [from, to].map((app) => (app === null ? 'none' : identityOf(app)));
  return identities.includes(null) ? null : digest(canonicalJsonOf(identities));
}

/**
 * What an app was when the interrupted query asked about it. Where the user agreed to the app later in that query, nobody had
 * agreed to it yet.
 */
export function identityThen({ identityOf, recorder }: IdentityParts): IdentityParts['identityOf'] {
  const pinned = recorder.cursor?.pinned;
  return (app) => {
    const identity = identityOf(app);
    return identity !== null && pinned?.get(app) === identity ? null : identity;
  };
}

export function termOf(term: GrantTerm): GrantTerm {
  return term.duration === 'until'
    ? { duration: term.duration, until: term.until }
    : { duration: term.duration };
}
