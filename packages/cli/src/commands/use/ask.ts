/** `cordon ask "…"`: one query, one answer. Ring 1. */
import { EXIT, type ExitCode, exitCodeOf } from '../../context/exit.ts';
import { withSession } from '../../context/opened.ts';
import type { Surroundings } from '../../context/surroundings.ts';
import { howLeft, runQuery, tellOutcome } from './query.ts';

export function ask(
  surroundings: Surroundings,
  query: string,
  resume: string | undefined,
): Promise<ExitCode> {
  if (query.trim() === '') {
    const help = 'write a query: `cordon ask "Summarize the newest email for me."`';
    surroundings.tellFault({ kind: 'usage', message: 'the query is empty', help });
    return Promise.resolve(EXIT.failed);
  }
  return withSession(surroundings, resume, async (session) => {
    const outcome = await runQuery(surroundings, session, query, surroundings.options.private === true);
    tellOutcome(surroundings, outcome);
    return { exit: exitCodeOf(outcome.kind), how: howLeft(session, outcome) };
  });
}
