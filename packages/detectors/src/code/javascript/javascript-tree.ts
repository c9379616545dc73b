/** JavaScript text to the nodes of its tree, as a module or as a script, without recursion of our own. */

import type * as Acorn from 'acorn';
import type { AnyNode } from 'acorn';
import { parserOnDemand } from '../../text/on-demand.ts';
export type JsNode = AnyNode;

export interface JsTree {
  readonly kind: 'tree';
  /** Parents before their children. */
  readonly nodes: readonly JsNode[];
  readonly parents: ReadonlyMap<JsNode, JsNode>;
}

export type ParsedJs = JsTree | { readonly kind: 'error'; readonly at: number; readonly message: string };

const ACORN = parserOnDemand<typeof Acorn>('acorn');

const ALLOWED = {
  ecmaVersion: 'latest',
  allowHashBang: true,
  allowAwaitOutsideFunction: true,
  allowReturnOutsideFunction: true,
  allowSuperOutsideMethod: true,
  checkPrivateFields: false,
} as const;

/** Never throws. What is neither a module nor a script is an error, at the place where the module goes wrong. */
export function parseJavascript(text: string): ParsedJs {
  const asModule = parsedAs(text, 'module');
  if (asModule.kind === 'tree') return asModule;
  const asScript = parsedAs(text, 'script');
  return asScript.kind === 'tree' || asScript.at > asModule.at ? asScript : asModule;
}

function parsedAs(text: string, sourceType: 'module' | 'script'): ParsedJs {
  try {
    const program = ACORN().parse(text, { ...ALLOWED, sourceType });
    return { kind: 'tree', ...nodesOf(program) };
  } catch (error) {
    // Also a stack that is full: no person writes code that is nested so deep.
    const isPlaced = error instanceof SyntaxError && 'pos' in error && typeof error.pos === 'number';
    const message = isPlaced ? error.message.replace(/ \(\d+:\d+\)$/, '') : 'nested too deep';
    return { kind: 'error', at: isPlaced ? Math.min(Number(error.pos), text.length) : 0, message };
  }
}

function nodesOf(program: JsNode): Omit<JsTree, 'kind'> {
  const nodes: JsNode[] = [];
  const parents = new Map<JsNode, JsNode>();
  const open: JsNode[] = [program];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    nodes.push(node);
    for (const child of childrenOf(node).reverse()) {
      parents.set(child, node);
      open.push(child);
    }
  }
  return { nodes, parents };
}

function childrenOf(node: JsNode): JsNode[] {
  return Object.values(node).flat().filter(isNode);
}

/** Everything of a tree that has a type and a place is a node. */
function isNode(value: unknown): value is JsNode {
  return (
    typeof value === 'object' &&
    value !== null &&
    'type' in value &&
    typeof value.type === 'string' &&
    'start' in value
  );
}
