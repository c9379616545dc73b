/** `cordon prompts`: questions that wait for an answer, and answering them from here. Ring 0: it says the user's word. */

import { minuteOf, parseEnd, termChoices } from '@cordon/config';
import {
  type Drawing,
  drawChoice,
  drawPermission,
  fieldWords,
  showDrawing,
  textOfDrawing,
} from '@cordon/console';
import type { Style } from '@cordon/console/text';
import {
  type Choice,
  failed,
  type GrantDuration,
  type GrantTerm,
  id,
  ok,
  type PermissionAnswer,
  type PermissionPrompt,
  type PromptEdit,
  type Result,
  visibleLine,
} from '@cordon/core';
import type { Store, StoredAnswer, StoredPrompt } from '@cordon/trace';
import { BrokenRows } from '../../context/broken-rows.ts';
import type { CommandContext } from '../../context/command-context.ts';
import { EXIT, type ExitCode } from '../../context/exit.ts';
import { withStore } from '../../context/opened-store.ts';

/** Of a question or a warning, as in the question itself. */
const MOST_WORDS = 1000;

/** As commander hands them over. */
export interface AnswerOptions {
  readonly once?: boolean;
  readonly session?: boolean;
  readonly until?: string;
  readonly always?: boolean;
  /** `NAME=TEXT`, what flows in the place of a datum. */
  readonly edit?: readonly string[];
}

export function listPrompts(context: CommandContext): Promise<ExitCode> {
  return withStore(context, (store) => {
    const broken = new BrokenRows('the question');
    const pending = store.prompts.pending(null, broken.collect);
    if (context.wantsJson) {
      for (const { question, ...prompt } of pending)
        context.json({ kind: 'prompt', ...prompt, asks: question.kind, prompt: question.prompt });
    } else if (pending.length === 0) {
      if (broken.isEmpty) context.output.say('', 'no questions are waiting');
    } else {
      for (const prompt of pending) showWaiting(context, prompt, store.sessions.find(prompt.session)?.status);
      context.notes.say('', '`cordon prompts answer ID` shows the full question and asks you', 'dim');
    }
    return broken.report(context);
  });
}

/** What it takes to answer, in a few lines: columns would break the questions into pieces. */
function showWaiting({ output }: CommandContext, prompt: StoredPrompt, session: string | undefined): void {
  const { question } = prompt;
  output.line(
    output.style('bold', `${prompt.id}  asked ${minuteOf(prompt.askedAt)}, session ${session ?? 'gone'}`),
  );
  // Attack: an argument whose name has lines of its own, which would stand between ours.
  const say = (label: string, text: string, style?: Style) =>
    output.say(label, visibleLine(text, MOST_WORDS), style);
  say('  ask: ', question.prompt.question);
  if (question.kind === 'permission') {
    for (const datum of question.prompt.data)
      if (datum.field !== undefined) say('  field: ', fieldWords(datum));
    for (const warning of question.prompt.warnings) say('  WARNING: ', warning, 'warn');
    for (const recipient of question.prompt.newRecipients) say('  NEW: ', recipient, 'warn');
  }
  say('  answers: ', offersOf(prompt));
  output.line();
}

/** Without a word the question is shown and asked here; with one, shown and answered. `which`: an id, or `all`. */
export function answerPrompt(
  context: CommandContext,
  which: string,
  word: string | undefined,
  options: AnswerOptions,
): Promise<ExitCode> {
  return withStore(context, async (store) => {
    const prompts = which === 'all' ? store.prompts.pending() : [store.prompts.find(id(which))];
    if (prompts.length === 0) {
      context.output.say('', 'no questions are waiting');
      return EXIT.done;
    }
    let exit: ExitCode = EXIT.done;
    for (const prompt of prompts) {
      const told =
        prompt === null
          ? refuse(context, which, UNKNOWN)
          : await answerOne(context, store, prompt, word, options, which === 'all');
      if (told !== EXIT.done) exit = told;
    }
    return exit;
  });
}

const UNKNOWN = 'unknown question; `cordon prompts` lists those that wait';

async function answerOne(
  context: CommandContext,
  store: Store,
  prompt: StoredPrompt,
  word: string | undefined,
  options: AnswerOptions,
  isOneOfAll: boolean,
): Promise<ExitCode> {
  // As on the terminal: a yes to all is none to what carries a warning, and no choice of an app.
  if (isOneOfAll && word !== undefined && word !== 'deny') {
    if (prompt.question.kind === 'choice')
      return refuse(context, prompt.id, 'the question asks you to choose an app: answer it by its id');
    if (isWarned(prompt)) return refuse(context, prompt.id, 'it has a warning: answer it by its id');
    if (hidesArguments(context, prompt))
      return refuse(context, prompt.id, 'it does not show all arguments: answer it by its id');
  }
  const answer = word === undefined ? await asked(context, prompt) : given(context, prompt, word, options);
  if (!answer.ok) return refuse(context, prompt.id, answer.fault);
  const taken = store.prompts.answer(prompt.id, answer.value);
  if (!taken.ok) return refuse(context, prompt.id, `${taken.fault.message}; ${taken.fault.help}`);
  if (context.wantsJson) context.json({ kind: 'prompt.answered', prompt: prompt.id, answered: true });
  else context.output.say('', `${prompt.id} is answered`);
  return EXIT.done;
}

function refuse(context: CommandContext, prompt: string, reason: string): ExitCode {
  if (context.wantsJson) context.json({ kind: 'prompt.answered', prompt, answered: false, reason });
  else context.notes.say(`${prompt}: `, reason, 'bad');
  return EXIT.failed;
}

/** Asks here as it would be asked there. */
async function asked(
  context: CommandContext,
  { question }: StoredPrompt,
): Promise<Result<StoredAnswer, string>> {
  const consent = context.terminalConsent();
  const signal = context.ending;
  if (question.kind === 'choice') {
    return ok({ kind: 'choice', choice: await consent.choose(question.prompt, signal) });
  }
  const answer = await consent.permission(question.prompt, signal);
  return answer.allow || answer.reason === 'user'
    ? ok({ kind: 'permission', answer })
    : failed('no answer was given; the question is still waiting');
}

/** What the command line says; the question is shown, so that what was answered is on record as it was seen. */
function given(
  context: CommandContext,
  { question }: StoredPrompt,
  word: string,
  options: AnswerOptions,
): Result<StoredAnswer, string> {
  const frame = { width: context.notes.width, number: null };
  if (question.kind === 'choice') {
    showDrawing(context.notes, drawChoice(question.prompt, frame));
    return choiceOf(word, options, context.now());
  }
  const drawing = drawPermission(question.prompt, frame);
  showDrawing(context.notes, drawing);
  return permissionOf(word, options, question.prompt, drawing, context.now());
}

function choiceOf(word: string, options: AnswerOptions, now: number): Result<StoredAnswer, string> {
  if (word === 'deny') return ok({ kind: 'choice', choice: null });
  const term = termOf(options, now);
  if (!term.ok) return term;
  const choice: Choice = { app: id(word), ...term.value };
  return ok({ kind: 'choice', choice });
}

function permissionOf(
  word: string,
  options: AnswerOptions,
  { data }: PermissionPrompt,
  drawing: Drawing,
  now: number,
): Result<StoredAnswer, string> {
  const shown = textOfDrawing(drawing);
  if (word === 'deny') return ok({ kind: 'permission', answer: { allow: false, reason: 'user', shown } });
  if (word !== 'allow') return failed('the answer is `allow` or `deny`');
  const term = termOf(options, now);
  if (!term.ok) return term;
  const edits = editsOf(options.edit ?? []);
  if (!edits.ok) return edits;
  // Said here: the hub would only ask anew, where nobody may look any more.
  const editable = data.filter(({ isEditable }) => isEditable === true).map(({ name }) => name);
  const fixed = edits.value.find(({ name }) => !editable.includes(name));
  if (fixed !== undefined) {
    const can = editable.length === 0 ? 'nothing here can' : `what can is ${editable.join(', ')}`;
    return failed(`\`${fixed.name}\` cannot be changed: ${can}`);
  }
  const changed = edits.value.length === 0 ? {} : { edits: edits.value };
  const answer: PermissionAnswer = { allow: true, ...term.value, ...changed, shown };
  return ok({ kind: 'permission', answer });
}

function termOf({ once, session, until, always }: AnswerOptions, now: number): Result<GrantTerm, string> {
  const said = [once, session, until, always].filter((option) => option !== undefined);
  if (said.length > 1) return failed('say one of --once, --session, --until and --always');
  if (until !== undefined) {
    const end = parseEnd(until, now);
    return end.ok ? ok({ duration: 'until', until: end.value }) : end;
  }
  if (session === true) return ok({ duration: 'session' });
  return ok({ duration: always === true ? 'permanent' : 'once' });
}

function editsOf(texts: readonly string[]): Result<readonly PromptEdit[], string> {
  const edits: PromptEdit[] = [];
  for (const text of texts) {
    const at = text.indexOf('=');
    if (at < 1) return failed('write `--edit NAME=TEXT`');
    edits.push({ name: text.slice(0, at), value: text.slice(at + 1) });
  }
  return ok(edits);
}

const OPTIONS: Readonly<Record<GrantDuration, string>> = {
  once: '--once',
  session: '--session',
  until: '--until TIME',
  permanent: '--always',
};

function offersOf({ question }: StoredPrompt): string {
  if (question.kind === 'choice') return [...question.prompt.choices, 'deny'].join(', ');
  const offered = new Set(termChoices(question.prompt.durations).map(({ duration }) => OPTIONS[duration]));
  return `allow ${[...offered].join(', ')}; deny`;
}

function isWarned({ question }: StoredPrompt): boolean {
  return question.kind === 'permission' && question.prompt.warnings.length > 0;
}

function hidesArguments({ notes }: CommandContext, { question }: StoredPrompt): boolean {
  return (
    question.kind === 'permission' &&
    drawPermission(question.prompt, { width: notes.width, number: null }).hidesArguments
  );
}
