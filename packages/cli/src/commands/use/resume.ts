/** `cordon resume [SESSION]`: resumes a query that has no answer yet. */

import type { Configuration } from '@cordon/config';
import type { SessionId } from '@cordon/core';
import type { Session } from '@cordon/hub';
import { openJournal } from '@cordon/runtime/journal';
import type { CommandContext } from '../../context/command-context.ts';
import { EXIT, type ExitCode, exitCodeOf } from '../../context/exit.ts';
import { mayOpen } from '../../context/opened-store.ts';
import { leftQuery } from '../../context/sessions/unfinished.ts';
import { type Left, withSession } from '../../context/sessions/with-session.ts';
import { howLeft, printOutcome, resumeQuery } from './query.ts';

export async function resume(context: CommandContext, wanted: string | undefined): Promise<ExitCode> {
  const session = wanted ?? (await newest(context));
  if (session === null) return EXIT.failed;
  const use = async (opened: Session): Promise<Left> => {
    if (opened.unfinished === null) {
      context.reportFault({
        kind: 'usage',
        message: 'this session has no interrupted query to resume: its last query has ended',
        help: `\`cordon chat --resume ${session}\` opens it for another query`,
      });
      return { exit: EXIT.failed, how: 'suspend' };
    }
    const outcome = await resumeQuery(context, opened);
    printOutcome(context, outcome);
    return { exit: exitCodeOf(outcome.kind), how: howLeft(opened, outcome) };
  };
  return withSession(context, session, use, true);
}

/** Null if there is none; the reason is reported. */
async function newest(context: CommandContext): Promise<SessionId | null> {
  const configuration = context.configuration();
  if (configuration === null || !(await mayOpen(context, configuration))) return null;
  return newestIn(context, configuration);
}

function newestIn(context: CommandContext, configuration: Configuration): SessionId | null {
  const store = openJournal(configuration);
  if (!store.ok) {
    context.reportSetupError({ kind: 'fault', fault: store.fault });
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
  context.reportFault({ kind: 'usage', message, help: '`cordon sessions` lists earlier queries' });
  return null;
}
