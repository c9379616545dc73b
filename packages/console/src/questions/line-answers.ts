/**
 * Consent by lines of JSON: `--answers -`. A program that reads the events answers each question by its id, in any order,
 * or all that are open at once. What is not understood answers nothing; the end of the input denies.
 *
 * What it says counts as the user's word. See docs/cli.md for the format.
 */

import { parseEnd } from '@cordon/config';
import {
  type Choice,
  type ChoicePrompt,
  type Consent,
  failed,
  type GrantDuration,
  type GrantTerm,
  isJsonObject,
  type JsonObject,
  ok,
  type PermissionAnswer,
  type PermissionPrompt,
  type PromptEdit,
  parseJson,
  type Result,
} from '@cordon/core';
import type { Terminal } from '../terminal/terminal.ts';

export interface LineAnswersParts {
  /** Where the lines come from. */
  readonly terminal: Terminal;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Told of each line that answered nothing, and why. */
  readonly onRefused: (reason: string) => void;
}

interface OpenBase {
  /** Nobody answers it any more. */
  readonly withdraw: () => void;
}

interface OpenPermission extends OpenBase {
  readonly kind: 'permission';
  readonly prompt: PermissionPrompt;
  readonly settle: (answer: PermissionAnswer) => void;
}

interface OpenChoice extends OpenBase {
  readonly kind: 'choice';
  readonly prompt: ChoicePrompt;
  readonly settle: (choice: Choice | null) => void;
}

type Open = OpenPermission | OpenChoice;

const UNANSWERED: PermissionAnswer = Object.freeze({ allow: false, reason: 'no-answer' });
const DENIED: PermissionAnswer = Object.freeze({ allow: false, reason: 'user' });
const CHOICE_DURATIONS: readonly GrantDuration[] = ['once', 'session', 'until', 'permanent'];

export class LineAnswers implements Consent {
  readonly #parts: LineAnswersParts;
  readonly #open = new Set<Open>();
  #isReading = false;
  /** Ends the reading when nothing is open: the next line may be a query. */
  #idle = new AbortController();

  constructor(parts: LineAnswersParts) {
    this.#parts = parts;
  }

  permission(prompt: PermissionPrompt, signal: AbortSignal): Promise<PermissionAnswer> {
    if (signal.aborted) return Promise.resolve(UNANSWERED);
    return new Promise((settle) =>
      this.#add({ kind: 'permission', prompt, settle, withdraw: () => settle(UNANSWERED) }, signal),
    );
  }

  choose(prompt: ChoicePrompt, signal: AbortSignal): Promise<Choice | null> {
    if (signal.aborted) return Promise.resolve(null);
    return new Promise((settle) =>
      this.#add({ kind: 'choice', prompt, settle, withdraw: () => settle(null) }, signal),
    );
  }

  #add(open: Open, signal: AbortSignal): void {
    this.#open.add(open);
    signal.addEventListener('abort', () => this.#withdraw(open), { once: true });
    if (!this.#isReading) void this.#read();
  }

  #withdraw(open: Open): void {
    open.withdraw();
    this.#remove(open);
  }

  #remove(open: Open): void {
    this.#open.delete(open);
    if (this.#open.size === 0) this.#idle.abort();
  }

  async #read(): Promise<void> {
    this.#isReading = true;
    while (this.#open.size > 0) {
      this.#idle = new AbortController();
      const reply = await this.#parts.terminal.ask({ prompt: '', takes: 'line' }, this.#idle.signal);
      if (reply.kind === 'line') this.#take(reply.text);
      else if (reply.kind === 'too-long') this.#parts.onRefused('the line is too long');
      else if (reply.kind !== 'aborted') for (const open of [...this.#open]) this.#withdraw(open);
    }
    this.#isReading = false;
  }

  #take(text: string): void {
    if (text.trim() === '') return;
    const line = readLine(text);
    if (!line.ok) return this.#parts.onRefused(line.fault);
    const { prompt } = line.value;
    const named = [...this.#open].filter((open) => prompt === 'all' || open.prompt.id === prompt);
    if (named.length === 0) return this.#parts.onRefused('no question of that id is open');
    for (const open of named) this.#answer(open, line.value);
  }

  #answer(open: Open, line: AnswerLine): void {
    const refusal =
      open.kind === 'choice' ? this.#answerChoice(open, line) : this.#answerPermission(open, line);
    if (refusal !== null) this.#parts.onRefused(`${open.prompt.id}: ${refusal}`);
  }

  #answerPermission(open: OpenPermission, line: AnswerLine): string | null {
    if (line.choose !== undefined) return 'the question is whether to allow it';
    // As on the terminal: a yes to all does not cover what carries a warning.
    if (line.prompt === 'all' && line.decision !== 'deny' && open.prompt.warnings.length > 0)
      return 'it has a warning: answer it by its id';
    const answer = this.#permissionAnswer(line, open.prompt.durations);
    if (!answer.ok) return answer.fault;
    this.#remove(open);
    open.settle(answer.value);
    return null;
  }

  #permissionAnswer(
    { decision, edits }: AnswerLine,
    durations: readonly GrantDuration[],
  ): Result<PermissionAnswer, string> {
    if (decision === 'deny') return ok(DENIED);
    const term = termOf(decision ?? 'deny', durations, this.#parts.now());
    if (!term.ok) return term;
    return ok({ allow: true, ...term.value, ...(edits.length === 0 ? {} : { edits }) });
  }

  #answerChoice(open: OpenChoice, { choose, decision }: AnswerLine): string | null {
    if (decision === 'deny' || choose === null) {
      this.#remove(open);
      open.settle(null);
      return null;
    }
    const app = open.prompt.choices.find((choice) => choice === choose);
    if (app === undefined) return 'the question is which app: `choose` one that is offered, or null';
    const term = termOf(decision ?? 'once', CHOICE_DURATIONS, this.#parts.now());
    if (!term.ok) return term.fault;
    this.#remove(open);
    open.settle({ app, ...term.value });
    return null;
  }
}

interface AnswerLine {
  /** The id of a question, or `all`. */
  readonly prompt: string;
  readonly decision: string | { readonly until: string } | undefined;
  /** Undefined: it says nothing of apps. */
  readonly choose: string | null | undefined;
  readonly edits: readonly PromptEdit[];
}

const KEYS: ReadonlySet<string> = new Set(['prompt', 'decision', 'choose', 'edits']);

function readLine(text: string): Result<AnswerLine, string> {
  const parsed = parseJson(text);
  if (!parsed.ok || !isJsonObject(parsed.value))
    return failed('a line is an object: {"prompt": ID, "decision": …}');
  const { prompt, decision, choose, edits = {} } = parsed.value;
  if (Object.keys(parsed.value).some((key) => !KEYS.has(key)))
    return failed('a line has `prompt`, `decision`, `choose` and `edits`, and no other key');
  if (typeof prompt !== 'string') return failed('`prompt` is the id of a question, or `all`');
  const isDecision = decision === undefined || typeof decision === 'string' || isUntil(decision);
  if (!isDecision) return failed('`decision` is a word, or {"until": TIME}');
  if (choose !== undefined && choose !== null && typeof choose !== 'string')
    return failed('`choose` is the name of an app, or null');
  if (!isJsonObject(edits)) return failed('`edits` is an object from names to texts');
  const typed = editsOf(edits);
  return typed === null
    ? failed('`edits` is an object from names to texts')
    : ok({ prompt, decision, choose, edits: typed });
}

function isUntil(value: unknown): value is { readonly until: string } {
  return isJsonObject(value) && typeof value.until === 'string' && Object.keys(value).length === 1;
}

function editsOf(edits: JsonObject): readonly PromptEdit[] | null {
  const typed: PromptEdit[] = [];
  for (const [name, value] of Object.entries(edits)) {
    if (typeof value !== 'string') return null;
    typed.push({ name, value });
  }
  return typed;
}

function termOf(
  decision: string | { readonly until: string },
  durations: readonly GrantDuration[],
  now: number,
): Result<GrantTerm, string> {
  if (typeof decision === 'object') {
    if (!durations.includes('until')) return failed('it is not offered until a time');
    const end = parseEnd(decision.until, now);
    return end.ok ? ok({ duration: 'until', until: end.value }) : end;
  }
  const known = decision === 'once' || decision === 'session' || decision === 'permanent';
  if (!known) return failed('`decision` is `once`, `session`, `permanent`, `deny` or {"until": TIME}');
  return durations.includes(decision) ? ok({ duration: decision }) : failed(`\`${decision}\` is not offered`);
}
