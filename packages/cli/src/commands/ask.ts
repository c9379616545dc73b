/** `cordon ask "…"`: one query, one answer. Ring 1. */
import { compose } from '../compose.ts';
import { EXIT, type ExitCode, exitCodeOf } from '../exit.ts';
import { openTold, resumeHint } from './opened.ts';
import { runQuery, tellOutcome } from './query.ts';
import type { Surroundings } from './surroundings.ts';

export async function ask(
  surroundings: Surroundings,
  query: string,
  resume: string | undefined,
): Promise<ExitCode> {
  const configuration = surroundings.configuration();
  if (configuration === null) return EXIT.failed;
  const consent = surroundings.consent(configuration);
  if (consent === null) return EXIT.failed;
  const composed = compose(configuration, consent, surroundings.home);
  if (!composed.ok) return surroundings.tellObstacle(composed.fault);
  const session = openTold(surroundings, composed.value, resume);
  if (session === null) return EXIT.failed;
  try {
    const outcome = await runQuery(surroundings, session, query);
    tellOutcome(surroundings, outcome);
    await session.close(outcome.kind === 'cancelled' ? 'suspend' : 'end');
    if (outcome.kind === 'cancelled') resumeHint(surroundings, session.id);
    return exitCodeOf(outcome.kind);
  } catch (error) {
    // A bug of ours: its message must not wait for processes that nobody would end any more.
    await session.close('suspend');
    throw error;
  } finally {
    composed.value.store.close();
  }
}
