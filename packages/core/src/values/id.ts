/** Identifiers. Each kind is its own type, so that a session is never taken for a grant. */
declare const kind: unique symbol;
export type Id<K extends string> = string & { readonly [kind]: K };

/** The key of the app in the user's configuration; the user chose it, so it may be shown anywhere on the hub's side. */
export type AppId = Id<'app'>;
export type SessionId = Id<'session'>;
export type EventId = Id<'event'>;
/** One LLM context, or the app process behind one. */
export type ContextId = Id<'context'>;
/** A rule of the policy, or a built-in requirement of the permission model (`permission/irreversible`). */
export type RuleId = Id<'rule'>;
export type GrantId = Id<'grant'>;
/** What a spoke calls the peer of one exchange: random, useless in any other context (paper, IV-C3). */
export type EphemeralId = Id<'ephemeral'>;
/** The name of a functionality, e.g. `ride-fare`; says what is done, never who does it. */
export type FunctionalityName = Id<'functionality'>;

/** The only way to make an id: `text` is checked by the caller's parser or made by the caller itself. */
export function id<K extends string>(text: string): Id<K> {
  return text as Id<K>;
}

/** Names that people and apps choose must be short and plain: they are shown in prompts and put into paths. */
export const NAME_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
