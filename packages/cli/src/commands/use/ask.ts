/** `cordon ask "…"`: one query, one answer. */

import { fault } from '@cordon/core';
import type { CommandContext } from '../../context/command-context.ts';
import { type ExitCode, exitCodeOf } from '../../context/exit.ts';
import { type ResumeOptions, withSession } from '../../context/with-session.ts';
import { howLeft, printOutcome, runQuery } from './query.ts';

export async function ask(
  context: CommandContext,
  query: string,
  { resume }: ResumeOptions,
): Promise<ExitCode> {
  if (query.trim() === '') {
    const help = 'write a query: `cordon ask "Summarize the newest email for me."`';
    return context.reportFault(fault('usage', 'the query is empty', help));
  }
  return withSession(context, resume, async (session) => {
    const outcome = await runQuery(context, session, query, context.options.private === true);
    printOutcome(context, outcome);
    return { exit: exitCodeOf(outcome.kind), how: howLeft(session, outcome) };
  });
}
