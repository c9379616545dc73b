/**
 * Opening a session from the command line: its events are told as they happen, what is weaker than usual is said first.
 *
 * Ring 1.
 */
import { id, type SessionId } from '@cordon/core';
import type { Session } from '@cordon/hub';
import type { Composed } from '../compose.ts';
import type { Surroundings } from './surroundings.ts';

const BASELINE_NOTICE =
  'BASELINE: no isolation. All apps share one context, no policy is in force, nobody is asked. For comparison only.';

/** Null: the session cannot be opened, and why has been told. */
export function openTold(
  surroundings: Surroundings,
  composed: Composed,
  resume: string | undefined,
): Session | null {
  const { hub, store } = composed;
  const isolation = surroundings.options.isolation === 'none' ? 'none' : 'spokes';
  const notices = isolation === 'none' ? [BASELINE_NOTICE] : [];
  surroundings.tellDiagnostics(composed.warnings);
  if (!surroundings.wantsJson) for (const notice of notices) surroundings.notes.say('!! ', notice, 'bad');
  store.journal.subscribe((event) => surroundings.tell(event));
  const opened = hub.openSession({
    isolation,
    notices,
    ...(resume === undefined ? {} : { resume: id<'session'>(resume) }),
  });
  if (opened.ok) return opened.value;
  const { message, help } = opened.fault;
  surroundings.tellFault({ kind: 'journal-unavailable', message, help });
  return null;
}

export function resumeHint(surroundings: Surroundings, session: SessionId): void {
  surroundings.notes.say('', `go on with it later: cordon chat --resume ${session}`, 'dim');
}
