/**
 * What would let a policy cost more than its length: definitions that build on each other without end, bodies with
 * more variables than anybody binds. Checked before anything walks from one definition to the next.
 */
import type { Definition, Expression, PolicyTree } from '../syntax/ast.ts';
import type { Diagnostics } from '../syntax/codes.ts';
import { freeNames, variablesOf } from './scope.ts';

/** Definitions that use each other, one below the other or in circles: what walks them recurses. */
const MAX_CHAIN = 64;
/** Variables and assignments of one body; each typed variable multiplies the search. */
const MAX_VARIABLES = 128;

/** Reports what is beyond the limits; false: nothing else may look at the tree. */
export function isWithinLimits(tree: PolicyTree, diagnostics: Diagnostics): boolean {
  const crowded = [...tree.definitions, ...tree.rules].filter(({ body }) => countOf(body) > MAX_VARIABLES);
  for (const { start, end } of crowded) {
    const message = `a body declares more than ${MAX_VARIABLES} variables`;
    diagnostics.error(
      'POL005',
      { start, end: Math.min(end, start + 1) },
      message,
      'move parts of it into predicates',
    );
  }
  const tall = tree.definitions.length > MAX_CHAIN ? firstTooTall(tree.definitions) : null;
  if (tall !== null) {
    const message = `more than ${MAX_CHAIN} definitions build on each other`;
    diagnostics.error('POL005', tall.name, message, 'write what they have in common once');
  }
  return crowded.length === 0 && tall === null;
}

function countOf(body: readonly Expression[]): number {
  const { declarations, assignments } = variablesOf(body);
  return declarations.length + assignments.length;
}

/**
 * Takes away the definitions that use none that is left, level by level. What is never taken away uses itself in a
 * circle, and is as tall as there are such definitions.
 */
function firstTooTall(definitions: readonly Definition[]): Definition | null {
  const byName = new Map(definitions.map((definition) => [definition.name.name, definition]));
  const users = new Map<Definition, Definition[]>();
  const waiting = new Map<Definition, number>();
  for (const definition of byName.values()) {
    const used = new Set(
      definition.body.flatMap((line) => [...freeNames(line)]).flatMap((name) => byName.get(name) ?? []),
    );
    waiting.set(definition, used.size);
    for (const other of used) {
      const known = users.get(other);
      if (known === undefined) users.set(other, [definition]);
      else known.push(definition);
    }
  }
  let level = [...waiting].flatMap(([definition, count]) => (count === 0 ? [definition] : []));
  for (let height = 1; level.length > 0; height++) {
    if (height > MAX_CHAIN) return level[0] ?? null;
    const next: Definition[] = [];
    for (const definition of level) {
      waiting.delete(definition);
      for (const user of users.get(definition) ?? []) {
        const left = (waiting.get(user) ?? 0) - 1;
        waiting.set(user, left);
        if (left === 0) next.push(user);
      }
    }
    level = next;
  }
  const [first] = waiting.keys();
  return waiting.size > MAX_CHAIN ? (first ?? null) : null;
}
