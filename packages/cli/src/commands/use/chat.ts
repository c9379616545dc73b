/** `cordon chat`: queries one after the other, in one session; with `--answers -` each is a line of JSON. */

import { modelInUse } from '@cordon/config';
import { MOST_LINE_LENGTH, readQueryLine } from '@cordon/console';
import type { Unfinished } from '@cordon/hub';
import type { Store } from '@cordon/trace';
import type { CommandContext } from '../../context/command-context.ts';
import { EXIT, type ExitCode } from '../../context/exit.ts';
import { newestSessions } from '../../context/sessions/unfinished.ts';
import { type Opening, type ResumeOptions, withOpening } from '../../context/with-session.ts';
import { printOutcome, resumeQuery, runQuery } from './query.ts';

/** Few enough that the prompt comes at once: 50 long ones take 0.13 s. */
const MOST_SESSIONS = 10;

const PROMPT = 'cordon> ';
const PRIVATE_PROMPT = 'cordon (private)> ';

const TOO_LONG = `A line of more than ${MOST_LINE_LENGTH} characters is too long for a query and was not sent. An app can read long texts from files that its manifest names.`;

const HELP =
  'Type a query. Ctrl-C stops a running query; at the prompt it leaves the session, which you can resume later. /private QUERY asks without earlier context and remembers nothing (the journal still records it); /private alone turns this on or off. /continue resumes an interrupted query where it stopped. /exit ends the session.';

const NO_COMMAND =
  'Unknown command; nothing was sent. The commands are /private, /continue, /help and /exit; only /private takes a query.';

export function chat(context: CommandContext, { resume }: ResumeOptions): Promise<ExitCode> {
  return withOpening(context, resume, async (opening) => {
    const { configuration } = opening;
    const names = configuration.apps.map(({ id }) => id).join(', ') || 'no apps';
    const greeting = `${modelInUse(configuration)} with ${names}. /help lists the commands, /exit ends the session.`;
    context.notes.say('', greeting, 'dim');
    // What was left unfinished stands above the prompt.
    if (resume !== undefined) {
      const session = await opening.session();
      if (!session.ok) return { exit: context.reportSetupError(session.fault), how: 'end' };
      if (session.value.unfinished !== null) printUnfinished(context, session.value.unfinished);
    } else printLeftBefore(context, opening.store);
    const end = await converse(context, opening);
    if (end === 'unavailable') return { exit: EXIT.failed, how: 'end' };
    return { exit: EXIT.done, how: end === 'over' ? 'end' : 'suspend' };
  });
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
async function converse(context: CommandContext, opening: Opening): Promise<'over' | 'left' | 'unavailable'> {
  // Ctrl-C at the prompt, also where it arrives as a signal and not as a key, and just before the prompt is there.
  const leaving = new AbortController();
  context.onInterrupt = () => leaving.abort();
  const ending = AbortSignal.any([leaving.signal, context.ending]);
  const isProgram = context.options.answers === '-';
  let isPrivate = context.options.private === true;
  let { missing } = opening;
  for (;;) {
    const prompt = isProgram ? '' : isPrivate ? PRIVATE_PROMPT : PROMPT;
    const asked = context.terminal.ask({ prompt, takes: 'line' }, ending);
    // Behind the prompt, which stands there by now: the user needs longer to type than this takes.
    const opened = await opening.session();
    if (!opened.ok) {
      leaving.abort();
      await asked;
      context.reportSetupError(opened.fault);
      return 'unavailable';
    }
    const session = opened.value;
    session.warm();
    const reply = await asked;
    if (reply.kind === 'interrupted' || reply.kind === 'aborted') return 'left';
    if (reply.kind === 'ended') return 'over';
    if (reply.kind === 'too-long') {
      if (isProgram) context.reportRefusedLine('the line is too long');
      else context.notes.say('', TOO_LONG, 'bad');
      continue;
    }
    const text = reply.text.trim();
    if (text === '') continue;
    if (isProgram) {
      const line = readQueryLine(text);
      if (!line.ok) {
        context.reportRefusedLine(line.fault);
        continue;
      }
      const { value } = line;
      const outcome = await runQuery(context, session, value.text, isPrivate || value.isPrivate);
      printOutcome(context, outcome);
      continue;
    }
    if (text === '/exit' || text === '/quit') return 'over';
    if (text === '/help') {
      context.notes.say('', HELP);
      continue;
    }
    if (text === '/continue') {
      if (session.unfinished === null) context.notes.say('', 'no interrupted query to resume');
      else if (missing !== null) context.reportFault(missing);
      else printOutcome(context, await resumeQuery(context, session));
      continue;
    }
    if (text === '/private') {
      isPrivate = !isPrivate;
      continue;
    }
    const only = /^\/private\s+(.+)$/s.exec(text)?.[1];
    // A slip of the finger: `/Private …` would be asked, remembered, and sent to a provider.
    const meant = only === undefined ? /^\/\p{L}+(?=\s|$)/u.exec(text)?.[0] : undefined;
    if (meant !== undefined) {
      context.notes.say('', NO_COMMAND, 'bad');
      continue;
    }
    missing = null;
    const outcome = await runQuery(context, session, only ?? text, isPrivate || only !== undefined);
    printOutcome(context, outcome);
  }
}
