/**
 * One query from the command line, shared by `ask` and `chat`: asked, told as it happens, answered.
 *
 * Ring 1.
 */
import type { Outcome, Session } from '@cordon/hub';
import type { Surroundings } from './surroundings.ts';

/** Ctrl-C stops the query and nothing else. */
export function runQuery(
  surroundings: Surroundings,
  session: Session,
  text: string,
  isPrivate: boolean,
): Promise<Outcome> {
  return stoppable(surroundings, (signal) => session.ask(text, signal, { isPrivate }));
}

/** The unfinished query of the session, from what is finished. */
export function goOn(surroundings: Surroundings, session: Session): Promise<Outcome> {
  return stoppable(surroundings, (signal) => session.resume(signal));
}

async function stoppable(
  surroundings: Surroundings,
  run: (signal: AbortSignal) => Promise<Outcome>,
): Promise<Outcome> {
  const stopping = new AbortController();
  const before = surroundings.onInterrupt;
  surroundings.onInterrupt = () => stopping.abort();
  try {
    return await run(stopping.signal);
  } finally {
    surroundings.onInterrupt = before;
  }
}

/** A session is left open where something of its query is worth going on with. */
export function howLeft({ unfinished }: Session, { kind }: Outcome): 'end' | 'suspend' {
  if (kind === 'cancelled') return 'suspend';
  return unfinished !== null && (unfinished.finished > 0 || unfinished.inDoubt.length > 0)
    ? 'suspend'
    : 'end';
}

/** The answer on standard output; why there is none, beside it. */
export function tellOutcome(surroundings: Surroundings, outcome: Outcome): void {
  const { answer, kind, reason, help } = outcome;
  if (surroundings.wantsJson) return;
  if (answer !== null) surroundings.answer(answer);
  if (answer?.trim() === '') surroundings.notes.say('', 'the model returned an empty answer', 'warn');
  if (kind === 'answered' || reason === null) return;
  surroundings.notes.say(`${kind}: `, reason, kind === 'failed' ? 'bad' : 'warn');
  if (help !== null) surroundings.notes.say('  help: ', help);
}
