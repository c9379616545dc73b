/** The tree of a Python text, as CodeMirror's grammar reads it: its nodes can be walked without recursion. */

import type * as LezerPython from '@lezer/python';
import type { parser as Grammar } from '@lezer/python';
import type { Stretch } from '../../text/finding.ts';
import { parserOnDemand } from '../../text/on-demand.ts';
export interface PythonNode extends Stretch {
  /** As the grammar names it: `CallExpression`, `VariableName`, `(`, … */
  readonly name: string;
  readonly parent: PythonNode | null;
  readonly children: PythonNode[];
  /** Its place among the children of its parent. */
  readonly index: number;
  /** The nearest function around it, itself not included. */
  readonly scope: PythonNode | null;
}

const LEZER = parserOnDemand<typeof LezerPython>('@lezer/python');

let strict: typeof Grammar | null = null;

/** Stops at the first error, so that a long text that is no Python costs no more than its beginning. */
function parser() {
  strict ??= LEZER().parser.configure({ strict: true });
  return strict;
}

/** In the order of the text, parents before their children. Throws where the grammar refuses the text. */
export function nodesOf(code: string): readonly PythonNode[] {
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
    if (pending !== null) found.push({ name, isUnpacked: star, value: pending });
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
