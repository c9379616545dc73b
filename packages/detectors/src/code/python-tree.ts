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
import { refusedAt } from './python-refusals.ts';

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
  | {
      readonly kind: 'tree';
      readonly root: PythonNode;
      readonly nodes: readonly PythonNode[];
      /** Where Python refuses what the grammar takes; null: nowhere. What stands there can be read all the same. */
      readonly refused: number | null;
    }
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
  const whole = parsedAs(code, code);
  if (isPython(whole)) return whole;
  const known = inKnownForms(code);
  const again = known === code ? whole : parsedAs(known, code);
  return isPython(again) || whole.kind === 'error' ? again : whole;
}

function isPython(parsed: ParsedPython): boolean {
  return parsed.kind === 'tree' && parsed.refused === null;
}

/** `original` has what `code` writes in other forms, at the same places. */
function parsedAs(code: string, original: string): ParsedPython {
  try {
    const nodes = nodesOf(code);
    const [root] = nodes;
    if (root === undefined) return { kind: 'error', at: 0, message: INVALID };
    return { kind: 'tree', root, nodes, refused: refusedAt(nodes, code, original) };
  } catch (error) {
    const place = error instanceof Error ? / at (\d+)$/.exec(error.message) : null;
    return { kind: 'error', at: Math.min(Number(place?.[1] ?? 0), code.length), message: INVALID };
  }
}

export const INVALID = 'invalid syntax';

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
      // `:=` names no parameter, and what stands behind it is the value.
      if (child.end - child.start === 1) name = pending;
      pending = null;
    } else if (child.name === 'for' || child.name === 'async') isClosed = true;
    else if (!isClosed && child.name !== 'Comment') pending ??= child;
  }
  flush();
  return found;
}
