/** `cordon sessions`: what was asked, and which sessions can be resumed. */

import { minuteOf } from '@cordon/config';
import { renderTable } from '@cordon/print';
import type { Store } from '@cordon/trace';
import { BrokenRows } from '../../context/broken-rows.ts';
import type { CommandContext } from '../../context/command-context.ts';
import type { ExitCode } from '../../context/exit.ts';
import { withStore } from '../../context/opened-store.ts';
import { type LeftQuery, type ListedSession, newestSessions } from '../../context/sessions/unfinished.ts';

const MOST_SESSIONS = 50;

export function sessions(context: CommandContext): Promise<ExitCode> {
  return withStore(context, (store) => {
    const broken = new BrokenRows('the session');
    const listed = newestSessions(store, MOST_SESSIONS, broken.collect);
    if (listed.length > 0 || broken.isEmpty) print(context, listed);
    printLost(context, store.sessions.lost());
    return broken.report(context);
  });
}

function print(context: CommandContext, listed: readonly ListedSession[]): void {
  if (context.wantsJson) {
    for (const { left, loss, ...session } of listed) {
      const known = left === 'unreadable' ? null : left;
      const unfinished = known === null ? null : { query: openWords(known), inDoubt: known.inDoubt };
      const damaged = left === 'unreadable' ? { damaged: true } : {};
      const missing = loss === null ? {} : { acknowledged: loss.acknowledged };
      context.json({ kind: 'session', ...session, unfinished, ...damaged, ...missing });
    }
  } else if (listed.length === 0) context.output.say('', 'there are no sessions yet');
  else {
    const rows = listed.map(({ id, status, startedAt, firstQuery, left, loss }) => [
      id,
      loss !== null ? 'events lost' : left === null ? status : stateOf(left),
      minuteOf(startedAt),
      firstQuery ?? '(no query)',
    ]);
    renderTable(context.output, ['id', 'state', 'begun', 'first query'], rows);
  }
  const resumable = listed.find(({ left }) => left !== null && left !== 'unreadable');
  if (listed.some(({ left }) => left === 'unreadable') && !context.wantsJson)
    context.notes.say('', 'a journal was modified: `cordon audit verify` shows where', 'bad');
  if (listed.some(({ loss }) => loss !== null) && !context.wantsJson)
    context.notes.say('', 'a journal lacks acknowledged events: `cordon audit verify` shows how many', 'bad');
  if (resumable !== undefined && !context.wantsJson)
    context.notes.say('', `resume an interrupted query: cordon resume ${resumable.id}`, 'dim');
}

/** Sessions that the store should have and does not. */
function printLost({ notes, wantsJson }: CommandContext, lost: ReturnType<Store['sessions']['lost']>): void {
  if (lost.length === 0 || wantsJson) return;
  notes.say('!! ', `${lost.length} whole sessions are missing: see \`cordon audit verify\``, 'bad');
}

/** Null: the query is a private one. */
function openWords({ query: { said } }: LeftQuery): string | null {
  return said.private === true ? null : said.text;
}

function stateOf(left: LeftQuery | 'unreadable'): string {
  if (left === 'unreadable') return 'damaged';
  const { inDoubt } = left;
  return inDoubt === 0 ? 'unfinished' : `unfinished, ${inDoubt} in doubt`;
}
