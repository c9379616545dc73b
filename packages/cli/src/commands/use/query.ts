/** One query from the command line, shared by `ask` and `chat`: asked, printed as it happens, answered. */

import type { QueryUse } from '@cordon/core';
import type { Outcome, Session } from '@cordon/hub';
import type { CommandContext } from '../../context/command-context.ts';

/** Ctrl-C stops the query and nothing else. */
export function runQuery(
  context: CommandContext,
  session: Session,
  text: string,
  isPrivate: boolean,
): Promise<Outcome> {
  const { streams } = context;
  return stoppable(context, session, (signal) => session.ask(text, signal, { isPrivate, streams }));
}

/** The unfinished query of the session, from what is finished. */
export function resumeQuery(context: CommandContext, session: Session): Promise<Outcome> {
  const { streams } = context;
  return stoppable(context, session, (signal) => session.resume(signal, { streams }));
}

/** Undoes the last change of the session by the tool that its label names. Null: there is none. */
export function undoLast(
  context: CommandContext,
  session: Session,
  isPrivate: boolean,
): Promise<Outcome | null> {
  return stoppable(context, session, (signal) => session.undo(signal, { isPrivate }));
}

async function stoppable<T>(
  context: CommandContext,
  session: Session,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const hide = context.status.show(() => (session.used === null ? '' : useInWords(session.used)));
  try {
    return await context.untilInterrupted(run);
  } finally {
    hide();
  }
}

/** `12 s, 3,400 tokens, cost 0.012`: time without the user's own, and the cost where it is known. */
function useInWords({ milliseconds, tokens, cost }: QueryUse): string {
  const said = [`${Math.floor(milliseconds / 1000)} s`];
  if (tokens > 0) said.push(`${tokens.toLocaleString('en')} tokens`);
  if (cost !== null && cost > 0) said.push(`cost ${Number(cost.toPrecision(2))}`);
  return said.join(', ');
}

/** A session is left open where something of its query is worth resuming. */
export function howLeft({ unfinished }: Session, { kind }: Outcome): 'end' | 'suspend' {
  if (kind === 'cancelled') return 'suspend';
  return unfinished !== null && (unfinished.finished > 0 || unfinished.inDoubt.length > 0)
    ? 'suspend'
    : 'end';
}

/** The answer on standard output; the reason for a missing one on standard error. */
export function printOutcome(context: CommandContext, outcome: Outcome): void {
  const { answer, kind, reason, help } = outcome;
  if (context.wantsJson) return;
  if (answer !== null) context.answer(answer);
  if (answer?.trim() === '') context.notes.say('', 'the model returned an empty answer', 'warn');
  if (kind === 'answered' || reason === null) return;
  // The answer behind the denial says what was not done.
  if (kind === 'refused' && answer !== null && context.hasReadDenial(reason)) return;
  context.notes.say(`${kind}: `, reason, kind === 'failed' ? 'bad' : 'warn');
  if (help !== null) context.notes.say('  help: ', help);
}
