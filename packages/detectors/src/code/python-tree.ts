/**
 * Python text to a tree that can be walked without recursion, or the place where it is no Python. Ring 1.
 *
 * The grammar is CodeMirror's; it is laxer than Python's own, so what Python 3 refuses and the grammar takes is looked
 * for afterwards.
 */
import type * as LezerPython from '@lezer/python';
import type { parser as Grammar } from '@lezer/python';
import { onDemand } from '../on-demand.ts';
import { inKnownForms } from './python-forms.ts';

export interface PythonNode {
  /** As the grammar names it: `CallExpression`, `VariableName`, `(`, … */
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly parent: PythonNode | null;
  readonly children: PythonNode[];
  /** Its place among the children of its parent. */
  readonly index: number;
  /** The nearest function around it, itself not included. */
  readonly scope: PythonNode | null;
}

export type ParsedPython =
  | { readonly kind: 'tree'; readonly root: PythonNode; readonly nodes: readonly PythonNode[] }
  | { readonly kind: 'error'; readonly at: number; readonly message: string };

const LEZER = onDemand<typeof LezerPython>('@lezer/python');

let strict: typeof Grammar | null = null;

/** Stops at the first error, so that a long text that is no Python costs no more than its beginning. */
function parser() {
  strict ??= LEZER().parser.configure({ strict: true });
  return strict;
}

/** Never throws. */
export function parsePython(text: string): ParsedPython {
  const zero = text.indexOf('\0');
  if (zero >= 0) return { kind: 'error', at: zero, message: 'source code cannot contain null bytes' };
  // A byte order mark is no part of the code; a line of its own keeps the places of what follows.
  const code = text.startsWith('\uFEFF') ? `\n${text.slice(1)}` : text;
  const whole = parsedAs(code);
  if (whole.kind === 'tree') return whole;
  const known = inKnownForms(code);
  const again = known === code ? whole : parsedAs(known);
  return again.kind === 'tree' ? again : whole;
}

function parsedAs(code: string): ParsedPython {
  try {
    const nodes = nodesOf(code);
    const [root] = nodes;
    if (root === undefined) return { kind: 'error', at: 0, message: 'invalid syntax' };
    const wrong = nodes.find((node) => isRefused(node, code));
    if (wrong !== undefined) return { kind: 'error', at: wrong.start, message: 'invalid syntax' };
    return { kind: 'tree', root, nodes };
  } catch (error) {
    const place = error instanceof Error ? / at (\d+)$/.exec(error.message) : null;
    return { kind: 'error', at: Math.min(Number(place?.[1] ?? 0), code.length), message: 'invalid syntax' };
  }
}

/** In the order of the text, parents before their children. */
function nodesOf(code: string): readonly PythonNode[] {
  const cursor = parser().parse(code).cursor();
  const nodes: PythonNode[] = [];
  let parent: PythonNode | null = null;
  for (;;) {
    const scope: PythonNode | null =
      parent === null ? null : FUNCTIONS.has(parent.name) ? parent : parent.scope;
    const node: PythonNode = {
      name: cursor.name,
      start: cursor.from,
      end: cursor.to,
      parent,
      children: [],
      index: parent?.children.length ?? 0,
      scope,
    };
    nodes.push(node);
    parent?.children.push(node);
    if (cursor.firstChild()) {
      parent = node;
      continue;
    }
    while (!cursor.nextSibling()) {
      if (parent === null || !cursor.parent()) return nodes;
      parent = parent.parent;
    }
  }
}

const FUNCTIONS: ReadonlySet<string> = new Set(['FunctionDefinition', 'LambdaExpression']);

/** What can stand on the left of `=`. */
const TARGETS: ReadonlySet<string> = new Set([
  ...['VariableName', 'MemberExpression', 'TupleExpression', 'ArrayExpression', 'ParenthesizedExpression'],
  ...[',', '*', 'TypeDef', 'AssignOp', 'YieldExpression'],
]);

/** Python 2, and forms that the grammar lets through. */
function isRefused(node: PythonNode, code: string): boolean {
  switch (node.name) {
    case '⚠':
    case 'PrintStatement':
      return true;
    case 'CompareOp':
      return node.end - node.start === 2 && code.startsWith('<>', node.start);
    case 'AssignStatement': {
      const last = node.children.findLastIndex((child) => child.name === 'AssignOp');
      return node.children.some((child, index) => index < last && !TARGETS.has(child.name));
    }
    case 'UpdateStatement':
      return !['VariableName', 'MemberExpression', 'ParenthesizedExpression'].includes(
        node.children[0]?.name ?? '',
      );
    case 'ArgList':
      return hasLatePositional(node);
    case 'TryStatement':
      return hasOldExcept(node) || !node.children.some(({ name }) => name === 'except' || name === 'finally');
    case 'String':
      return hasLineEnd(code.slice(node.start, node.end));
    case 'RaiseStatement':
      return node.children.some((child) => child.name === ',');
    case 'Number':
      return node.end - node.start > 1 && /^0[0-9_]*[1-9][0-9_]*$/.test(code.slice(node.start, node.end));
    default:
      return false;
  }
}

/** A text in single quotes that goes on in the next line. */
function hasLineEnd(literal: string): boolean {
  if (!literal.includes('\n') || /^[a-z]*(?:'''|""")/i.test(literal)) return false;
  return /(?:^|[^\\])(?:\\\\)*\r?\n/.test(literal);
}

/** `f(a=1, 2)`, but not `f(a=1, *b)`. */
function hasLatePositional(list: PythonNode): boolean {
  let seen = false;
  for (const { name, star, isUnpacked } of argumentsOf(list)) {
    if (name !== null || (star && isUnpacked === '**')) seen = true;
    else if (seen && !star) return true;
  }
  return false;
}

/** `except E, e:` */
function hasOldExcept(statement: PythonNode): boolean {
  let inExcept = false;
  for (const { name } of statement.children) {
    if (name === 'except') inExcept = true;
    else if (name === 'Body') inExcept = false;
    else if (name === ',' && inExcept) return true;
  }
  return false;
}

export interface PythonArgument {
  /** Null: positional. The node of its name, so that its text can be read. */
  readonly name: PythonNode | null;
  readonly star: boolean;
  readonly isUnpacked: '*' | '**' | null;
  readonly value: PythonNode;
}

/** The arguments of a call, of its `ArgList`. */
export function argumentsOf(list: PythonNode): readonly PythonArgument[] {
  const found: PythonArgument[] = [];
  let pending: PythonNode | null = null;
  let name: PythonNode | null = null;
  let star: '*' | '**' | null = null;
  let isClosed = false;
  const flush = () => {
    if (pending !== null) found.push({ name, star: star !== null, isUnpacked: star, value: pending });
    pending = null;
    name = null;
    star = null;
    isClosed = false;
  };
  for (const child of list.children) {
    if (child.name === '(' || child.name === ')') continue;
    if (child.name === ',') flush();
    else if (child.name === '*' || child.name === '**') star = child.name;
    else if (child.name === 'AssignOp') {
      name = pending;
      pending = null;
    } else if (child.name === 'for' || child.name === 'async') isClosed = true;
    else if (!isClosed && child.name !== 'Comment') pending ??= child;
  }
  flush();
  return found;
}
