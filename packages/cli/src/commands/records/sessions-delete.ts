/** `cordon sessions delete`: a session goes with its journal, history, grants and questions. */
import { fault, id, type SessionId } from '@cordon/core';
import type { Store } from '@cordon/trace';
import type { CommandContext } from '../../context/command-context.ts';
import { confirmed } from '../../context/confirmation.ts';
import { EXIT, type ExitCode } from '../../context/exit.ts';
import { withStore } from '../../context/opened-store.ts';

export interface SessionDeletion {
  /** Also sessions in which nothing has happened for so many days. */
  readonly olderThan?: number | undefined;
  readonly yes?: boolean | undefined;
}

const DAY_MS = 86_400_000;

/** Reports those that do not exist or are in use, and deletes the others. */
export async function deleteSessions(
  context: CommandContext,
  names: readonly string[],
  { olderThan, yes = false }: SessionDeletion,
): Promise<ExitCode> {
  if (names.length === 0 && olderThan === undefined) {
    const help = 'name sessions, or give `--older-than`; `cordon sessions` lists them';
    return context.reportFault(fault('usage', 'nothing was named to delete', help));
  }
  return withStore(context, async (store) => {
    const sessions = [...new Set([...names.map((name): SessionId => id(name)), ...old(store, olderThan)])];
    const question = `Delete ${sessions.length} ${sessions.length === 1 ? 'session' : 'sessions'}, with journal, history and grants?`;
    if (sessions.length > 0 && !(await confirmed(context, question, yes))) return EXIT.refused;
    return deleteAll(context, store, sessions);
  });
}

function old({ sessions }: Store, days: number | undefined): readonly SessionId[] {
  if (days === undefined) return [];
  const before = Date.now() - days * DAY_MS;
  return sessions
    .list(Number.MAX_SAFE_INTEGER)
    .filter(({ lastAt, status }) => lastAt < before && status !== 'running')
    .map((session) => session.id);
}

function deleteAll(context: CommandContext, store: Store, sessions: readonly SessionId[]): ExitCode {
  let exit: ExitCode = EXIT.done;
  let events = 0;
  let deleted = 0;
  for (const session of sessions) {
    const erased = store.eraseSession(session);
    if (erased.ok) {
      deleted++;
      events += erased.value.events;
    } else {
      const { message, help } = erased.fault;
      context.reportFault(fault('journal-unavailable', message, help));
      exit = EXIT.failed;
    }
  }
  const isScrubbed = deleted === 0 || store.scrub();
  if (context.wantsJson)
    context.json({ kind: 'sessions.deleted', sessions: deleted, events, scrubbed: isScrubbed });
  else {
    context.output.say('', `deleted: ${deleted} sessions with ${events} events`);
    if (!isScrubbed)
      context.notes.say(
        '!! ',
        'another process uses the store: its file still contains the deleted texts',
        'warn',
      );
    context.notes.say(
      '',
      'facts do not belong to a session and are kept: `cordon memory show --kind fact`',
      'dim',
    );
  }
  return exit;
}
