/**
 * One line of the language (a head, or a line of a block) on one or more lines of text: what stands between its tokens,
 * and where it is broken if it is too long. New breaks stand inside of brackets only, where a line may always continue;
 * outside of brackets the author's own are kept.
 *
 * INVARIANT (continuation): whatever does not stand on the first line is indented more deeply than it, or closes a
 * bracket, so that no part of the line can be taken for a line, a statement or its own block.
 *
 * No decision depends on it.
 */
import type { Role, Token } from '@cordon/policy';
import type { Comment } from './trivia.ts';

/** Columns; what cannot be broken may be longer. */
export const WIDTH = 100;
export const INDENTATION = '    ';

/** A token as it will be written, with the comments that belong to it. */
export interface Piece {
  readonly token: Token;
  readonly text: string;
  readonly role: Role | null;
  /** Whether it is the first of its line in the text as it was. */
  readonly isLineStart: boolean;
  /** On their own lines before it. */
  readonly comments: readonly Comment[];
  /** Behind it. */
  readonly trailing: string | null;
}

/** The line at a depth of blocks, without a line end behind it. The comments before the first piece are the caller's. */
export function layOutLine(pieces: readonly Piece[], depth: number): string {
  const nodes = grouped(withTidyCommas(pieces));
  const writer = new LineWriter(depth);
  writer.line(nodes);
  return writer.text;
}

// ── commas ──────────────────────────────────────────────────────────────────────────────────────────────────

/** No comma before a closing bracket, and none that a comment separates from what it follows. */
function withTidyCommas(pieces: readonly Piece[]): readonly Piece[] {
  const out: Piece[] = [];
  let carried: readonly Comment[] = [];
  for (const [index, original] of pieces.entries()) {
    const piece =
      carried.length === 0 ? original : { ...original, comments: [...carried, ...original.comments] };
    carried = [];
    const previous = out.at(-1);
    if (piece.token.text !== ',' || piece.token.kind !== 'operator' || previous === undefined) {
      out.push(piece);
      continue;
    }
    const comments = [previous.trailing, ...piece.comments.map(({ text }) => text), piece.trailing];
    const [first = null, ...rest] = comments.filter((comment) => comment !== null);
    const isAtOnce = piece.comments.length === 0 || previous.trailing !== null;
    carried = (isAtOnce ? rest : [first, ...rest]).flatMap((text) => (text === null ? [] : [ownLine(text)]));
    const trailing = isAtOnce ? first : null;
    const next = pieces[index + 1];
    const isLast = next !== undefined && isCloser(next.token);
    out[out.length - 1] = { ...previous, trailing: isLast ? trailing : null };
    if (!isLast) out.push({ ...piece, comments: [], trailing });
  }
  return out;
}

function ownLine(text: string): Comment {
  return { text, column: 0, isAfterBlankLine: false };
}

// ── brackets ────────────────────────────────────────────────────────────────────────────────────────────────

interface Group {
  readonly open: Piece;
  readonly children: readonly Node[];
  readonly close: Piece;
  /** On one line, brackets included. */
  readonly width: number;
  /** `f({…})`, `any(find(…))`: it is the last one inside that is broken. */
  readonly isHugging: boolean;
  /** Whether it may be broken: not a declaration, not an index. */
  readonly isBreakable: boolean;
  /** Whether it must be: its author opened it, or a comment stands inside. */
  readonly isOpen: boolean;
}

type Node = Piece | Group;

function isGroup(node: Node): node is Group {
  return 'children' in node;
}

function firstOf(node: Node): Piece {
  return isGroup(node) ? node.open : node;
}

function lastOf(node: Node): Piece {
  return isGroup(node) ? node.close : node;
}

function isOpener({ kind, text }: Token): boolean {
  return kind === 'operator' && (text === '(' || text === '[' || text === '{');
}

function isCloser({ kind, text }: Token): boolean {
  return kind === 'operator' && (text === ')' || text === ']' || text === '}');
}

/** The brackets are balanced: the text was read without an error. */
function grouped(pieces: readonly Piece[]): readonly Node[] {
  const open: { bracket: Piece; outer: Node[] }[] = [];
  let nodes: Node[] = [];
  for (const piece of pieces) {
    if (isOpener(piece.token)) {
      open.push({ bracket: piece, outer: nodes });
      nodes = [];
      continue;
    }
    const innermost = isCloser(piece.token) ? open.pop() : undefined;
    if (innermost === undefined) nodes.push(piece);
    else {
      const group = groupOf(innermost.bracket, nodes, piece);
      nodes = innermost.outer;
      nodes.push(group);
    }
  }
  return nodes;
}

function groupOf(open: Piece, children: readonly Node[], close: Piece): Group {
  const [first] = children;
  const hasOwnComment =
    open.trailing !== null ||
    close.comments.length > 0 ||
    children.some((child) => firstOf(child).comments.length > 0 || lastOf(child).trailing !== null);
  const isBreakable = children.length > 0 && !isDeclaration(children) && !isIndex(open);
  const isOpened = isBreakable && first !== undefined && firstOf(first).isLineStart;
  const width = open.text.length + widthOf(children) + close.text.length;
  const last = hasOwnComment ? null : huggedGroup(children);
  if (last !== null) {
    const isOpen = isOpened || last.isOpen;
    const inside = isOpen ? [...children.slice(0, -1), opened(last)] : children;
    return { open, children: inside, close, width, isHugging: true, isBreakable, isOpen };
  }
  const isOpen = hasOwnComment || isOpened || children.some((child) => isGroup(child) && child.isOpen);
  return {
    open,
    children,
    close,
    width,
    isHugging: false,
    isBreakable: isBreakable || hasOwnComment,
    isOpen,
  };
}

/** What has to be broken because of an author's break in front of it. */
function opened(group: Group): Group {
  const last = group.children.at(-1);
  if (!group.isHugging || last === undefined || !isGroup(last)) return { ...group, isOpen: true };
  return { ...group, isOpen: true, children: [...group.children.slice(0, -1), opened(last)] };
}

/** The bracket with which all ends that stands inside of another: a list, an object, or the arguments of one call. */
function huggedGroup(children: readonly Node[]): Group | null {
  const last = children.at(-1);
  if (last === undefined || !isGroup(last) || !last.isBreakable) return null;
  const isOne = children.every((child, index) => {
    const next = children[index + 1];
    return next === undefined || (!isGroup(child) && isTight(child, firstOf(next)) && !isMark(child, ','));
  });
  return isOne ? last : null;
}

/** `(x: T)`, `(undecided: allow)`. */
function isDeclaration(children: readonly Node[]): boolean {
  const [, colon] = children;
  const isColon = colon !== undefined && !isGroup(colon) && colon.text === ':' && colon.role !== 'glued';
  return children.length === 3 && isColon && children.every((child) => !isGroup(child));
}

function isIndex({ text, role }: Piece): boolean {
  return text === '[' && role === 'suffix';
}

// ── widths and spaces ───────────────────────────────────────────────────────────────────────────────────────

function widthOf(nodes: readonly Node[]): number {
  let width = 0;
  for (const [index, node] of nodes.entries()) {
    const before = nodes[index - 1];
    if (before !== undefined && !isTight(lastOf(before), firstOf(node))) width++;
    width += nodeWidth(node);
  }
  return width;
}

function nodeWidth(node: Node): number {
  return isGroup(node) ? node.width : textWidth(node.text);
}

/** A string of several lines is as wide as it is where it begins or ends. */
function textWidth(text: string): number {
  const first = text.indexOf('\n');
  return first < 0 ? text.length : Math.max(first, text.length - text.lastIndexOf('\n') - 1);
}

/** Whether nothing stands between two pieces of one line. */
function isTight(before: Piece, after: Piece): boolean {
  if (after.role === 'glued' || after.role === 'suffix') return true;
  // Whatever could be read as part of the name `tool:a-b` must not touch it.
  if (before.role === 'glued' && before.text !== ':') return isCloser(after.token) || isMark(after, ',', ':');
  if (isOpener(before.token) || isCloser(after.token) || isMark(after, ',', ':')) return true;
  if (isMark(after, '.')) return before.token.kind !== 'number';
  return isMark(before, '.') || before.role === 'prefix' || before.role === 'named' || after.role === 'named';
}

function isMark({ token, text }: Piece, ...texts: readonly string[]): boolean {
  return token.kind === 'operator' && texts.includes(text);
}

// ── writing ─────────────────────────────────────────────────────────────────────────────────────────────────

class LineWriter {
  readonly #depth: number;
  #lines = '';
  #current: string;
  #column: number;
  /** A comment ends the line. */
  #isEnded = false;

  constructor(depth: number) {
    this.#depth = depth;
    this.#current = INDENTATION.repeat(depth);
    this.#column = this.#current.length;
  }

  get text(): string {
    return this.#lines + this.#current;
  }

  line(nodes: readonly Node[]): void {
    const isBroken = nodes.some(
      (node, index) =>
        (isGroup(node) && node.isOpen) ||
        (index > 0 && firstOf(node).comments.length > 0) ||
        (index < nodes.length - 1 && lastOf(node).trailing !== null),
    );
    const fits = this.#column + widthOf(nodes) <= WIDTH;
    this.#run(nodes, this.#depth, 0, isBroken || !fits);
  }

  /** Nodes one behind the other; `tail` is the width of what must follow on the same line. */
  #run(nodes: readonly Node[], depth: number, tail: number, keepsBreaks = false): void {
    const rests = restWidths(nodes, tail);
    let indentation = depth;
    for (const [index, node] of nodes.entries()) {
      const first = firstOf(node);
      const before = nodes[index - 1];
      if (before !== undefined) {
        const isBreak = this.#isEnded || first.comments.length > 0 || (keepsBreaks && first.isLineStart);
        if (isBreak) {
          indentation = depth + 1;
          this.#break(indentation, first.comments);
        } else if (!isTight(lastOf(before), first)) this.#write(' ');
      }
      this.#node(node, indentation, rests[index] ?? tail);
    }
  }

  #node(node: Node, depth: number, rest: number): void {
    if (isGroup(node)) this.#group(node, depth, rest);
    else this.#write(node.text);
    this.#comment(lastOf(node).trailing);
  }

  #group(group: Group, depth: number, rest: number): void {
    // What begins beyond the width gains nothing from being broken.
    const fits = this.#column >= WIDTH || this.#column + group.width + rest <= WIDTH;
    this.#write(group.open.text);
    const mayBreak = group.isBreakable && !group.isHugging;
    if (mayBreak && (group.isOpen || !fits)) return this.#brokenGroup(group, depth);
    this.#run(group.children, depth, rest + group.close.text.length);
    this.#write(group.close.text);
  }

  #brokenGroup({ open, children, close }: Group, depth: number): void {
    this.#comment(open.trailing);
    for (const item of itemsOf(children, WIDTH - INDENTATION.length * (depth + 1))) {
      const [first] = item;
      this.#break(depth + 1, first === undefined ? [] : firstOf(first).comments);
      this.#run(item, depth + 1, 0);
    }
    this.#break(depth + 1, close.comments, depth);
    this.#write(close.text);
  }

  #write(text: string): void {
    this.#current += text;
    const newline = text.lastIndexOf('\n');
    this.#column = newline < 0 ? this.#column + text.length : text.length - newline - 1;
  }

  #comment(text: string | null): void {
    if (text === null) return;
    this.#current += `  ${text}`;
    this.#isEnded = true;
  }

  /** A new line, after the comments that have their own lines. */
  #break(depth: number, comments: readonly Comment[], next = depth): void {
    this.#isEnded = false;
    const indentation = INDENTATION.repeat(depth);
    const lines = comments.map(({ text }) => `${indentation}${text}\n`).join('');
    this.#lines += `${this.#current}\n${lines}`;
    this.#current = INDENTATION.repeat(next);
    this.#column = this.#current.length;
  }
}

/** For each node the width of what follows up to where the line can next be broken. */
function restWidths(nodes: readonly Node[], tail: number): readonly number[] {
  const rests = new Array<number>(nodes.length).fill(tail);
  for (let index = nodes.length - 2; index >= 0; index--) {
    const node = nodes[index];
    const next = nodes[index + 1];
    if (node === undefined || next === undefined) continue;
    const gap = isTight(lastOf(node), firstOf(next)) ? 0 : 1;
    const canBreak = isGroup(next) && next.isBreakable;
    const behind = canBreak ? firstOf(next).text.length : nodeWidth(next) + (rests[index + 1] ?? tail);
    rests[index] = lastOf(node).trailing !== null || firstOf(next).comments.length > 0 ? 0 : gap + behind;
  }
  return rests;
}

/** The lines of a bracket that is broken: one for each item, and parts of a single item that is too long itself. */
function itemsOf(children: readonly Node[], width: number): readonly (readonly Node[])[] {
  const items = split(children, (before) => !isGroup(before) && isMark(before, ','));
  const [only] = items;
  if (items.length !== 1 || only === undefined) return items;
  const isWhole = !only.some(isInterrupted) && widthOf(only) <= width;
  const role = isWhole
    ? undefined
    : SPLITTING.find((candidate) => only.some((node) => hasRole(node, candidate)));
  return role === undefined ? items : split(only, (_, node) => hasRole(node, role));
}

/** Loosest first. */
const SPLITTING: readonly Role[] = ['clause', 'choice', 'logic'];

function hasRole(node: Node, role: Role): boolean {
  return !isGroup(node) && node.role === role;
}

/** Whether a comment or a bracket that stays open breaks the line here. */
function isInterrupted(node: Node, index: number, nodes: readonly Node[]): boolean {
  const isBehind = index > 0 && firstOf(node).comments.length > 0;
  const isBefore = index < nodes.length - 1 && lastOf(node).trailing !== null;
  return isBehind || isBefore || (isGroup(node) && node.isOpen);
}

/** Begins a new part wherever two nodes are to be on different lines. */
function split(
  nodes: readonly Node[],
  isBetween: (before: Node, node: Node) => boolean,
): readonly (readonly Node[])[] {
  const parts: Node[][] = [];
  for (const [index, node] of nodes.entries()) {
    const before = nodes[index - 1];
    if (before === undefined || isBetween(before, node)) parts.push([]);
    parts.at(-1)?.push(node);
  }
  return parts;
}
