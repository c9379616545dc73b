/** `cordon resume [SESSION]`: goes on with a query that came to no answer. Ring 1. */

import type { Configuration } from '@cordon/config';
import type { SessionId } from '@cordon/core';
import type { Session } from '@cordon/hub';
import { openJournal } from '@cordon/runtime/journal';
import { leftQuery } from '@cordon/runtime/unfinished';
import { EXIT, type ExitCode, exitCodeOf } from '../../context/exit.ts';
import { type Left, withSession } from '../../context/opened.ts';
import { mayOpen } from '../../context/opened-store.ts';
import type { Surroundings } from '../../context/surroundings.ts';
import { goOn, howLeft, tellOutcome } from './query.ts';

export async function resume(surroundings: Surroundings, wanted: string | undefined): Promise<ExitCode> {
  const session = wanted ?? (await newest(surroundings));
  if (session === null) return EXIT.failed;
  const use = async (opened: Session): Promise<Left> => {
    if (opened.unfinished === null) {
      surroundings.tellFault({
        kind: 'usage',
        message: 'this session has no interrupted query to resume: its last query has ended',
        help: `\`cordon chat --resume ${session}\` opens it for another query`,
      });
      return { exit: EXIT.failed, how: 'suspend' };
    }
    const outcome = await goOn(surroundings, opened);
    tellOutcome(surroundings, outcome);
    return { exit: exitCodeOf(outcome.kind), how: howLeft(opened, outcome) };
  };
  return withSession(surroundings, session, use, true);
}

/** Null: there is none, and that has been told. */
async function newest(surroundings: Surroundings): Promise<SessionId | null> {
  const configuration = surroundings.configuration();
  if (configuration === null || !(await mayOpen(surroundings, configuration))) return null;
  return newestIn(surroundings, configuration);
}

function newestIn(surroundings: Surroundings, configuration: Configuration): SessionId | null {
  const store = openJournal(configuration);
  if (!store.ok) {
    surroundings.tellObstacle({ kind: 'fault', fault: store.fault });
    return null;
  }
  try {
    for (const record of store.value.sessions.list()) {
      const left = leftQuery(store.value, record);
      if (left !== null && left !== 'unreadable') return left.session;
    }
  } finally {
    store.value.close();
  }
  const message = 'no interrupted query to resume';
  surroundings.tellFault({ kind: 'usage', message, help: '`cordon sessions` lists earlier queries' });
  return null;
}
