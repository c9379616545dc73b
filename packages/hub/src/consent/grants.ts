/** Grants: what the user agreed to that lasts, and what it is bound to. */
import {
  type AppId,
  canonicalJsonOf,
  type EventId,
  type Grant,
  type GrantTerm,
  type PermissionSubject,
  type SessionId,
} from '@cordon/core';
import type { Store } from '@cordon/trace';
import type { Context } from '../context/context.ts';
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

/**
 * A grant that lasts, used for one action; null: there is none, or it was taken back. A yes for once is for the data that were
 * shown and is spent when it is given: one that a crash left is worth nothing.
 */
export function usedGrant(grants: Grants, subject: PermissionSubject, digest: string): Grant | null {
  const grant = grants.find(subject, digest);
  if (grant === null || grant.digest !== digest || grant.duration === 'once') return null;
  return grants.consume(grant) ? grant : null;
}

/** Keeps a grant and records it; null: the store refuses it. */
export function keepGrant(
  { grants, recorder }: { readonly grants: Grants; readonly recorder: Recorder },
  context: Context | null,
  gift: GrantGift,
): Grant | null {
  const grant = grants.give(gift);
  if (grant === null) return null;
  const given = { kind: 'grant.given', grant: grant.id, subject: gift.subject, ...termOf(gift) } as const;
  recorder.record(context, given, { causes: [gift.prompt] });
  return grant;
}

/** The grants that count in one session. A grant that the store refuses to keep authorises nothing. */
export function sessionGrants(store: Store, session: SessionId): Grants {
  return {
    find: (subject, digest) => store.grants.find(subject, session, digest),
    give: (gift) => {
      const given = store.grants.give({ ...gift, session });
      return given.ok ? given.value : null;
    },
    consume: (grant) => store.grants.consume(grant.id, session),
    hasFlowed: (flow) => store.grants.hasFlowed(flow),
    isOutdated: (subject, binding) => store.grants.isOutdated(subject, binding),
  };
}

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
