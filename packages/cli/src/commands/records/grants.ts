/** `cordon grants list|revoke|expire|export`: what the user agreed to, and taking it back. */

import { minuteOf, parseEnd } from '@cordon/config';
import { suggestion } from '@cordon/config/reading';
import {
  type Event,
  failed,
  fault,
  type GrantDuration,
  id,
  ok,
  PERMISSION_SCOPES,
  type PermissionSubject,
  type Result,
} from '@cordon/core';
import { renderTable } from '@cordon/print';
import type { GrantFilter, GrantRecord, Store } from '@cordon/trace';
import { BrokenRows } from '../../context/broken-rows.ts';
import type { CommandContext } from '../../context/command-context.ts';
import { EXIT, type ExitCode } from '../../context/exit.ts';
import { withStore } from '../../context/opened-store.ts';

/** As commander parses them. */
export interface GrantOptions {
  /** Also those that no longer authorise anything. */
  readonly all?: boolean;
  readonly scope?: string;
  readonly app?: string;
  readonly session?: string;
  readonly duration?: string;
}

const DURATIONS: readonly GrantDuration[] = ['once', 'session', 'until', 'permanent'];

export function listGrants(context: CommandContext, options: GrantOptions): Promise<ExitCode> {
  return withGrants(context, options, (store, filter) => {
    const broken = new BrokenRows('the grant');
    // Also of those that are listed with `--all` only: what was changed may have been in force.
    store.grants.list({ ...filter, live: false }, broken.collect);
    const grants = store.grants.list(filter, () => undefined);
    if (context.wantsJson) {
      for (const grant of grants) context.json({ kind: 'grant', ...grant, state: stateOf(store, grant) });
    } else if (grants.length === 0) {
      if (broken.isEmpty) context.output.say('', 'there are no grants');
    } else {
      const rows = grants.map((grant) => [
        grant.id,
        subjectOf(grant.subject),
        lengthOf(grant),
        minuteOf(grant.givenAt),
        ...(options.all === true ? [stateOf(store, grant)] : []),
      ]);
      const headers = ['id', 'what', 'how long', 'given', ...(options.all === true ? ['state'] : [])];
      renderTable(context.output, headers, rows);
    }
    printUntagged(context, store);
    return broken.report(context);
  });
}

/** What the list leaves out because it was made without the key. */
function printUntagged({ notes, wantsJson }: CommandContext, store: Store): void {
  const found = store.rightsWithoutEffect().find(({ table }) => table === 'grants');
  const { untagged = 0 } = found ?? {};
  if (wantsJson) return;
  if (untagged > 0)
    notes.say('', `${untagged} grants were made without the key and permit nothing: see \`--all\``, 'warn');
}

/** One by its id, or all that the options name. */
export async function revokeGrants(
  context: CommandContext,
  grant: string | undefined,
  options: GrantOptions,
): Promise<ExitCode> {
  const isNamed = [options.scope, options.app, options.session, options.duration].some(
    (named) => named !== undefined,
  );
  if ((grant === undefined) === (options.all !== true && !isNamed)) {
    return context.reportFault({
      kind: 'usage',
      message: 'name one grant, or say which: `--app`, `--scope`, `--session`, `--duration`, `--all`',
    });
  }
  return withGrants(context, { ...options, all: false }, (store, filter) => {
    const broken = new BrokenRows('the grant');
    const wanted =
      grant === undefined
        ? store.grants.list(filter, broken.collect).map((listed) => listed.id)
        : [id<'grant'>(grant)];
    const revoked = wanted.filter((one) => store.grants.revoke(one));
    for (const one of wanted) {
      if (context.wantsJson)
        context.json({ kind: 'grant.revoked', grant: one, revoked: revoked.includes(one) });
      else if (revoked.includes(one)) context.output.say('', `${one} is revoked`);
      else context.notes.say('cordon: ', `no grant ${one} to revoke; see \`cordon grants list\``, 'bad');
    }
    if (wanted.length === 0 && !context.wantsJson) context.output.say('', 'there are no grants');
    const reported = broken.report(context);
    return revoked.length === wanted.length ? reported : EXIT.failed;
  });
}

/** Sets an end, or an earlier one. */
export async function expireGrant(
  context: CommandContext,
  grant: string,
  { at }: { readonly at?: string },
): Promise<ExitCode> {
  const now = context.now();
  const end = at === undefined ? ok(now) : parseEnd(at, now);
  if (!end.ok)
    return context.reportFault(fault('usage', `\`${at}\` is not a time in the future: ${end.fault}`));
  return withGrants(context, {}, (store) => {
    const isSet = store.grants.expire(id(grant), end.value);
    if (context.wantsJson) context.json({ kind: 'grant.expires', grant, expires: isSet, endsAt: end.value });
    else if (isSet) context.output.say('', `${grant} ends ${at === undefined ? 'now' : minuteOf(end.value)}`);
    else
      context.notes.say('cordon: ', `no grant ${grant} that lasts longer; see \`cordon grants list\``, 'bad');
    return isSet ? EXIT.done : EXIT.failed;
  });
}

/** Everything that was ever granted, with the question as it was shown: one JSON document in one line. */
export function exportGrants(context: CommandContext, options: GrantOptions): Promise<ExitCode> {
  return withGrants(context, { ...options, all: true }, (store, filter) => {
    const shown = allShown(store);
    const broken = new BrokenRows('the grant');
    const grants = [...store.grants.list(filter, broken.collect)].reverse().map((grant) => {
      const asked = grant.prompt === null ? undefined : shown.get(grant.prompt);
      return { ...grant, state: stateOf(store, grant), asked: asked ?? null };
    });
    const document = { format: 'cordon-grants', version: 1, exportedAt: context.now(), grants };
    context.json(document);
    return broken.report(context);
  });
}

type Shown = { readonly session: string; readonly prompt: string } & Pick<Answered, 'shown' | 'edits'>;
type Answered = Extract<Event, { kind: 'permission.answered' }>;

/** What the user saw at each question, by its event; those of deleted sessions are gone. */
function allShown(store: Store): ReadonlyMap<string, Shown> {
  const shown = new Map<string, Shown>();
  for (const { id: session } of store.sessions.list(MOST_SESSIONS)) {
    for (const event of store.journal.events(session)) {
      if (event.kind !== 'permission.answered') continue;
      const { prompt, shown: seen, edits } = event;
      shown.set(prompt, {
        session,
        prompt,
        ...(seen === undefined ? {} : { shown: seen }),
        ...(edits === undefined ? {} : { edits }),
      });
    }
  }
  return shown;
}

const MOST_SESSIONS = 1_000_000;

type State = 'not what was granted' | 'in force' | 'used' | 'revoked' | 'over' | 'its session ended';

function stateOf(store: Store, grant: GrantRecord): State {
  const { revokedAt, usedAt, expiredAt, session } = grant;
  if (!grant.isAuthentic) return 'not what was granted';
  if (revokedAt !== null) return 'revoked';
  if (usedAt !== null) return 'used';
  if (expiredAt !== null) return 'over';
  const isEnded = session !== null && store.sessions.find(session)?.status === 'ended';
  return isEnded ? 'its session ended' : 'in force';
}

async function withGrants(
  context: CommandContext,
  options: GrantOptions,
  use: (store: Store, filter: GrantFilter) => ExitCode,
): Promise<ExitCode> {
  const filter = filterOf(options);
  if (!filter.ok) return context.reportFault(fault('usage', filter.fault));
  return withStore(context, (store) => use(store, filter.value));
}

function filterOf({ all, scope, app, session, duration }: GrantOptions): Result<GrantFilter, string> {
  const knownScope = PERMISSION_SCOPES.find((known) => known === scope);
  if (scope !== undefined && knownScope === undefined)
    return failed(unknownWord('scope', scope, PERMISSION_SCOPES));
  const knownDuration = DURATIONS.find((known) => known === duration);
  if (duration !== undefined && knownDuration === undefined)
    return failed(unknownWord('duration', duration, DURATIONS));
  return ok({
    live: all !== true,
    ...(knownScope === undefined ? {} : { scope: knownScope }),
    ...(knownDuration === undefined ? {} : { duration: knownDuration }),
    ...(app === undefined ? {} : { app: id<'app'>(app) }),
    ...(session === undefined ? {} : { session: id<'session'>(session) }),
  });
}

function unknownWord(what: string, word: string, words: readonly string[]): string {
  const help = suggestion(word, words, `one of ${words.join(', ')}`);
  return `there is no ${what} \`${word.slice(0, 40)}\`: ${help}`;
}

function lengthOf({ duration, endsAt }: GrantRecord): string {
  if (endsAt === null) return duration;
  return duration === 'until' ? `until ${minuteOf(endsAt)}` : `${duration}, until ${minuteOf(endsAt)}`;
}

function subjectOf({ scope, from, to, what }: PermissionSubject): string {
  return `${scope}: ${from ?? 'assistant'} → ${to ?? 'user'}, ${what}`;
}
