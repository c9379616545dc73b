/**
 * A question as lines of text: for the terminal, for `cordon prompts`, and for the journal, which keeps what the user saw.
 *
 * INVARIANT (the frame is ours): whatever an app wrote is escaped, wrapped, shortened, and never at column 0.
 *
 * What stands here is the ground of every grant (with screen.ts and visible-text.ts).
 */
import {
  type ChoicePrompt,
  exampleOfData,
  firstLines,
  type NamedArgument,
  type PermissionPrompt,
  type PermissionScope,
  type PromptDatum,
  visibleLine,
  visibleLines,
  wrap,
} from '@cordon/core';
import { type ArgumentLine, argumentLines } from '../text/argument-lines.ts';
import { FRAME, GUTTER, type Screen, type Style } from '../text/screen.ts';

/** Lines of one datum that are shown at once, and data of one prompt. */
const SHOWN_LINES = 12;
const SHOWN_DATA = 20;
/** Arguments of one call, and lines of each where there are several: as many as fit, and two at least. */
const SHOWN_ARGUMENTS = 60;
const ARGUMENTS_LINES = 24;
const LEAST_LINES = 2;
/** Arguments that are named as those that hold a text of one app. */
const SHOWN_PLACES = 8;
/** Characters of the name of an argument, with its value and where only the name is shown. */
const MOST_NAME = 120;
const MOST_NAME_ALONE = 40;
const INDENT = '      ';
/** Characters of a question, a name, a warning. */
const MOST_WORDS = 600;
/** Of a list of warnings; a list that scrolls the question away is no warning. */
const MOST_WARNINGS = 12;

export interface DrawnLine {
  readonly text: string;
  readonly style: Style;
  /** Words of others, behind the gutter. */
  readonly isQuoted: boolean;
}

export interface Drawing {
  readonly lines: readonly DrawnLine[];
  /** Whether data were left out that can be viewed. */
  readonly isLong: boolean;
  /**
   * Whether arguments were left out with their names, so that nobody can know what else there is, or a part of one that
   * says whom or what the call reaches. Attack: the last of a hundred recipients.
   */
  readonly hidesArguments: boolean;
}

export interface DrawingOptions {
  /** Columns. */
  readonly width: number;
  /** Where several questions are open; null: it is the only one. */
  readonly number: string | null;
}

class Lines {
  readonly lines: DrawnLine[] = [];
  readonly #width: number;

  constructor(width: number) {
    this.#width = width;
  }

  ours(text: string, style: Style = 'plain'): void {
    this.lines.push({ text: FRAME + text, style, isQuoted: false });
  }

  /**
   * A line of the prompt behind one of Cordon's labels. Names and rules may come from a manifest, a policy or a tool list:
   * they are escaped like everything else. Attack: a name so long that its second line reads `▐ Allow?`; lines that
   * continue are indented, so that no line of the frame begins with words of others.
   */
  say(label: string, text: string, style: Style = 'plain'): void {
    const room = this.#width - FRAME.length - INDENT.length;
    const [first = '', ...others] = wrap(`${label} ${visibleLine(text, MOST_WORDS)}`, room);
    this.ours(first, style);
    for (const line of others) this.ours(INDENT + line, style);
  }

  /** Returns how many lines were left out, in words, or null. */
  quote(text: string): string | null {
    return firstLines(text, this.#width - GUTTER.length, SHOWN_LINES, (line) => this.#quoted(line));
  }

  /**
   * An argument with its name; continued lines are indented. Attack: a text whose second line reads like another
   * argument. Returns how many characters were left out, about.
   */
  argument({ path, text }: NamedArgument, most: number): number {
    const name = `${visibleLine(path, MOST_NAME)}: `;
    const room = this.#width - GUTTER.length - INDENT.length;
    let count = 0;
    let shown = 0;
    for (const line of visibleLines(`${name}${text}`, room)) {
      if (count === most) return Math.max(1, text.length - shown + name.length);
      this.#quoted(count++ === 0 ? line : INDENT + line);
      shown += line.length;
    }
    return 0;
  }

  #quoted(text: string): void {
    this.lines.push({ text, style: 'plain', isQuoted: true });
  }
}

export function drawPermission(prompt: PermissionPrompt, options: DrawingOptions): Drawing {
  const { from, to, what, scope } = prompt.subject;
  const lines = new Lines(options.width);
  lines.ours(`PERMISSION${numbered(options)}: ${SCOPE_WORDS[scope]}`, 'bold');
  lines.say('ask: ', prompt.question);
  lines.say('from:', from ?? 'Cordon itself, or a context without an app');
  lines.say('to:  ', to ?? 'you, or nobody');
  lines.say('what:', what);
  const { weaker = [] } = prompt;
  if (weaker.length > 0) lines.say('!!', `the sandbox is weaker: without ${weaker.join(', ')}`, 'bad');
  lines.say('plan:', prompt.expected ? 'expected for your request' : 'NOT part of the plan for your request');
  for (const asks of prompt.asks ?? []) lines.say('a rule asks:', asks);
  for (const rule of prompt.rules) lines.say('rule:', rule);
  drawWarnings(lines, 'WARNING:', prompt.warnings);
  drawWarnings(lines, 'NEW: ', prompt.newRecipients);
  const left = drawData(lines, prompt.data);
  if (prompt.durations.some((duration) => duration !== 'once')) {
    lines.say('longer than once:', `covers ${prompt.covers}`);
  }
  return { lines: lines.lines, ...left };
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
  return { lines: lines.lines, ...NOTHING_LEFT };
}

/** All data as pages of lines, for a terminal. */
export function* dataLines(data: readonly PromptDatum[], width: number): Generator<DrawnLine, void> {
  for (const datum of data) {
    const heading = new Lines(width);
    heading.say('data:', visibleLine(datum.name, 80));
    yield* heading.lines;
    const shown = datum.identifying === undefined ? null : argumentLines(datum.value, datum.identifying);
    if (shown !== null) {
      for (const argument of shown) {
        const whole = new Lines(width);
        whole.argument(argument, Number.POSITIVE_INFINITY);
        yield* whole.lines;
      }
      continue;
    }
    for (const line of visibleLines(datum.value, width - GUTTER.length)) {
      yield { text: line, style: 'plain', isQuoted: true };
    }
  }
}

/** One of Cordon's own sentences in the frame, wrapped. */
export function framed(label: string, text: string, width: number): Drawing {
  const lines = new Lines(width);
  lines.say(label, text, 'plain');
  return { lines: lines.lines, ...NOTHING_LEFT };
}

export function showDrawing(screen: Screen, { lines }: Pick<Drawing, 'lines'>): void {
  for (const { text, style, isQuoted } of lines) {
    if (isQuoted) screen.quotedLine(text);
    else screen.line(screen.style(style, text));
  }
}

/** As the journal keeps it: what stood on the screen, without colours. */
export function textOfDrawing({ lines }: Pick<Drawing, 'lines'>): string {
  return lines.map(({ text, isQuoted }) => `${isQuoted ? GUTTER : ''}${text}\n`).join('');
}

function numbered({ number }: DrawingOptions): string {
  return number === null ? '' : ` ${number}`;
}

function drawWarnings(lines: Lines, label: string, warnings: readonly string[]): void {
  for (const warning of warnings.slice(0, MOST_WARNINGS)) lines.say(label, warning, 'warn');
  if (warnings.length > MOST_WARNINGS)
    lines.say(label, `and ${warnings.length - MOST_WARNINGS} more`, 'warn');
}

type Left = Pick<Drawing, 'isLong' | 'hidesArguments'>;
const NOTHING_LEFT: Left = { isLong: false, hidesArguments: false };

function drawData(lines: Lines, data: readonly PromptDatum[]): Left {
  const left = data.slice(0, SHOWN_DATA).map((datum) => drawDatum(lines, datum));
  const isShort = data.length <= SHOWN_DATA;
  if (!isShort) lines.say('more:', `${data.length - SHOWN_DATA} data, answer v to view them`);
  return {
    isLong: !isShort || left.some(({ isLong }) => isLong),
    hidesArguments:
      left.some(({ hidesArguments }) => hidesArguments) ||
      data.slice(SHOWN_DATA).some(({ identifying }) => identifying !== undefined),
  };
}

function drawDatum(lines: Lines, datum: PromptDatum): Left {
  const { name, value, identifying, isUsers, sources = [], isEditable, field } = datum;
  const whose = isUsers === true ? 'in your own words' : 'perhaps written by others';
  const editable = isEditable === true ? '; editable' : '';
  if (field !== undefined) lines.say('field:', fieldWords(datum));
  else lines.say('data:', `${visibleLine(name, 80)}, ${value.length} characters, ${whose}${editable}`);
  for (const { app, arguments: paths } of sources.slice(0, SHOWN_DATA))
    lines.say('text:', `from ${app}, in ${placesIn(paths)}`);
  if (sources.length > SHOWN_DATA) lines.say('text:', `from ${sources.length - SHOWN_DATA} more apps`);
  if (field !== undefined && value === '') return NOTHING_LEFT;
  const shown = identifying === undefined ? null : argumentLines(value, identifying);
  if (shown !== null) return drawArguments(lines, shown);
  const more = lines.quote(value);
  if (more === null) return NOTHING_LEFT;
  lines.say('more:', `${more} lines, answer v to view them`);
  return { isLong: true, hidesArguments: identifying !== undefined };
}

/** What is asked for, and whether the user has said it. */
export function fieldWords({ name, value, field }: PromptDatum): string {
  const label = visibleLine(name, 80);
  if (value !== '' || field === undefined) return `${label}, as you said it; editable`;
  return `${label}, empty; you may fill it in, like \`${exampleOfData(field)}\``;
}

/** Attack: a thousand arguments with a text each scroll the question away. */
function placesIn(paths: readonly string[]): string {
  const named = paths.slice(0, SHOWN_PLACES).map((path) => visibleLine(path, MOST_NAME_ALONE) || 'all of it');
  const more = paths.length - named.length;
  return more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ');
}

/** Each is cut by itself, so that none pushes another away. */
function drawArguments(lines: Lines, shown: readonly ArgumentLine[]): Left {
  const most = Math.min(SHOWN_LINES, Math.max(LEAST_LINES, Math.trunc(ARGUMENTS_LINES / shown.length)));
  const cut = shown.slice(0, SHOWN_ARGUMENTS).flatMap((argument) => {
    const left = lines.argument(argument, most);
    const name = visibleLine(argument.path, MOST_NAME_ALONE);
    return left === 0 ? [] : [{ name, left, isIdentifying: argument.isIdentifying }];
  });
  const reached = cut.filter(({ isIdentifying }) => isIdentifying).map(({ name }) => name);
  const hidden = shown.length - SHOWN_ARGUMENTS;
  if (cut.length > 0) {
    const told = cut.map(({ name, left }) => `${name}: ${left} characters`);
    lines.say('more:', `${told.join(', ')}; answer v to view them`);
  }
  if (reached.length > 0)
    lines.say('!!', `not all of ${reached.join(', ')} is shown: answer v to view it`, 'bad');
  if (hidden > 0) lines.say('!!', `${hidden} more arguments are not shown: answer v to view them`, 'bad');
  return { isLong: cut.length > 0 || hidden > 0, hidesArguments: reached.length > 0 || hidden > 0 };
}

const SCOPE_WORDS: Readonly<Record<PermissionScope, string>> = {
  'app-selection': 'an app serves your request',
  exchange: 'an app asks another app',
  response: 'an answer goes to another app',
  'data-release': 'an app reads data',
  'irreversible-action': 'an action that cannot be undone',
  egress: 'an app connects to a site',
  policy: 'a rule of your policy requires your permission',
};
