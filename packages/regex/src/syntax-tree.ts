/**
 * What a regular expression says, with all flags already applied: sets hold every code point that matches, and
 * assertions are of the variety that the flags choose. Each node knows how wide its matches are. The parsers of both
 * dialects build it with these functions, and refuse patterns with `refuse`.
 */
import { failed, ok, type Result } from '@cordon/core';
import type { CodePointSet } from './code-point-set.ts';

/**
 * `end` is the very end, `end-or-last-newline` also holds before a newline that ends the text (Python's `$`),
 * `line-…` are those of (?m), `…-boundary` and `…-inside` are `\b` and `\B` by Unicode or by ASCII.
 */
export type Assertion =
  | 'start'
  | 'line-start'
  | 'end'
  | 'end-or-last-newline'
  | 'line-end'
  | 'word-boundary'
  | 'word-inside'
  | 'ascii-boundary'
  | 'ascii-inside';

interface Width {
  /** Least and greatest number of code points of a match. */
  readonly least: number;
  readonly most: number;
}

export type CaseRule = 'exact' | 'ignore' | 'ignore-ascii';

export type Node = Width &
  (
    | { readonly kind: 'set'; readonly set: CodePointSet }
    | { readonly kind: 'assertion'; readonly at: Assertion }
    | { readonly kind: 'sequence'; readonly items: readonly Node[] }
    /** The first branch that leads to a match counts. */
    | { readonly kind: 'choice'; readonly branches: readonly Node[] }
    | {
        readonly kind: 'repeat';
        readonly body: Node;
        readonly min: number;
        /** Infinity: without end. */
        readonly max: number;
        readonly mode: RepeatMode;
      }
    | { readonly kind: 'group'; readonly number: number; readonly body: Node }
    // From here on: what no engine runs in linear time.
    | { readonly kind: 'reference'; readonly number: number; readonly letters: CaseRule }
    | {
        readonly kind: 'look';
        /** How many code points before the place it begins; null: it looks ahead. */
        readonly behind: number | null;
        readonly isNegative: boolean;
        readonly body: Node;
      }
    | { readonly kind: 'atomic'; readonly body: Node }
    | { readonly kind: 'conditional'; readonly number: number; readonly yes: Node; readonly no: Node }
  );

/** `possessive`: what it took it never gives back. */
export type RepeatMode = 'greedy' | 'lazy' | 'possessive';

export interface SyntaxTree {
  readonly root: Node;
  /** How many groups capture. */
  readonly groups: number;
  /** Whether a node occurs that no engine runs in linear time. */
  readonly needsBudget: boolean;
}

export function setNode(set: CodePointSet): Node {
  return { kind: 'set', set, least: 1, most: 1 };
}

export function assertionNode(at: Assertion): Node {
  return { kind: 'assertion', at, least: 0, most: 0 };
}

export function sequence(items: readonly Node[]): Node {
  const [only] = items;
  if (items.length === 1 && only !== undefined) return only;
  return {
    kind: 'sequence',
    items,
    least: items.reduce((sum, item) => sum + item.least, 0),
    most: items.reduce((sum, item) => sum + item.most, 0),
  };
}

export function choice(branches: readonly Node[]): Node {
  const [only] = branches;
  if (branches.length === 1 && only !== undefined) return only;
  return {
    kind: 'choice',
    branches,
    least: branches.reduce((least, branch) => Math.min(least, branch.least), Number.POSITIVE_INFINITY),
    most: branches.reduce((most, branch) => Math.max(most, branch.most), 0),
  };
}

export function repeat(body: Node, min: number, max: number, mode: RepeatMode): Node {
  const most = body.most === 0 ? 0 : body.most * max;
  return { kind: 'repeat', body, min, max, mode, least: body.least * min, most: max === 0 ? 0 : most };
}

/** Deeper nesting is refused, so that no later step has to fear its own stack. */
export const MAX_DEPTH = 200;

/** Leaves a parser from any depth; never leaves `parsed`. */
class PatternFault extends Error {}

export function refuse(sentence: string): never {
  throw new PatternFault(sentence);
}

/** What `parse` returns, or the sentence with which it refuses the pattern. */
export function parsed(parse: () => SyntaxTree): Result<SyntaxTree, string> {
  try {
    return ok(parse());
  } catch (error) {
    if (error instanceof PatternFault) return failed(error.message);
    throw error;
  }
}
