/** `cordon ask "…"`: one query, one answer. */

import type { Configuration } from '@cordon/config';
import { fault } from '@cordon/core';
import type { CommandContext } from '../../context/command-context.ts';
import { type ExitCode, exitCodeOf } from '../../context/exit.ts';
import { Failures } from '../../context/rights/failures.ts';
import { type ResumeOptions, withSession } from '../../context/sessions/with-session.ts';
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
  for (;;) {
    const failures = new Failures();
    let used: Configuration | null = null;
    context.onEvent = (event) => failures.observe(event);
    const exit = await withSession(context, resume, async (session, configuration) => {
      used = configuration;
      const outcome = await runQuery(context, session, query, context.options.private === true);
      printOutcome(context, outcome);
      return { exit: exitCodeOf(outcome.kind), how: howLeft(session, outcome) };
    });
    if (used === null || failures.all.length === 0) return exit;
    const { grantMissing, mayAskAgain } = await import('../../context/rights/run-time-grant.ts');
    if ((await grantMissing(context, used, failures)).length === 0) return exit;
    if (!mayAskAgain(context, failures, resume !== undefined)) return exit;
  }
}
