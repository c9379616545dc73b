/**
 * Answers to a question of another process, as they are typed on a command line: `cordon prompts answer ID allow --once`.
 *
 * What it returns counts as the user's answer.
 */
import { parseEnd } from '@cordon/config';
import {
  type Choice,
  failed,
  type GrantTerm,
  id,
  ok,
  type PermissionAnswer,
  type PermissionPrompt,
  type PromptEdit,
  type Result,
} from '@cordon/core';
import type { StoredAnswer, StoredQuestion } from '@cordon/trace';
import type { Screen } from '../text/screen.ts';
import { type DrawnLine, showDrawing, textOfDrawing } from './drawn-lines.ts';
import { dataLines, detailLines } from './prompt-details.ts';
import { type Drawing, drawChoice, drawPermission } from './prompt-drawing.ts';

/** As commander parses them. */
export interface AnswerOptions {
  readonly once?: boolean;
  readonly session?: boolean;
  readonly until?: string;
  readonly always?: boolean;
  /** `NAME=TEXT`, what flows instead of a datum. */
  readonly edit?: readonly string[];
}

/** The answer that `word` and the options give. The question is shown first, so that the journal has what was on the screen. */
export function typedAnswer(
  question: StoredQuestion,
  word: string,
  options: AnswerOptions,
  { screen, now }: { readonly screen: Screen; readonly now: number },
): Result<StoredAnswer, string> {
  const frame = { width: screen.width, number: null };
  if (question.kind === 'choice') {
    showDrawing(screen, drawChoice(question.prompt, frame));
    return choiceOf(word, options, now);
  }
  const drawing = wholeDrawing(question.prompt, screen.width);
  showDrawing(screen, drawing);
  return permissionOf(word, options, question.prompt, drawing, now);
}

/** A command cannot ask for more with `?`, so all is shown at once, up to a length. */
export function wholeDrawing(prompt: PermissionPrompt, width: number): Drawing {
  const short = drawPermission(prompt, { width, number: null });
  const data: DrawnLine[] = [];
  for (const line of dataLines(prompt.data, width)) {
    if (data.length === MOST_DATA_LINES) break;
    data.push(line);
  }
  return { ...short, lines: [...short.lines, ...detailLines(prompt, width), ...data] };
}

/** Lines of data that a command shows. */
const MOST_DATA_LINES = 200;

/**
 * Why `word` cannot answer this question together with others; null: it can. As on a terminal, one yes to all questions neither
 * allows what carries a warning or hides an argument, nor chooses an app.
 */
export function whyAlone(question: StoredQuestion, word: string, { width }: Screen): string | null {
  if (word === 'deny') return null;
  if (question.kind === 'choice') return 'the question asks you to choose an app';
  if (question.prompt.warnings.length > 0) return 'it has a warning';
  const { hidesArguments } = drawPermission(question.prompt, { width, number: null });
  return hidesArguments ? 'it does not show all arguments' : null;
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
  // Said here: the hub would only ask again, where nobody may look by then.
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
