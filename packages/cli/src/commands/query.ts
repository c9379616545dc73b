/**
 * One query from the command line, shared by `ask` and `chat`: asked, told as it happens, answered.
 *
 * Ring 1.
 */
import type { Outcome, Session } from '@cordon/hub';
import type { Surroundings } from './surroundings.ts';

/** Ctrl-C stops the query and nothing else. */
export async function runQuery(
  surroundings: Surroundings,
  session: Session,
  text: string,
  isPrivate: boolean,
): Promise<Outcome> {
  const stopping = new AbortController();
  const before = surroundings.onInterrupt;
  surroundings.onInterrupt = () => stopping.abort();
  try {
    return await session.ask(text, stopping.signal, { isPrivate });
  } finally {
    surroundings.onInterrupt = before;
  }
}

/** The answer on standard output; why there is none, beside it. */
export function tellOutcome(surroundings: Surroundings, outcome: Outcome): void {
  const { answer, kind, reason, help } = outcome;
  if (surroundings.wantsJson) return;
  if (answer !== null) surroundings.answer(answer);
  if (kind === 'answered' || reason === null) return;
  surroundings.notes.say(`${kind}: `, reason, kind === 'failed' ? 'bad' : 'warn');
  if (help !== null) surroundings.notes.say('  help: ', help);
}
