/**
 * Text to tokens. Blocks come from indentation outside of strings, comments and brackets, so neither a comment
 * nor a string that ends with `:` can open one (specification 2.1 lists what goes wrong otherwise).
 *
 * Never throws; linear in the length of the text.
 */
import type { Diagnostics } from './codes.ts';
import type { Span } from './source.ts';
import { OPERATORS, type Operator, type Token } from './token.ts';

const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const NUMBER = /(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?/y;
const VALUE_REFERENCE = /<[A-Za-z_:]+>/y;

const OPERATOR_OF: ReadonlyMap<string, Operator> = new Map(OPERATORS.map((operator) => [operator, operator]));

/**
 * The tokens of `text` from `start` to `end`, without layout; what belongs to none is reported. The first load of a
 * process runs this before the host has compiled it, so each character is looked at with as little as will do.
 */
function scan(text: string, start: number, end: number, diagnostics: Diagnostics): Token[] {
  const tokens: Token[] = [];
  let previous: Token | undefined;
  for (let at = start; at < end; ) {
    const first = text.charCodeAt(at);
    if (isBlank(first)) at++;
    else if (first === HASH) at = commentEnd(text, at, end);
    else {
      previous = tokenAt(text, at, end, previous, diagnostics) ?? unknownAt(text, at, end, diagnostics);
      tokens.push(previous);
      at = previous.end;
    }
  }
  return tokens;
}

const HASH = 0x23;
const BYTE_ORDER_MARK = 0xfeff;

function isBlank(code: number): boolean {
  if (code > 0x20) return code === BYTE_ORDER_MARK;
  return code === 0x20 || code === 0x0a || code === 0x09 || code === 0x0d || code === 0x0c;
}

function commentEnd(text: string, at: number, end: number): number {
  const newline = text.indexOf('\n', at);
  return newline < 0 ? end : newline;
}

/** The first character says what a token can be: trying all forms at each would double the time to load. */
function tokenAt(
  text: string,
  at: number,
  end: number,
  previous: Token | undefined,
  diagnostics: Diagnostics,
): Token | null {
  const first = text.charAt(at);
  const string = stringAt(text, at, end, first, diagnostics);
  if (string !== null) return string;
  if (isLetter(first)) {
    const stop = endOf(NAME, text, at) ?? at;
    return { kind: 'name', text: text.slice(at, stop), start: at, end: stop };
  }
  if (first === '.' || (first >= '0' && first <= '9')) {
    const stop = endOf(NUMBER, text, at);
    if (stop !== null) return numberOf(text.slice(at, stop), at, stop);
  }
  if (first === '<' && !endsOperand(previous)) {
    const stop = endOf(VALUE_REFERENCE, text, at);
    if (stop !== null) return { kind: 'value-reference', text: text.slice(at, stop), start: at, end: stop };
  }
  // Longest first, so that `:=` is never read as `:` and `=`.
  const operator = OPERATOR_OF.get(text.slice(at, at + 2)) ?? OPERATOR_OF.get(first);
  return operator === undefined
    ? null
    : { kind: 'operator', text: operator, start: at, end: at + operator.length };
}

function isLetter(character: string): boolean {
  return (
    (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') || character === '_'
  );
}

function numberOf(text: string, start: number, end: number): Token {
  return { kind: 'number', text, value: Number(text), isInteger: /^\d+$/.test(text), start, end };
}

/** After an operand `<` is a comparison: `a <b> c` is no value reference. */
function endsOperand(token: Token | undefined): boolean {
  if (token === undefined) return false;
  if (token.kind === 'operator') return token.text === ')' || token.text === ']' || token.text === '}';
  return token.kind !== 'value-reference';
}

/** What other languages write, and what it is called here. */
const FOREIGN_OPERATORS: readonly (readonly [string, string])[] = [
  ['&&', 'write `and`'],
  ['||', 'write `or`'],
  ['&', 'write `and`'],
  ['|', 'write `or`'],
  ['!', 'write `not`'],
  ['?', 'write `a if condition else b`'],
  [';', 'end a line with a line end'],
  ['“', 'write `"` around a text'],
  ['”', 'write `"` around a text'],
  ['‘', 'write `"` around a text'],
  ['’', 'write `"` around a text'],
  ['`', 'write `"` around a text'],
];

function unknownAt(text: string, at: number, end: number, diagnostics: Diagnostics): Token {
  const codePoint = text.codePointAt(at) ?? 0;
  const length = codePoint > 0xffff ? 2 : 1;
  const character = String.fromCodePoint(codePoint);
  // Attack: a character that turns the direction of writing, in a report on a terminal.
  const isHidden = /[\p{C}\p{M}\p{Z}]/u.test(character);
  const foreign = FOREIGN_OPERATORS.find(([operator]) => text.startsWith(operator, at));
  const shown = isHidden
    ? `U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`
    : (foreign?.[0] ?? character);
  const span = { start: at, end: at + (foreign?.[0].length ?? length) };
  diagnostics.error(
    'POL001',
    span,
    `\`${shown}\` is not part of the language`,
    foreign?.[1] ?? helpFor(character),
  );
  // One report for a run of the same character: a megabyte of NULs is one problem.
  let next = curlyQuoteEnd(text, at, end) ?? at + length;
  while (next < end && text.codePointAt(next) === codePoint) next += length;
  return { kind: 'unknown', text: text.slice(at, next), start: at, end: next };
}

function helpFor(character: string): string | undefined {
  return /\p{Zs}/u.test(character) ? 'it looks like a space: write one' : undefined;
}

const MAX_CURLY = 200;

/** Where a text ends that begins with a curly quote, on the same line: it is one slip, not two. */
function curlyQuoteEnd(text: string, at: number, end: number): number | null {
  const first = text[at];
  if (first !== '“' && first !== '‘') return null;
  // Not further: each quote without a partner would search the rest of a long line.
  const [line = ''] = text.slice(at, Math.min(end, at + MAX_CURLY)).split('\n');
  const close = line.indexOf(first === '“' ? '”' : '’');
  return close < 0 ? null : at + close + 1;
}

function stringAt(
  text: string,
  at: number,
  end: number,
  first: string,
  diagnostics: Diagnostics,
): Token | null {
  const prefix = first === 'r' || first === 'f' ? first : '';
  const open = at + prefix.length;
  const quote = prefix === '' ? first : text[open];
  if (quote !== '"' && quote !== "'") return null;
  const triple = quote.repeat(3);
  const isMultiline = text.startsWith(triple, open);
  const quotes = isMultiline ? triple : quote;
  const start = open + quotes.length;
  const close = isMultiline ? text.indexOf(triple, start) : closingQuote(text, start, end, quote);
  const isClosed = close >= 0 && close <= end;
  const contentEnd = isClosed ? close : isMultiline ? end : lineEnd(text, start, end);
  const content = text.slice(start, contentEnd);
  const stop = isClosed ? close + quotes.length : contentEnd;
  if (!isClosed) {
    const help = isMultiline ? `close it with \`${triple}\`` : `close it with \`${quote}\` on the same line`;
    diagnostics.error('POL002', { start: at, end: stop }, 'the string has no end', help);
  }
  return {
    kind: 'string',
    text: text.slice(at, stop),
    value: isClosed ? unescaped(content, quote, isMultiline) : content,
    prefix: isClosed ? prefix : '',
    isMultiline,
    isClosed,
    start: at,
    end: stop,
  };
}

function unescaped(content: string, quote: string, isMultiline: boolean): string {
  return isMultiline ? dedent(content) : content.replaceAll(`\\${quote}`, quote);
}

/** The quote that ends the string; a backslash takes the next character with it. -1: the line ends before. */
function closingQuote(text: string, from: number, end: number, quote: string): number {
  for (let at = from; at < end; at++) {
    const character = text[at];
    if (character === quote) return at;
    if (character === '\n') return -1;
    if (character === '\\' && text[at + 1] !== '\n') at++;
  }
  return -1;
}

function lineEnd(text: string, from: number, end: number): number {
  const newline = text.indexOf('\n', from);
  const stop = newline < 0 || newline > end ? end : newline;
  return text[stop - 1] === '\r' && stop > from ? stop - 1 : stop;
}

/** Python's `textwrap.dedent`: the white space that all lines with text have in common goes. */
export function dedent(text: string): string {
  const width = commonIndentation(text);
  return text
    .split('\n')
    .map((line) => (isBlankLine(line) ? '' : line.slice(width)))
    .join('\n');
}

/** How much white space all lines with text have in common at their beginning. */
export function commonIndentation(text: string): number {
  let common: string | null = null;
  for (const line of text.split('\n')) {
    if (isBlankLine(line)) continue;
    const indentation = /^[ \t]*/.exec(line)?.[0] ?? '';
    common = common === null ? indentation : commonPrefix(common, indentation);
  }
  return common?.length ?? 0;
}

function isBlankLine(line: string): boolean {
  return /^[ \t]*\r?$/.test(line);
}

function commonPrefix(a: string, b: string): string {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return a.slice(0, length);
}

/** Where what a sticky pattern matches at a place ends. */
function endOf(pattern: RegExp, text: string, at: number): number | null {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : null;
}

/** Tokens with layout: lines of a block are separated by `newline`, blocks stand between `indent` and `dedent`. */
export function lex(text: string, diagnostics: Diagnostics): readonly Token[] {
  return layOut(text, scan(text, 0, text.length, diagnostics));
}

/** The tokens of a piece of the text that is one expression, e.g. what stands between the braces of an f-string. */
export function lexExpression(text: string, span: Span, diagnostics: Diagnostics): readonly Token[] {
  // Cut off, so that a comment or a string without end does not run on through the rest of a long text.
  const tokens = scan(text.slice(0, span.end), span.start, span.end, diagnostics);
  return [...tokens, { kind: 'end', text: '', start: span.end, end: span.end }];
}

/** At the left margin these words begin a statement even when a bracket above was left open. */
const STATEMENT_WORDS: ReadonlySet<string> = new Set([
  'raise',
  'ask',
  'warn',
  'rule',
  'import',
  'from',
  'def',
]);

function layOut(text: string, tokens: readonly Token[]): readonly Token[] {
  const out: Token[] = [];
  const columns = lineColumns(text, tokens);
  const margin = columns.reduce<number>(
    (least, column) => (column === null || column > least ? least : column),
    Infinity,
  );
  const blocks: number[] = [margin === Infinity ? 0 : margin];
  const unclosed = unclosedBrackets(tokens, columns, margin);
  const open = new OpenBrackets();
  let previous: Token | null = null;
  /** The first token of the newest statement. */
  let statement: Token | undefined = tokens[0];
  let isRuleHead = false;
  // Not `for … of`, which makes an object for each token until the host has compiled this.
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index];
    if (token === undefined) break;
    const column = columns[index] ?? null;
    if (column !== null && open.isEmpty && previous !== null) {
      const lines = out.length;
      const forgot = isRuleHead && forgotColon(previous, token, tokens[index + 1]);
      const isBlock = forgot || opensBlock(previous);
      if (!isBlock && blocks.length === 1 && beginsStatement(statement, previous, token, tokens[index + 1]))
        blocks[0] = column;
      startLine(out, blocks, column, isBlock, previous, token.start);
      if (out.length > lines) {
        isRuleHead = false;
        if (blocks.length === 1) statement = token;
      }
    }
    if (column !== null && beginsRule(token, tokens[index + 1])) isRuleHead = true;
    if (token.kind === 'operator' && !unclosed.has(index)) open.pass(token.text, index);
    out.push(token);
    previous = token;
  }
  const end = text.length;
  const lastEnd = previous?.end ?? 0;
  if (previous !== null) out.push(mark('newline', lastEnd));
  for (let level = blocks.length; level > 1; level--) out.push(mark('dedent', lastEnd));
  out.push({ kind: 'end', text: '', start: end, end });
  return out;
}

/**
 * Brackets without their end before the next statement, by the index of their token. For the layout they do not count,
 * so that the lines below such a slip are lines.
 */
function unclosedBrackets(
  tokens: readonly Token[],
  columns: readonly (number | null)[],
  margin: number,
): ReadonlySet<number> {
  const unclosed = new Set<number>();
  let open = new OpenBrackets();
  const giveUp = (): void => {
    for (const index of open.tokens()) unclosed.add(index);
    open = new OpenBrackets();
  };
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index];
    if (token === undefined) break;
    if (columns[index] === margin && token.kind === 'name' && STATEMENT_WORDS.has(token.text)) giveUp();
    if (token.kind === 'operator') open.pass(token.text, index);
  }
  giveUp();
  return unclosed;
}

/** The column of each token that is the first of its line, else null. Tabs and spaces count one each. */
function lineColumns(text: string, tokens: readonly Token[]): readonly (number | null)[] {
  let lineStart = 0;
  let lineEnd = nextNewline(text, 0);
  let previousEnd = 0;
  return tokens.map((token, index) => {
    while (lineEnd < token.start) {
      lineStart = lineEnd + 1;
      lineEnd = nextNewline(text, lineStart);
    }
    const isFirst = index === 0 || lineStart >= previousEnd;
    previousEnd = token.end;
    return isFirst ? columnOf(text, lineStart, token.start) : null;
  });
}

function nextNewline(text: string, from: number): number {
  const found = text.indexOf('\n', from);
  return found < 0 ? Number.POSITIVE_INFINITY : found;
}

/** A byte-order mark is no indentation. */
export function columnOf(text: string, lineStart: number, at: number): number {
  return text[lineStart] === '\ufeff' ? at - lineStart - 1 : at - lineStart;
}

function startLine(
  out: Token[],
  blocks: number[],
  column: number,
  isBlock: boolean,
  previous: Token,
  at: number,
): void {
  const current = blocks.at(-1) ?? 0;
  if (column > current) {
    // A deeper line that no `:` announced continues the line before it.
    if (!isBlock) return;
    blocks.push(column);
    out.push(mark('indent', previous.end, at));
    return;
  }
  out.push(mark('newline', previous.end));
  while (blocks.length > 1 && column < (blocks.at(-1) ?? 0)) {
    blocks.pop();
    out.push(mark('dedent', previous.end));
  }
  if (blocks.length === 1 && column < current) blocks[0] = Math.min(blocks[0] ?? 0, column);
}

/** Whether a deeper line at the margin cannot continue the statement above it, so that it begins another. */
function beginsStatement(
  statement: Token | undefined,
  previous: Token,
  token: Token,
  next: Token | undefined,
): boolean {
  if (beginsRule(token, next)) return true;
  const isBelowImport = statement?.text === 'import' || statement?.text === 'from';
  if (!isBelowImport || token.kind !== 'name' || token.text === 'import' || token.text === 'as') return false;
  // `from invariant import` and `import a,` go on in the next line.
  return previous.kind === 'name' ? !['import', 'from', 'as'].includes(previous.text) : previous.text === ')';
}

function opensBlock(token: Token): boolean {
  return token.kind === 'operator' && (token.text === ':' || token.text === ':=');
}

function beginsRule(token: Token, next: Token | undefined): boolean {
  const isEffect = token.kind === 'name' && ['raise', 'ask', 'warn'].includes(token.text);
  return isEffect && (next?.kind === 'string' || next?.kind === 'name');
}

/** So that the lines below `raise "…" if` without a colon are looked at as well, and not just the colon is missed. */
function forgotColon(previous: Token, token: Token, next: Token | undefined): boolean {
  if (previous.kind === 'string') {
    const goesOn = token.text === 'if' || token.text === '.';
    return previous.isClosed ? !goesOn : previous.text.trimEnd().endsWith(':');
  }
  const isIf = previous.kind === 'name' && previous.text === 'if';
  const goesOn = token.text === ':' || (token.text === '(' && next?.text === 'undecided');
  return isIf && !goesOn;
}

function mark(kind: 'newline' | 'indent' | 'dedent', start: number, end = start): Token {
  return { kind, text: '', start, end };
}

type Opening = '(' | '[' | '{';

const CLOSED_BY: Partial<Record<Operator, Opening>> = { ')': '(', ']': '[', '}': '{' };

/** A closing bracket also closes what was left open inside of it, so that one slip does not swallow the lines below. */
class OpenBrackets {
  readonly #stack: { readonly opening: Opening; readonly index: number }[] = [];
  /** So that a bracket that closes nothing costs nothing. */
  readonly #counts: Record<Opening, number> = { '(': 0, '[': 0, '{': 0 };

  get isEmpty(): boolean {
    return this.#stack.length === 0;
  }

  /** The indices of those that are open. */
  tokens(): readonly number[] {
    return this.#stack.map(({ index }) => index);
  }

  pass(operator: Operator, index: number): void {
    if (operator === '(' || operator === '[' || operator === '{') {
      this.#stack.push({ opening: operator, index });
      this.#counts[operator]++;
      return;
    }
    const opening = CLOSED_BY[operator];
    if (opening === undefined || this.#counts[opening] === 0) return;
    for (let closed = this.#stack.pop(); closed !== undefined; closed = this.#stack.pop()) {
      this.#counts[closed.opening]--;
      if (closed.opening === opening) return;
    }
  }
}
