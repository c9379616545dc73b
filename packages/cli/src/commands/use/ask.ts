/** `cordon ask "…"`: one query, one answer. Ring 1. */

import type { CommandContext } from '../../context/command-context.ts';
import { EXIT, type ExitCode, exitCodeOf } from '../../context/exit.ts';
import { withSession } from '../../context/with-session.ts';
import { howLeft, printOutcome, runQuery } from './query.ts';

export function ask(context: CommandContext, query: string, resume: string | undefined): Promise<ExitCode> {
  if (query.trim() === '') {
    const help = 'write a query: `cordon ask "Summarize the newest email for me."`';
    context.reportFault({ kind: 'usage', message: 'the query is empty', help });
    return Promise.resolve(EXIT.failed);
  }
  return withSession(context, resume, async (session) => {
    const outcome = await runQuery(context, session, query, context.options.private === true);
    printOutcome(context, outcome);
    return { exit: exitCodeOf(outcome.kind), how: howLeft(session, outcome) };
  });
}
