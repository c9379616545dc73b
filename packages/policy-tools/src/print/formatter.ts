/**
 * Formats a file: white space, indentation, line breaks and quotes become canonical; comments, the order of things and
 * the author's parentheses stay.
 *
 * INVARIANT (same meaning): the formatted text has the tree of the text that was given, spans aside, and its comments,
 * in their order. Checked on every text: a file that would be damaged is not formatted.
 *
 * What it writes is parsed again and compared before anybody gets it.
 */
import { type Diagnostic, failed, ok, type Result } from '@cordon/core';
import {
  columnOf,
  Diagnostics,
  type Expression,
  type PolicyTree,
  parseTokens,
  type Reading,
  type Role,
  Source,
  type Token,
} from '@cordon/policy';
import { INDENTATION, layOutLine, type Piece } from './line-layout.ts';
import { type Comment, type Gap, gapsOf } from './trivia.ts';

export interface FormatOptions {
  /** Shown in diagnostics. */
  readonly file?: string;
}

/** The text in canonical form; a text that cannot be read is not formatted, and its diagnostics say why. */
export function format(text: string, options: FormatOptions = {}): Result<string, readonly Diagnostic[]> {
  const { source, diagnostics, reading } = parsed(options.file ?? 'policy.gr', text);
  if (diagnostics.hasErrors()) return failed(diagnostics.all());
  const formatted = written(source, reading);
  if (formatted === text || isSame(source, reading, formatted)) return ok(formatted);
  const message = 'the file was left alone: formatting would have changed what it means';
  diagnostics.error(
    'POL049',
    { start: 0, end: 0 },
    message,
    'this is a fault of the formatter; please report it',
  );
  return failed(diagnostics.all());
}

function parsed(file: string, text: string) {
  const source = new Source(file, text);
  const diagnostics = new Diagnostics(source);
  return { source, diagnostics, reading: parseTokens(source, diagnostics) };
}

/** The canonical form of a text that was made from a tree; the text itself if it cannot be read. */
export function canonicalText(text: string): string {
  const { source, diagnostics, reading } = parsed('printed.gr', text);
  return diagnostics.hasErrors() ? text : written(source, reading);
}

/** Whether two trees, or two parts of trees, differ in nothing but their spans. */
export function isSameTree(a: PolicyTree | Expression, b: PolicyTree | Expression): boolean {
  const pairs: [unknown, unknown][] = [[a, b]];
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [left, right] = pair;
    if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) {
      if (!Object.is(left, right)) return false;
      continue;
    }
    if (Array.isArray(left) !== Array.isArray(right)) return false;
    const keys = Object.keys(left);
    if (keys.length !== Object.keys(right).length) return false;
    for (const key of keys) {
      if (!Object.hasOwn(right, key)) return false;
      if (key !== 'start' && key !== 'end') pairs.push([Reflect.get(left, key), Reflect.get(right, key)]);
    }
  }
  return true;
}

function isSame(source: Source, reading: Reading, formatted: string): boolean {
  const { diagnostics, reading: again } = parsed(source.file, formatted);
  if (diagnostics.hasErrors() || !isSameTree(again.tree, reading.tree)) return false;
  const before = commentsOf(source.text, reading);
  const after = commentsOf(formatted, again);
  return before.length === after.length && before.every((comment, index) => comment === after[index]);
}

function commentsOf(text: string, { tokens }: Reading): readonly string[] {
  const comments = gapsOf(text, tokens.filter(isWritten)).flatMap((gap) => [
    gap.trailing,
    ...gap.comments.map((comment) => comment.text),
  ]);
  return comments.filter((comment) => comment !== null);
}

function isWritten({ kind }: Token): boolean {
  return kind !== 'newline' && kind !== 'indent' && kind !== 'dedent' && kind !== 'end';
}

// ── lines ───────────────────────────────────────────────────────────────────────────────────────────────────

/** One line of the language and what stands above it. `pieces` are empty at the end of the file. */
interface Line {
  readonly pieces: readonly Piece[];
  readonly depth: number;
  readonly comments: readonly Comment[];
  readonly commentDepths: readonly number[];
  readonly isAfterBlankLine: boolean;
  readonly kind: LineKind;
}

/**
 * `import` and `constant` are statements of one line; `head` opens a block; `rule-name` stands directly above its
 * rule; `continuation` continues the line whose block has just ended.
 */
type LineKind = 'import' | 'constant' | 'head' | 'rule-name' | 'continuation' | 'line' | 'end';

function written(source: Source, reading: Reading): string {
  let text = '';
  let previous: Line | null = null;
  for (const line of linesOf(source.text, reading)) {
    text += withLinesAbove(line, previous);
    if (line.pieces.length > 0) text += `${layOutLine(line.pieces, line.depth)}\n`;
    previous = line;
  }
  return text;
}

/** Blank lines and comments above a line, and its line end. */
function withLinesAbove(line: Line, previous: Line | null): string {
  let needsGap = separation(line, previous) === 'one';
  const allowsGap = separation(line, previous) !== 'none';
  let text = '';
  let isFirst = true;
  const gap = (isWanted: boolean, depth: number): string => {
    const isForced = needsGap && depth === 0;
    const isBlank = isForced || (allowsGap && isWanted && !(isFirst && opensFile(previous)));
    if (depth === 0) needsGap = false;
    isFirst = false;
    return isBlank ? '\n' : '';
  };
  for (const [index, comment] of line.comments.entries()) {
    const depth = line.commentDepths[index] ?? line.depth;
    text += `${gap(comment.isAfterBlankLine, depth)}${INDENTATION.repeat(depth)}${comment.text}\n`;
  }
  return line.kind === 'end' ? text : text + gap(line.isAfterBlankLine, line.depth);
}

/** At the beginning of the file and of a block no blank line stands. */
function opensFile(previous: Line | null): boolean {
  return previous === null || previous.kind === 'head';
}

/** Blank lines between two lines: none, exactly one, or as the author has it, but no more than one. */
function separation(line: Line, previous: Line | null): 'none' | 'one' | 'author' {
  if (line.kind === 'continuation' || previous?.kind === 'rule-name') return 'none';
  if (previous === null || line.depth > 0) return 'author';
  if (previous.kind === 'head' && line.kind !== 'end') return 'author';
  const isGroup = previous.depth === 0 && (previous.kind === 'import' || previous.kind === 'constant');
  return isGroup && (line.kind === previous.kind || line.kind === 'end') ? 'author' : 'one';
}

/** A block of the text as it was: where its lines begin, and how deep they will stand. */
interface Block {
  readonly column: number;
  readonly depth: number;
}

function linesOf(text: string, reading: Reading): readonly Line[] {
  return new LineReader(text, reading).lines();
}

class LineReader {
  readonly #text: string;
  readonly #reading: Reading;
  readonly #gaps: readonly Gap[];
  readonly #lines: Line[] = [];
  #blocks: Block[] = [{ column: 0, depth: 0 }];
  /** The blocks that were open at the end of the line before. */
  #blocksBefore: readonly Block[] = this.#blocks;
  #pieces: Piece[] = [];
  #gap: Gap | null = null;

  constructor(text: string, reading: Reading) {
    this.#text = text;
    this.#reading = reading;
    this.#gaps = gapsOf(text, reading.tokens.filter(isWritten));
  }

  lines(): readonly Line[] {
    const { tokens, roles } = this.#reading;
    let index = 0;
    for (const [at, token] of tokens.entries()) {
      if (isWritten(token)) {
        this.#piece(token, index++);
        if (roles.get(token) === 'rule-name') this.#endLine('rule-name');
      } else if (token.kind === 'newline') {
        if (roles.get(token) !== 'continued') this.#endLine(null);
      } else if (token.kind === 'indent') this.#indent(tokens[at + 1]);
      else if (token.kind === 'dedent') {
        if (this.#blocksBefore === this.#blocks) this.#blocksBefore = [...this.#blocks];
        this.#blocks.pop();
      }
    }
    const last = this.#gaps.at(-1);
    if (last !== undefined && last.comments.length > 0) this.#push([], last, 'end');
    return this.#lines;
  }

  #piece(token: Token, index: number): void {
    const { roles } = this.#reading;
    const gap = this.#gaps[index];
    if (gap === undefined) return;
    const role = roles.get(token) ?? null;
    if (this.#pieces.length === 0) this.#gap = gap;
    this.#pieces.push({
      token,
      text: textOf(token, role),
      role,
      isLineStart: gap.isLineStart,
      comments: gap.comments,
      trailing: this.#gaps[index + 1]?.trailing ?? null,
    });
  }

  /** A block; below the name of a rule none, because the rule stands at the margin like its name. */
  #indent(next: Token | undefined): void {
    const isRule = this.#pieces.length === 0 && this.#lines.at(-1)?.kind === 'rule-name';
    if (!isRule) this.#endLine('head');
    const depth = (this.#blocks.at(-1)?.depth ?? 0) + (isRule ? 0 : 1);
    const at = next?.start ?? 0;
    const column = columnOf(this.#text, this.#text.lastIndexOf('\n', at - 1) + 1, at);
    this.#blocks.push({ column, depth });
    this.#blocksBefore = this.#blocks;
  }

  #endLine(kind: 'head' | 'rule-name' | null): void {
    const gap = this.#gap;
    if (this.#pieces.length === 0 || gap === null) return;
    this.#push(this.#pieces, gap, kind ?? kindOf(this.#pieces));
    this.#pieces = [];
    this.#gap = null;
  }

  #push(pieces: readonly Piece[], gap: Gap, kind: LineKind): void {
    const depth = this.#blocks.at(-1)?.depth ?? 0;
    this.#lines.push({
      pieces,
      depth,
      comments: gap.comments,
      commentDepths: this.#depthsOf(gap.comments, depth),
      isAfterBlankLine: gap.isAfterBlankLine,
      kind: isContinuation(pieces[0]) ? 'continuation' : kind,
    });
    this.#blocksBefore = this.#blocks;
  }

  /**
   * A comment behind the last line of a block belongs to the innermost block that it is indented for; one that follows it
   * stands no deeper than it.
   */
  #depthsOf(comments: readonly Comment[], depth: number): readonly number[] {
    const open = this.#blocksBefore.filter((block) => block.depth >= depth);
    let deepest = open.length - 1;
    return comments.map(({ column }) => {
      while (deepest > 0 && (open[deepest]?.column ?? 0) > column) deepest--;
      return Math.max(open[deepest]?.depth ?? depth, depth);
    });
  }
}

function kindOf(pieces: readonly Piece[]): LineKind {
  const [first, second] = pieces;
  const isImport = first?.text === 'import' || first?.text === 'from';
  if (isImport && second?.token.kind === 'name') return 'import';
  return pieces.some(({ role }) => role === 'definition') ? 'constant' : 'line';
}

const COMPARISONS: ReadonlySet<string> = new Set(['==', '!=', '<', '>', '<=', '>=', '->', '~>']);

/** No line begins so, except one that continues behind the block of a quantifier. */
function isContinuation(first: Piece | undefined): boolean {
  if (first === undefined) return false;
  return first.role === 'logic' || (first.token.kind === 'operator' && COMPARISONS.has(first.text));
}

/** A token as it will be written. */
function textOf(token: Token, role: Role | null): string {
  if (role === 'definition') return ':=';
  if (token.kind !== 'string' || token.isMultiline || !token.text.endsWith("'")) return token.text;
  const { length } = token.prefix;
  const content = token.text.slice(length + 1, -1);
  // Where a quote stands inside, it would be an escape in one kind of quotes and none in the other.
  return /["']/.test(content) ? token.text : `${token.prefix}"${content}"`;
}
