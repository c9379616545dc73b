/**
 * Asks on the terminal and reads the answer. Questions that are open at the same time are shown together, each under a
 * own number; where lines come from a pipe, which has no eyes, they come one after the other. Silence denies.
 *
 * This is the trusted path between the hub and the user (with prompt-drawing.ts, screen.ts, terminal.ts,
 * visible-text.ts).
 */

import { termChoices, termOfWord, termWords } from '@cordon/config';
import {
  type Choice,
  type ChoicePrompt,
  type Consent,
  exampleOfData,
  misfitOfData,
  type PermissionAnswer,
  type PermissionPrompt,
  type PromptDatum,
  type PromptEdit,
  visibleLine,
} from '@cordon/core';
import type { Question, Reply, Terminal } from '../terminal/terminal.ts';
import { FRAME, type Screen } from '../text/screen.ts';
import { showDrawing, textOfDrawing } from './drawn-lines.ts';
import { dataLines, detailLines } from './prompt-details.ts';
import { type Drawing, drawChoice, drawPermission, framed } from './prompt-drawing.ts';

const PAGE_LINES = 30;
/** Unreadable answers before a question counts as denied: a pipe of noise must end. */
const MOST_ATTEMPTS = 5;
/** A text that may stand in the line editor to be changed. */
const MOST_EDITED_LINE = 2000;

const DENIED: PermissionAnswer = Object.freeze({ allow: false, reason: 'user' });
const UNANSWERED: PermissionAnswer = Object.freeze({ allow: false, reason: 'no-answer' });

export interface TerminalConsentParts {
  readonly screen: Screen;
  readonly terminal: Terminal;
  /** For permissions until a time. Milliseconds since the epoch. */
  readonly now: () => number;
}

/** A question that is open. */
interface OpenBase {
  readonly number: number;
  readonly signal: AbortSignal;
  isDrawn: boolean;
  /** What the user saw of it, every time that it was drawn. */
  shown: string;
}

interface OpenPermission extends OpenBase {
  readonly kind: 'permission';
  readonly prompt: PermissionPrompt;
  readonly settle: (answer: PermissionAnswer) => void;
  edits: readonly PromptEdit[];
  /** Not all arguments were shown, or not all of whom the call reaches: no yes before all was viewed. */
  hidesArguments: boolean;
}

interface OpenChoice extends OpenBase {
  readonly kind: 'choice';
  readonly prompt: ChoicePrompt;
  readonly settle: (choice: Choice | null) => void;
}

type Open = OpenPermission | OpenChoice;

export class TerminalConsent implements Consent {
  readonly #parts: TerminalConsentParts;
  readonly #screen: Screen;
  #open: Open[] = [];
  /** Since the user was last free of questions. */
  #count = 0;
  #isAsking = false;
  #attempts = 0;
  /** Ends the line that is being read, because what it would answer has changed. */
  #interrupt = new AbortController();

  constructor(parts: TerminalConsentParts) {
    this.#parts = parts;
    this.#screen = parts.screen;
  }

  permission(prompt: PermissionPrompt, signal: AbortSignal): Promise<PermissionAnswer> {
    const { promise, resolve } = Promise.withResolvers<PermissionAnswer>();
    if (signal.aborted) return Promise.resolve(UNANSWERED);
    const base = {
      kind: 'permission',
      prompt,
      settle: resolve,
      edits: [],
      hidesArguments: false,
    } as const;
    this.#add({ ...base, ...this.#base(signal) }, () => resolve(UNANSWERED));
    return promise;
  }

  choose(prompt: ChoicePrompt, signal: AbortSignal): Promise<Choice | null> {
    const { promise, resolve } = Promise.withResolvers<Choice | null>();
    if (signal.aborted) return Promise.resolve(null);
    this.#add({ kind: 'choice', prompt, settle: resolve, ...this.#base(signal) }, () => resolve(null));
    return promise;
  }

  #base(signal: AbortSignal): OpenBase {
    if (this.#open.length === 0) this.#count = 0;
    return { number: ++this.#count, signal, isDrawn: false, shown: '' };
  }

  /** `withdraw`: it no longer needs an answer. A question that waits behind others ends with its signal, not with theirs. */
  #add(open: Open, withdraw: () => void): void {
    this.#open.push(open);
    open.signal.addEventListener(
      'abort',
      () => {
        withdraw();
        if (!this.#open.includes(open)) return;
        this.#remove(open);
        if (open.isDrawn) this.#say(`question ${open.number}`, 'needs no answer any more');
        this.#wake();
      },
      { once: true },
    );
    if (this.#isAsking) this.#wake();
    else void this.#converse();
  }

  #wake(): void {
    this.#interrupt.abort();
  }

  #remove(open: Open): void {
    this.#open = this.#open.filter((other) => other !== open);
  }

  /** The terminal is held until no question is left: nothing else is written into the middle of them. */
  async #converse(): Promise<void> {
    this.#isAsking = true;
    try {
      await this.#parts.terminal.alone(async () => {
        // Questions that are asked in the same moment are shown together.
        await Promise.resolve();
        while (this.#open.length > 0) await this.#round();
      });
    } catch {
      // The surface is broken: there is no answer.
      for (const open of this.#open) this.#settleUnanswered(open);
      this.#open = [];
    } finally {
      this.#isAsking = false;
      this.#count = 0;
      this.#attempts = 0;
      if (this.#open.length > 0) void this.#converse();
    }
  }

  /** Draws what is new and takes one line. */
  async #round(): Promise<void> {
    this.#interrupt = new AbortController();
    const visible = this.#visible();
    const [only] = visible;
    if (only === undefined) return;
    // The last of several may have been drawn a screen ago.
    if (visible.length === 1 && only.isDrawn && this.#count > 1)
      this.#say(`${only.number}`, only.prompt.question);
    for (const open of visible) if (!open.isDrawn) this.#draw(open);
    if (visible.length > 1) this.#summarize(visible);
    const prompt = visible.length > 1 ? MANY_PROMPT : this.#promptFor(only);
    const reply = await this.#ask({ prompt, takes: 'answer' }, this.#interrupt.signal);
    switch (reply.kind) {
      case 'line':
        return visible.length > 1
          ? this.#answerMany(visible, reply.text)
          : this.#answerOnly(only, reply.text);
      case 'interrupted':
        for (const open of visible) this.#settleDenied(open);
        return;
      case 'ended':
        for (const open of visible) this.#settleUnanswered(open);
        return;
      case 'aborted':
      case 'too-long':
        return;
      default:
        reply satisfies never;
    }
  }

  /** A pipe has no eyes: it answers one question after the other. */
  #visible(): readonly Open[] {
    return this.#parts.terminal.isInteractive ? [...this.#open] : this.#open.slice(0, 1);
  }

  #draw(open: Open): void {
    open.isDrawn = true;
    const number = this.#count > 1 ? `${open.number} of ${this.#count}` : null;
    const options = { width: this.#screen.width, number };
    const drawing =
      open.kind === 'choice'
        ? drawChoice(open.prompt, options)
        : drawPermission({ ...open.prompt, data: editedData(open) }, options);
    if (open.kind === 'permission') open.hidesArguments = drawing.hidesArguments;
    this.#screen.line();
    this.#show(open, drawing);
  }

  #show(open: Open, drawing: Pick<Drawing, 'lines'>): void {
    showDrawing(this.#screen, drawing);
    open.shown += textOfDrawing(drawing);
  }

  /** One line for each open question, because the last one drawn has pushed the others up. */
  #summarize(visible: readonly Open[]): void {
    this.#screen.line();
    this.#screen.line(this.#screen.style('bold', `${FRAME}${visible.length} questions are open:`));
    for (const open of visible) {
      const isWarned = open.kind === 'permission' && open.prompt.warnings.length > 0;
      const options = open.kind === 'choice' ? appNumbers(open.prompt) : shortChoices(open);
      const room = Math.max(20, this.#screen.width - options.length - 16);
      const question = visibleLine(open.prompt.question, room);
      this.#say(`${open.number}${isWarned ? ' WARNED' : ''}`, `${question} ${options}`);
    }
  }

  /** The question line of one question alone; its choices stand above it where they do not fit. */
  #promptFor(open: Open): string {
    if (open.kind === 'choice') return `${FRAME}Which one? > `;
    const labels = [
      ...termChoices(open.prompt.durations).map(({ label }) => label),
      '[?] more',
      ...(isEditable(open) ? [hasEmptyField(open) ? '[e] fill in' : '[e] edit'] : []),
      '[n] no (default)',
    ];
    const line = `${FRAME}Allow? ${labels.join('  ')} > `;
    if (line.length < this.#screen.width) return line;
    this.#say('answers:', labels.join('  '));
    return `${FRAME}Allow? > `;
  }

  async #answerOnly(open: Open, text: string): Promise<void> {
    if (await this.#answer(open, text.trim())) return;
    const numbers = open.kind === 'choice' ? `a number from 1 to ${open.prompt.choices.length}, or n` : null;
    this.#noise([open], `Please answer with ${numbers ?? 'one of the letters in brackets'}.`);
  }

  /** `2 o`, `1 v`, `all n`: what names no question answers none. */
  async #answerMany(visible: readonly Open[], text: string): Promise<void> {
    const [, which = '', word = ''] = /^\s*(\d{1,4}|all)\s+(.*?)\s*$/i.exec(text) ?? [];
    if (which.toLowerCase() === 'all') {
      if (this.#answerAll(visible, word.toLowerCase())) return;
    } else {
      const open = visible.find(({ number }) => String(number) === which);
      if (open !== undefined && word !== '' && (await this.#answer(open, word))) return;
    }
    this.#noise(visible, 'Please name a question and its answer: `1 o`, `2 n`, `all n`.');
  }

  #noise(asked: readonly Open[], help: string): void {
    if (++this.#attempts < MOST_ATTEMPTS) return this.#screen.line(`${FRAME}${help}`);
    for (const open of asked) this.#settleUnanswered(open);
  }

  /** A yes to all does not cover questions with a warning, or those that do not offer it: they stay open. */
  #answerAll(visible: readonly Open[], word: string): boolean {
    if (DENIALS.has(word)) {
      for (const open of visible) this.#settleDenied(open);
      return true;
    }
    const now = this.#parts.now();
    const isYes = visible.some(
      (open) => open.kind === 'permission' && termOfWord(word, open.prompt.durations, now) !== null,
    );
    if (!isYes) return false;
    for (const open of visible) {
      if (open.kind === 'choice') continue;
      const term = termOfWord(word, open.prompt.durations, now);
      if (term !== null && open.prompt.warnings.length === 0 && !open.hidesArguments)
        this.#settlePermission(open, { allow: true, ...term });
      else this.#say(`${open.number}`, whyNotAll(open, term !== null));
    }
    return true;
  }

  /** True: the word was understood, though the question may still be open (viewed, edited). */
  async #answer(open: Open, word: string): Promise<boolean> {
    if (open.kind === 'choice') return this.#answerChoice(open, word);
    const lower = word.toLowerCase();
    if (VIEWS.has(lower)) return this.#view(open);
    if ((lower === 'e' || lower === 'edit') && isEditable(open)) return this.#edit(open);
    if (DENIALS.has(lower)) this.#settleDenied(open);
    else {
      const term = termOfWord(lower, open.prompt.durations, this.#parts.now());
      if (term === null) return false;
      if (open.hidesArguments) {
        this.#say('!!', 'not all arguments were shown: answer ? first and view all of them');
        return true;
      }
      const edits = open.edits.length === 0 ? {} : { edits: open.edits };
      this.#settlePermission(open, { allow: true, ...term, ...edits });
    }
    return true;
  }

  /** `2`, `metro-hail`, and with how long it holds behind it: `2 s`. */
  #answerChoice(open: OpenChoice, text: string): boolean {
    const [word = '', ...rest] = text.split(/\s+/);
    if (DENIALS.has(text.toLowerCase())) {
      this.#settleDenied(open);
      return true;
    }
    const { choices } = open.prompt;
    const app = choices.find((choice, index) => word === String(index + 1) || word === choice);
    const span = rest.join(' ').toLowerCase();
    const term = span === '' ? ONCE : termOfWord(span, LASTING, this.#parts.now());
    if (app === undefined || term === null) return false;
    this.#remove(open);
    if (term.duration !== 'once') this.#say('chosen', `${app} ${termWords(term)}`);
    open.settle({ app, ...term });
    return true;
  }

  /** All that is known, then all data page by page. */
  async #view(open: OpenPermission): Promise<boolean> {
    const { width } = this.#screen;
    const prompt = { ...open.prompt, data: editedData(open) };
    this.#show(open, { lines: detailLines(prompt, width) });
    let onPage = 0;
    for (const line of dataLines(prompt.data, width)) {
      if (onPage === PAGE_LINES) {
        const reply = await this.#ask({ prompt: PAGE_PROMPT, takes: 'page' }, open.signal);
        if (reply.kind === 'interrupted' || reply.kind === 'ended') return this.#leave(open, reply);
        if (reply.kind !== 'line' || reply.text.trim().toLowerCase().startsWith('q')) return true;
        onPage = 0;
      }
      this.#show(open, { lines: [line] });
      if (line.isQuoted) onPage++;
    }
    open.hidesArguments = false;
    return true;
  }

  /** The user types what flows instead of the data; the question is drawn again with it. */
  async #edit(open: OpenPermission): Promise<boolean> {
    const edits: PromptEdit[] = [];
    for (const datum of editedData(open).filter(({ isEditable }) => isEditable === true)) {
      const reply = await this.#typed(open, datum);
      if (reply.kind === 'interrupted' || reply.kind === 'ended') return this.#leave(open, reply);
      if (reply.kind !== 'line') return true;
      const { name, value } = datum;
      edits.push({ name, value: this.#isKept(datum, reply.text) ? value : reply.text });
    }
    const before = new Map(open.prompt.data.map(({ name, value }) => [name, value]));
    open.edits = edits.filter(({ name, value }) => before.get(name) !== value);
    open.isDrawn = false;
    return true;
  }

  /** What the user types for one datum. What is no value of a field is asked for again. */
  async #typed(open: OpenPermission, datum: PromptDatum): Promise<Reply> {
    const { name, value, field } = datum;
    const label = visibleLine(name, 80);
    if (field === undefined) this.#say('new text for', `${label}, in one line; press Enter to keep it:`);
    else this.#say(`${label},`, `like \`${exampleOfData(field)}\`; ${this.#enterWords(datum)}:`);
    const question: Question = { prompt: `${FRAME}> `, takes: 'text', initial: editorText(value) };
    for (let attempts = 1; ; attempts++) {
      const reply = await this.#ask(question, open.signal);
      const isValue = reply.kind === 'line' && reply.text.trim() !== '';
      const misfit = isValue && field !== undefined ? misfitOfData(field, reply.text.trim()) : null;
      if (misfit === null) return reply;
      this.#say('!!', misfit);
      if (attempts === MOST_ATTEMPTS) return { kind: 'line', text: '' };
    }
  }

  /** A known value of a field that the user has deleted in the line is one that they keep to themselves. */
  #isKept(datum: PromptDatum, text: string): boolean {
    return text.trim() === '' && !this.#isDeletable(datum);
  }

  /** Whether the value is in the line editor, so that an empty line has a meaning. */
  #isDeletable({ value, field }: PromptDatum): boolean {
    return field !== undefined && this.#parts.terminal.isInteractive && editorText(value) !== '';
  }

  #enterWords(datum: PromptDatum): string {
    if (datum.value === '') return 'press Enter to leave it empty';
    return this.#isDeletable(datum) ? 'delete it to keep it from the app' : 'press Enter to keep it';
  }

  #leave(open: OpenPermission, reply: Reply): boolean {
    if (reply.kind === 'interrupted') this.#settleDenied(open);
    else this.#settleUnanswered(open);
    return true;
  }

  #settleDenied(open: Open): void {
    if (open.kind === 'permission') return this.#settlePermission(open, DENIED);
    this.#remove(open);
    open.settle(null);
  }

  #settleUnanswered(open: Open): void {
    this.#remove(open);
    this.#attempts = 0;
    if (open.kind === 'permission') open.settle({ ...UNANSWERED, shown: open.shown });
    else open.settle(null);
  }

  #settlePermission(open: OpenPermission, answer: PermissionAnswer): void {
    this.#remove(open);
    this.#attempts = 0;
    const which = this.#count > 1 ? `${open.number}: ` : '';
    const words = answer.allow ? `allowed, ${termWords(answer)}` : 'not allowed';
    this.#screen.line(this.#screen.style(answer.allow ? 'good' : 'bad', `${FRAME}${which}${words}`));
    open.settle({ ...answer, shown: open.shown });
  }

  #say(label: string, text: string): void {
    showDrawing(this.#screen, framed(label, text, this.#screen.width));
  }

  #ask(question: Question, signal: AbortSignal): Promise<Reply> {
    return this.#parts.terminal.ask(question, signal);
  }
}

const VIEWS: ReadonlySet<string> = new Set(['?', 'more', 'v', 'view']);
const DENIALS: ReadonlySet<string> = new Set(['', 'n', 'no', 'none']);
const ONCE = { duration: 'once' } as const;
const LASTING = ['once', 'session', 'until', 'permanent'] as const;
const PAGE_PROMPT = `${FRAME}[Enter] next page  [q] back to the question > `;
const MANY_PROMPT = `${FRAME}Answer by number (1 o), or all at once (all n) > `;

function whyNotAll({ prompt }: OpenPermission, isOffered: boolean): string {
  if (!isOffered) return 'does not offer this';
  const why = prompt.warnings.length > 0 ? 'has a warning' : 'does not show all arguments';
  return `${why}: answer it by its number`;
}

function isEditable({ prompt }: OpenPermission): boolean {
  return prompt.data.some((datum) => datum.isEditable === true);
}

function hasEmptyField(open: OpenPermission): boolean {
  return editedData(open).some(({ field, value }) => field !== undefined && value === '');
}

function editedData({ prompt, edits }: OpenPermission): readonly PromptDatum[] {
  return prompt.data.map((datum) => {
    const edit = edits.find(({ name }) => name === datum.name);
    return edit === undefined ? datum : { ...datum, value: edit.value };
  });
}

/** Attack: a text whose control characters the line editor would put on the screen. Only what shows as it is stands there. */
function editorText(value: string): string {
  return value.length <= MOST_EDITED_LINE && visibleLine(value, MOST_EDITED_LINE) === value ? value : '';
}

function shortChoices(open: OpenPermission): string {
  const { prompt, edits } = open;
  const letters = termChoices(prompt.durations).map(({ label }) => label.slice(0, 3));
  const more = ['[?]', ...(isEditable(open) ? ['[e]'] : [])];
  return `${[...letters, ...more, '[n]'].join('')}${edits.length === 0 ? '' : ' (edited)'}`;
}

function appNumbers({ choices }: ChoicePrompt): string {
  return `${choices.map((_, index) => `[${index + 1}]`).join('')}[n]`;
}
