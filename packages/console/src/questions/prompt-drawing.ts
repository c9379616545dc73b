/**
 * A question in its short form: at most eight lines at 80 columns, with whom or what it is about in the first two. The rest
 * stands behind `?` (prompt-details.ts).
 *
 * What stands here is the ground of every grant (with drawn-lines.ts, screen.ts and visible-text.ts).
 */
import {
  type ChoicePrompt,
  exampleOfData,
  type PermissionPrompt,
  type PromptDatum,
  type PromptQuote,
  textColumns,
  visibleLine,
} from '@cordon/core';
import { type ArgumentLine, argumentLines } from '../text/argument-lines.ts';
import { GUTTER, type Style } from '../text/screen.ts';
import {
  BETWEEN,
  type DrawnLine,
  Lines,
  linesOf,
  quotedLine,
  shortArgument,
  shortened,
} from './drawn-lines.ts';

/** At this width; on a narrower screen the same words take more lines. */
const FULL_WIDTH = 80;
const MOST_LINES = 8;
/** Lines of the question itself, of a warning. */
const FEW_LINES = 2;
/** Lines of a text that is quoted. */
const QUOTE_LINES = 3;
/** So many warnings come before the arguments. More would push arguments out, and the user would have to view those. */
const FIRST_WARNINGS = 1;
/** So many, those included, come before the rest of a text. */
const NEXT_WARNINGS = 2;
/** At most so many data of a question, and arguments of a call, are drawn. */
const MOST_LOOKED_AT = 60;
/** Characters of an argument that shares its line with others. */
const MOST_SHORT = 48;
/** Arguments that are named as those that hold a text of one app. */
const SHOWN_PLACES = 8;
const MOST_NAME = 40;
/** Characters of the name of a datum. */
const MOST_LABEL = 60;

export interface Drawing {
  readonly lines: readonly DrawnLine[];
  /**
   * Whether an argument was left out, or a part of one that says whom or what the call reaches: then no yes counts before all
   * was viewed. Attack: the last of a hundred recipients.
   */
  readonly hidesArguments: boolean;
}

export interface DrawingOptions {
  /** Columns. */
  readonly width: number;
  /** Where several questions are open; null: it is the only one. */
  readonly number: string | null;
}

export function drawPermission(prompt: PermissionPrompt, options: DrawingOptions): Drawing {
  const sheet = new Sheet(options.width);
  const rest = head(sheet, prompt, options);
  prompt.data.slice(0, MOST_LOOKED_AT).forEach((datum) => {
    datumParts(sheet, datum, prompt.data.length);
  });
  if (prompt.data.length > MOST_LOOKED_AT)
    sheet.leave(`${prompt.data.length - MOST_LOOKED_AT} more data`, true);
  if (rest !== '') sheet.say('reason', 'note:', rest, 'plain', 'the whole question');
  reasonParts(sheet, prompt);
  for (const quote of prompt.quotes ?? []) quoteParts(sheet, quote);
  noteParts(sheet, prompt);
  return sheet.drawing();
}

/** Lines of an earlier rank get their room first, wherever they stand. */
const RANKS = [
  'head',
  'whom',
  'reason',
  'quote',
  'argument',
  'next reason',
  'more of a quote',
  'source',
  'more reasons',
  'plan',
  'more of a text',
  'note',
  'span',
] as const;
type Rank = (typeof RANKS)[number];

/** Lines that are shown together or not at all. */
interface Part {
  readonly lines: readonly DrawnLine[];
  readonly rank: Rank;
  /** What is missing without it; null: nothing that has to be said. */
  readonly left: string | null;
  /** No yes counts without it. */
  readonly isNeeded: boolean;
}

/** The parts of one question, from top to bottom. */
class Sheet {
  readonly width: number;
  /** How many lines the words of one line at full width take here. */
  readonly scale: number;
  readonly #parts: Part[] = [];
  /** What is shown nowhere in the short form. */
  readonly #left: { readonly words: string; readonly isNeeded: boolean }[] = [];

  constructor(width: number) {
    this.width = width;
    this.scale = Math.max(1, Math.ceil(FULL_WIDTH / width));
  }

  add(rank: Rank, lines: readonly DrawnLine[], left: string | null = null, isNeeded = false): void {
    this.#parts.push({ rank, lines, left, isNeeded });
  }

  /** A sentence of ours, of which so many lines are shown. */
  say(rank: Rank, label: string, text: string, style: Style, left: string | null): void {
    const lines = linesOf(this.width, (own) => own.say(label, text, style));
    const most = FEW_LINES * this.scale;
    this.add(rank, shortened(lines, most), left);
    if (lines.length > most && left !== null) this.leave(left, false);
  }

  leave(words: string, isNeeded: boolean): void {
    this.#left.push({ words, isNeeded });
  }

  drawing(): Drawing {
    let room = MOST_LINES * this.scale - this.scale;
    const shown = new Set<Part>();
    for (const rank of RANKS)
      for (const part of this.#parts) {
        if (part.rank !== rank || part.lines.length > room) continue;
        shown.add(part);
        room -= part.lines.length;
      }
    const hidden = this.#parts.flatMap((part) =>
      part.left === null || shown.has(part) ? [] : [{ words: part.left, isNeeded: part.isNeeded }],
    );
    // What a yes waits for comes first.
    const left = [...this.#left, ...hidden].toSorted((a, b) => Number(b.isNeeded) - Number(a.isNeeded));
    const hidesArguments = left.some(({ isNeeded }) => isNeeded);
    const lines = this.#parts.flatMap((part) => (shown.has(part) ? part.lines : []));
    return {
      lines: [...lines, ...this.#leftLines(counted(left.map(({ words }) => words)), hidesArguments)],
      hidesArguments,
    };
  }

  #leftLines(words: string, hidesArguments: boolean): readonly DrawnLine[] {
    if (words === '') return [];
    const lines = linesOf(this.width, (own) =>
      hidesArguments
        ? own.say('!!', `view the rest with ? before you say yes: ${words}`, 'bad')
        : own.say('more with ?:', words),
    );
    return shortened(lines, this.scale);
  }
}

/** `2 warnings, 40 characters of body`: plain words are counted. */
function counted(words: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  const said = [...counts].map(([word, count]) => {
    if (!/^[a-z]+$/.test(word)) return word;
    return count === 1 ? `1 ${word}` : `${count} ${word}s`;
  });
  return said.join(', ');
}

/** Draws the question, or only its first sentence if it takes several lines: whom it is about must stay in the first two. Returns the rest. */
function head(sheet: Sheet, { question }: PermissionPrompt, options: DrawingOptions): string {
  const label = `PERMISSION${numbered(options)}:`;
  const [, first = question, rest = ''] = /^([^?]*\?) (.+)$/s.exec(question) ?? [];
  const isShort = linesOf(sheet.width, (own) => own.say(label, question)).length === 1;
  sheet.say('head', label, isShort ? question : first, 'bold', 'the whole question');
  return isShort ? '' : rest;
}

function datumParts(sheet: Sheet, datum: PromptDatum, count: number): void {
  const { name, value, identifying, isUsers, sources = [], field } = datum;
  if (field !== undefined && value === '') sheet.say('whom', 'field:', fieldWords(datum), 'plain', 'field');
  else {
    const listed = identifying === undefined ? null : argumentLines(value, identifying);
    if (listed !== null) argumentParts(sheet, listed);
    else if (field !== undefined || count > 2)
      argumentParts(sheet, [{ path: name, text: value, value, isIdentifying: false }]);
    else textParts(sheet, datum);
    if (listed !== null && isUsers === true) sheet.say('note', 'data:', 'in your own words', 'plain', null);
  }
  for (const { app, arguments: paths } of sources)
    sheet.say('source', 'text:', `from ${app}, in ${placesIn(paths)}`, 'plain', 'source');
}

function textParts(sheet: Sheet, datum: PromptDatum): void {
  const { value, identifying } = datum;
  sheet.say('argument', 'data:', textWords(datum, MOST_LABEL), 'plain', 'text');
  const most = MOST_LINES * sheet.scale;
  const quoted = new Lines(sheet.width);
  const more = quoted.quote(value, most);
  quoted.lines.forEach((line, index) => {
    sheet.add(
      index === 0 ? 'argument' : 'more of a text',
      [line],
      'the whole text',
      identifying !== undefined,
    );
  });
  if (more !== null) sheet.leave('the whole text', identifying !== undefined);
}

/** Short ones share a line; a long one has lines of its own. None pushes another away without a word. */
function argumentParts(sheet: Sheet, all: readonly ArgumentLine[]): void {
  const room = sheet.width - GUTTER.length;
  let line = '';
  let rank: Rank = 'argument';
  const end = () => {
    if (line !== '') sheet.add(rank, [quotedLine(line)], 'argument', true);
    line = '';
    rank = 'argument';
  };
  for (const argument of all.slice(0, MOST_LOOKED_AT)) {
    const short = shortArgument(argument, Math.min(MOST_SHORT, room));
    if (short === null) {
      end();
      longArgument(sheet, argument);
      continue;
    }
    if (textColumns(line + BETWEEN + short) > room) end();
    line = line === '' ? short : line + BETWEEN + short;
    if (argument.isIdentifying) rank = 'whom';
  }
  end();
  if (all.length > MOST_LOOKED_AT) sheet.leave(`${all.length - MOST_LOOKED_AT} more arguments`, true);
}

function longArgument(sheet: Sheet, argument: ArgumentLine): void {
  const { isIdentifying, path } = argument;
  const most = (isIdentifying ? FEW_LINES : MOST_LINES) * sheet.scale;
  const own = new Lines(sheet.width);
  const left = own.argument(argument, most);
  const name = visibleLine(path, MOST_NAME);
  if (isIdentifying) {
    sheet.add('whom', own.lines, `all of ${name}`, true);
    if (left > 0) sheet.leave(`all of ${name}`, true);
    return;
  }
  const words = `the rest of ${name} (${argument.text.length} characters)`;
  // An empty line takes the room of one that says something.
  const lines = own.lines.filter(({ text }) => text.trim() !== '');
  lines.forEach((line, index) => {
    if (index === 0) sheet.add('argument', [line], `all of ${name}`, true);
    else sheet.add('more of a text', [line], words);
  });
  if (left > 0) sheet.leave(words, false);
}

/** Why somebody should think twice: what Cordon warns about, and what rules say. */
function reasonParts(sheet: Sheet, { weaker = [], warnings, asks = [], expected }: PermissionPrompt): void {
  if (weaker.length > 0)
    sheet.say('reason', '!!', `the sandbox is weaker: without ${weaker.join(', ')}`, 'bad', 'warning');
  warnings.forEach((warning, index) => {
    sheet.say(reasonRank(index), 'WARNING:', warning, 'warn', 'warning');
  });
  asks.forEach((rule, index) => {
    sheet.say(reasonRank(index + warnings.length), 'a rule asks:', rule, 'plain', 'rule');
  });
  if (expected || warnings.length === 0) sheet.say('plan', 'plan:', planWords(expected), 'plain', null);
}

function reasonRank(index: number): Rank {
  if (index < FIRST_WARNINGS) return 'reason';
  return index < NEXT_WARNINGS ? 'next reason' : 'more reasons';
}

/** A text of others: whom it is from, and its sentence. Attack: a subject that reads like a word of ours; so all of it is quoted. */
function quoteParts(sheet: Sheet, { app, sender, title, text }: PromptQuote): void {
  const own = new Lines(sheet.width);
  const from =
    sender === null ? `a text from ${visibleLine(app, MOST_NAME)}` : `from ${visibleLine(sender, MOST_NAME)}`;
  const called = title === null ? [] : [visibleLine(title, MOST_NAME)];
  own.cite([from, ...called, text], QUOTE_LINES * sheet.scale);
  own.lines.forEach((line, index) => {
    sheet.add(index < sheet.scale ? 'quote' : 'more of a quote', [line], index === 0 ? 'quotation' : null);
  });
}

function noteParts(sheet: Sheet, prompt: PermissionPrompt): void {
  const { newRecipients, durations, covers, coversMore = false, onceCovers = covers } = prompt;
  newRecipients.forEach((note, index) => {
    sheet.say(index === 0 ? 'plan' : 'note', 'NEW: ', note, 'warn', 'note');
  });
  if (durations.some((duration) => duration !== 'once'))
    sheet.say('span', 'longer than once:', `covers ${covers}`, 'plain', null);
  if (coversMore) sheet.say('reason', 'once:', `covers also ${onceCovers}`, 'plain', 'note');
}

const LASTING_CHOICE =
  'add how long behind the number: `1 s` this session, `1 h` one hour, `1 t` today, `1 w` a week, `1 until 2h`, `1 p` permanently';

export function drawChoice(prompt: ChoicePrompt, options: DrawingOptions): Drawing {
  const lines = new Lines(options.width);
  const { installs } = prompt;
  lines.ours(
    installs === true ? `INSTALL${numbered(options)}: a new app` : `CHOICE${numbered(options)}: which app`,
    'bold',
  );
  lines.say('ask: ', prompt.question);
  for (const [index, choice] of prompt.choices.entries()) lines.say(`[${index + 1}]`, choice);
  lines.say('[n]', 'none of them (default)');
  if (installs !== true) lines.say('longer than once:', LASTING_CHOICE);
  return { lines: lines.lines, hidesArguments: false };
}

/** One of Cordon's own sentences in the frame, wrapped. */
export function framed(label: string, text: string, width: number): Drawing {
  return { lines: linesOf(width, (own) => own.say(label, text, 'plain')), hidesArguments: false };
}

function numbered({ number }: DrawingOptions): string {
  return number === null ? '' : ` ${number}`;
}

export function planWords(isExpected: boolean): string {
  return isExpected ? 'expected for your request' : 'NOT all of this is in your request';
}

/** Of a datum that is a text: its name, its length, and who wrote it. */
export function textWords({ name, value, isUsers }: PromptDatum, mostName: number): string {
  const whose = isUsers === true ? 'in your own words' : 'perhaps written by others';
  return `${visibleLine(name, mostName)}, ${value.length} characters, ${whose}`;
}

/** What is asked for, and whether the user has said it. */
export function fieldWords({ name, value, field }: PromptDatum): string {
  const label = visibleLine(name, MOST_LABEL);
  if (value !== '' || field === undefined) return `${label}, as you said it; editable`;
  return `${label}, empty; you may fill it in, like \`${exampleOfData(field)}\``;
}

/** Attack: a thousand arguments with a text each scroll the question away. */
export function placesIn(paths: readonly string[]): string {
  const named = paths.slice(0, SHOWN_PLACES).map((path) => visibleLine(path, MOST_NAME) || 'all of it');
  const more = paths.length - named.length;
  return more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ');
}
