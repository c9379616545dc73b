/** `cordon chat`: queries one after the other, in one session; with `--answers -` each is a line of JSON. */

import { modelInUse } from '@cordon/config';
import { MOST_LINE_LENGTH, readQueryLine } from '@cordon/console';
import type { Outcome, Session, Unfinished } from '@cordon/hub';
import { type Store, StoreFailure } from '@cordon/trace';
import type { CommandContext } from '../../context/command-context.ts';
import { EXIT, type ExitCode } from '../../context/exit.ts';
import { Failures } from '../../context/rights/failures.ts';
import { newestSessions } from '../../context/sessions/unfinished.ts';
import { type Opening, type ResumeOptions, withOpening } from '../../context/sessions/with-session.ts';
import { chatCommand, chatCompletions } from './chat-commands.ts';
import { printOutcome, resumeQuery, runQuery, undoLast } from './query.ts';

/** Few enough that the prompt comes at once: 50 long ones take 0.13 s. */
const MOST_SESSIONS = 10;
/** Queries that the arrow keys bring back. */
const MOST_RECALLED = 100;

const PROMPT = 'cordon> ';
const PRIVATE_PROMPT = 'cordon (private)> ';

const TOO_LONG = `A line of more than ${MOST_LINE_LENGTH} characters is too long for a query and was not sent. An app can read long texts from files that its manifest names.`;

export async function chat(context: CommandContext, options: ResumeOptions): Promise<ExitCode> {
  const next: { session: AgainIn | null } = { session: null };
  for (;;) {
    const again = next.session;
    next.session = null;
    const exit = await converseIn(context, again?.session ?? options.resume, again, (session) => {
      next.session = session;
    });
    if (next.session === null) return exit;
  }
}

/** A session that is opened again, because an app got a right that it lacked. */
interface AgainIn {
  readonly session: string;
  /** Asked again at once; null: it did what cannot be undone. */
  readonly text: string | null;
  readonly isPrivate: boolean;
  readonly model: string;
  /** Whether all that follows is private, too. */
  readonly staysPrivate: boolean;
}

function converseIn(
  context: CommandContext,
  resume: string | undefined,
  again: AgainIn | null,
  onAgain: (next: AgainIn) => void,
): Promise<ExitCode> {
  // The greeting names the model.
  context.saysItself.add('session.started');
  return withOpening(context, resume, async (opening) => {
    if (again !== null && again.model !== modelInUse(opening.configuration)) {
      const session = await opening.switchModel(again.model);
      if (!session.ok) return { exit: context.reportSetupError(session.fault), how: 'suspend' };
    }
    const { configuration } = opening;
    const names = configuration.apps.map(({ id }) => id).join(', ') || 'no apps';
    const greeting = `${modelInUse(configuration)} with ${names}. /help lists the commands, /exit ends the session.`;
    if (again === null) context.notes.say('', greeting, 'dim');
    // What was left unfinished stands above the prompt.
    if (resume !== undefined) {
      const session = await opening.session();
      if (!session.ok) return { exit: context.reportSetupError(session.fault), how: 'end' };
      const isAskedAtOnce = again !== null && again.text !== null;
      const { unfinished } = session.value;
      if (unfinished !== null && !isAskedAtOnce) printUnfinished(context, unfinished);
    } else printLeftBefore(context, opening.store);
    if (context.options.private !== true) context.terminal.recall(earlierQueries(opening, context.now()));
    const { end, outcomes } = await converse(context, opening, again);
    if (typeof end === 'object') {
      onAgain(end);
      return { exit: EXIT.done, how: 'suspend', isContinued: true };
    }
    if (end === 'unavailable') return { exit: EXIT.failed, how: 'end' };
    const hasFailed = outcomes.length > 0 && outcomes.every((outcome) => outcome === 'failed');
    return { exit: hasFailed ? EXIT.failed : EXIT.done, how: end === 'over' ? 'end' : 'suspend' };
  });
}

/** What the user asked in earlier sessions and in this one, oldest first: nothing that was private, and nothing that was deleted. */
function earlierQueries({ store, id }: Opening, now: number): readonly string[] {
  try {
    const memory = store.memory({ kind: 'system' });
    const turns = [...memory.elsewhere(id, now, MOST_RECALLED), ...memory.history(id)];
    return turns.filter(({ role }) => role === 'user').map(({ text }) => text);
  } catch (error) {
    // `cordon memory` names what is damaged.
    if (error instanceof StoreFailure) return [];
    throw error;
  }
}

/** What the last sessions left: queries without an end, and questions that still wait. */
function printLeftBefore({ notes }: CommandContext, store: Store): void {
  const left = newestSessions(store, MOST_SESSIONS).filter(
    (session) => session.left !== null && session.left !== 'unreadable',
  );
  if (left.length > 0) notes.say('', `interrupted queries: ${left.length}, see \`cordon sessions\``, 'warn');
  const waiting = store.prompts.pending().length;
  if (waiting > 0) notes.say('', `questions waiting for you: ${waiting}, see \`cordon prompts\``, 'warn');
}

function printUnfinished(context: CommandContext, { text, finished, inDoubt }: Unfinished): void {
  const done = `${finished} tool calls are done and will not be repeated`;
  context.notes.say('unfinished: ', `${text} (${done})`, 'warn');
  for (const { app, tool } of inDoubt)
    context.notes.say('in doubt: ', `${tool} of ${app} may or may not have taken effect`, 'bad');
  context.notes.say('', '/continue resumes it; any other query discards it', 'dim');
}

/** Over: the user ended the session. Left: it can be resumed. Unavailable: it could not be had, and the reason is reported. */
type End = 'over' | 'left' | 'unavailable' | AgainIn;

interface Conversation {
  readonly end: End;
  /** Of each query, in order. */
  readonly outcomes: readonly Outcome['kind'][];
}

async function converse(
  context: CommandContext,
  opening: Opening,
  again: AgainIn | null,
): Promise<Conversation> {
  // Ctrl-C at the prompt, also where it arrives as a signal and not as a key, and just before the prompt is there.
  const leaving = new AbortController();
  context.onInterrupt = () => leaving.abort();
  const ending = AbortSignal.any([leaving.signal, context.ending]);
  const isProgram = context.options.answers === '-';
  const completions = chatCompletions(opening);
  const outcomes: Outcome['kind'][] = [];
  let isPrivate = again?.staysPrivate ?? context.options.private === true;
  // An interrupted query can be resumed until another one is asked.
  let hasAsked = false;
  const settle = (outcome: Outcome) => {
    outcomes.push(outcome.kind);
    printOutcome(context, outcome);
  };
  const over = (end: End): Conversation => ({ end, outcomes });
  const serve = async (session: Session, text: string, isPrivateQuery: boolean) => {
    const failures = new Failures();
    context.onEvent = (event) => failures.observe(event);
    settle(await runQuery(context, session, text, isPrivateQuery));
    const model = modelInUse(opening.configuration);
    const asked = { session: session.id, text, isPrivate: isPrivateQuery, model, staysPrivate: isPrivate };
    return againAfter(context, opening, session, failures, asked);
  };
  if (again !== null && again.text !== null) {
    const session = await opening.session();
    if (!session.ok) {
      context.reportSetupError(session.fault);
      return over('unavailable');
    }
    const next = await serve(session.value, again.text, again.isPrivate);
    if (next !== null) return over(next);
  }
  for (;;) {
    const prompt = isProgram ? '' : isPrivate ? PRIVATE_PROMPT : PROMPT;
    const asked = context.terminal.ask({ prompt, takes: 'line', completions }, ending);
    // Behind the prompt, which stands there by now: the user needs longer to type than this takes.
    const opened = await opening.session();
    if (!opened.ok) {
      leaving.abort();
      await asked;
      context.reportSetupError(opened.fault);
      return over('unavailable');
    }
    const session = opened.value;
    session.warm();
    const reply = await asked;
    if (reply.kind === 'interrupted' || reply.kind === 'aborted') return over('left');
    if (reply.kind === 'ended') return over('over');
    if (reply.kind === 'too-long') {
      if (isProgram) context.reportRefusedLine('the line is too long');
      else context.notes.say('', TOO_LONG, 'bad');
      continue;
    }
    const text = reply.text.trim();
    if (text === '') continue;
    if (isProgram) {
      const line = readQueryLine(text);
      if (line.ok)
        settle(await runQuery(context, session, line.value.text, isPrivate || line.value.isPrivate));
      else context.reportRefusedLine(line.fault);
      continue;
    }
    const step = await chatCommand(text, { context, opening, session });
    switch (step?.kind) {
      case 'stay':
        continue;
      case 'leave':
        return over('over');
      case 'switch-private':
        isPrivate = !isPrivate;
        continue;
      case 'resume':
        if (session.unfinished === null) context.notes.say('', 'no interrupted query to resume');
        else if (!hasAsked && opening.missing !== null) context.reportFault(opening.missing);
        else settle(await resumeQuery(context, session));
        continue;
      case 'undo': {
        hasAsked = true;
        const undone = await undoLast(context, session, isPrivate);
        if (undone !== null) settle(undone);
        continue;
      }
      case 'ask':
      case undefined: {
        hasAsked = true;
        const next = await serve(session, step?.text ?? text, isPrivate || step?.isPrivate === true);
        if (next !== null) return over(next);
        continue;
      }
      default:
        step satisfies never;
    }
  }
}

/** Not null: an app got a right that it lacked, which holds when the session is opened again. */
async function againAfter(
  context: CommandContext,
  { configuration }: Opening,
  session: Session,
  failures: Failures,
  asked: AgainIn,
): Promise<AgainIn | null> {
  if (failures.all.length === 0) return null;
  const { grantMissing, mayAskAgain } = await import('../../context/rights/run-time-grant.ts');
  const granted = await grantMissing(context, configuration, failures);
  if (granted.length === 0) return null;
  for (const { app, right } of granted) session.recordRight(app, { right: right.kind, value: right.value });
  // A right holds from the next start of the session on, also where this query is not asked again.
  return mayAskAgain(context, failures) ? asked : { ...asked, text: null };
}
