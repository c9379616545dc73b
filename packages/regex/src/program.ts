/**
 * A syntax tree as instructions for the linear engine. Repetitions are unrolled, so an instruction stands for a
 * place in the pattern and nothing else has to be remembered; patterns that grow too large by that are refused.
 *
 * INVARIANT (no empty circle): no way through the instructions comes back to one without consuming a character.
 * Python leaves a repetition whose last round was empty; so a body that can be empty is laid out twice: what
 * follows while the round has consumed nothing leads out of the repetition, what follows after that leads back.
 */
import { failed, ok, type Result } from '@cordon/core';
import { type CodePointSet, category, contains, NEWLINE } from './code-point-set.ts';
import { type Assertion, type Node, repeat } from './syntax-tree.ts';

export const MAX_INSTRUCTIONS = 20_000;

/** Numbers of instructions are places in the lists of `Program`. */
export type Instruction =
  | { readonly kind: 'set'; readonly set: CodePointSet; readonly next: number }
  /** `first` is preferred. */
  | { readonly kind: 'split'; first: number; second: number }
  | { readonly kind: 'assertion'; readonly at: Assertion; readonly next: number }
  | { readonly kind: 'match' }
  | { readonly kind: 'fail' };

export interface Program {
  readonly instructions: readonly Instruction[];
  readonly start: number;
  /** Where a match begins that must not be empty. */
  readonly advancingStart: number;
}

/** Where it goes on, by whether the innermost round of a repetition has consumed something. */
interface Ways {
  readonly empty: number;
  readonly consumed: number;
}

export function compileProgram(root: Node): Result<Program, string> {
  const compiler = new ProgramCompiler();
  const start = compiler.emit(root, { empty: MATCH, consumed: MATCH });
  const advancingStart = root.least > 0 ? start : compiler.emit(root, { empty: FAIL, consumed: MATCH });
  return compiler.isTooLarge
    ? failed(
        `the pattern stands for more than ${MAX_INSTRUCTIONS} steps when its repetitions are written out`,
      )
    : ok({ instructions: compiler.instructions, start, advancingStart });
}

/** How many instructions a node comes to at most, by whether both ways behind it are the same. */
interface Sizes {
  readonly same: number;
  readonly different: number;
}

/**
 * An upper bound of the instructions of a program, which for most patterns is their number: loading has to know that a
 * program is not too large, and does not need the program. What `compileProgram` shares is counted each time.
 */
export function instructionsAtMost(root: Node): number {
  const { same, different } = sizesOf(root);
  return 2 + same + (root.least > 0 ? 0 : different);
}

function sizesOf(node: Node): Sizes {
  switch (node.kind) {
    case 'set':
    case 'assertion':
      return ONE;
    case 'sequence': {
      const { same, different } = sumOf(node.items);
      return { same, different: same + different };
    }
    case 'choice': {
      const { same, different } = sumOf(node.branches);
      const splits = node.branches.length - 1;
      return { same: same + splits, different: different + splits };
    }
    case 'repeat':
      return sizesOfRepeat(node);
    case 'group':
      return sizesOf(node.body);
    case 'reference':
    case 'look':
    case 'atomic':
    case 'conditional':
      throw new Error(`no linear program has a ${node.kind}`);
  }
}

const ONE: Sizes = { same: 1, different: 1 };

function sumOf(nodes: readonly Node[]): Sizes {
  let same = 0;
  let different = 0;
  for (const node of nodes) {
    const sizes = sizesOf(node);
    same += sizes.same;
    different += sizes.different;
  }
  return { same, different };
}

function sizesOfRepeat(node: Repeat): Sizes {
  const body = sizesOf(node.body);
  const round = body.different + 1;
  const isEndless = node.max === Number.POSITIVE_INFINITY && node.body.most > 0;
  const max = node.body.most === 0 ? Math.min(node.max, 1) : node.max;
  const min = Math.min(node.min, max);
  // An endless rest is laid out for both ways, and once more where they are the same.
  const rest = isEndless
    ? { same: round, different: (min === 0 ? 2 : 3) * round }
    : { same: (max - min) * round, different: (max - min + 1) * round };
  return {
    same: rest.same + min * body.same,
    different: rest.different + min * (body.same + body.different),
  };
}

export const MATCH = 0;
export const FAIL = 1;

type Repeat = Extract<Node, { kind: 'repeat' }>;
type Split = Extract<Instruction, { kind: 'split' }>;

class ProgramCompiler {
  readonly instructions: Instruction[] = [{ kind: 'match' }, { kind: 'fail' }];
  isTooLarge = false;
  /** What has been laid out for a node and the ways behind it: without this, nesting would double each time. */
  readonly #known = new Map<Node, Map<string, number>>();
  readonly #stars = new Map<Node, Node>();

  /** Lays out `node` before what is already there, and returns where it begins. */
  emit(node: Node, ways: Ways): number {
    if (this.isTooLarge) return FAIL;
    if (node.kind === 'set') return this.#add({ kind: 'set', set: node.set, next: ways.consumed });
    const key = `${ways.empty} ${ways.consumed}`;
    let known = this.#known.get(node);
    if (known === undefined) {
      known = new Map();
      this.#known.set(node, known);
    }
    const before = known.get(key);
    if (before !== undefined) return before;
    const start = this.#emitNew(node, ways);
    known.set(key, start);
    return start;
  }

  #add(instruction: Instruction): number {
    if (this.instructions.length >= MAX_INSTRUCTIONS) {
      this.isTooLarge = true;
      return FAIL;
    }
    return this.instructions.push(instruction) - 1;
  }

  #emitNew(node: Exclude<Node, { kind: 'set' }>, ways: Ways): number {
    switch (node.kind) {
      case 'assertion':
        return this.#add({ kind: 'assertion', at: node.at, next: ways.empty });
      case 'sequence':
        return node.items.reduceRight((behind, item) => this.#before(item, behind), ways).empty;
      case 'choice':
        return node.branches
          .map((branch) => this.emit(branch, ways))
          .reduceRight((second, first) => this.#add({ kind: 'split', first, second }));
      case 'repeat':
        return this.#repeat(node, ways);
      case 'group':
        return this.emit(node.body, ways);
      case 'reference':
      case 'look':
      case 'atomic':
      case 'conditional':
        throw new Error(`no linear program has a ${node.kind}`);
    }
  }

  /** The ways that begin with `node`, for what stands before it. */
  #before(node: Node, ways: Ways): Ways {
    const consumed = this.emit(node, { empty: ways.consumed, consumed: ways.consumed });
    return { consumed, empty: ways.empty === ways.consumed ? consumed : this.emit(node, ways) };
  }

  #repeat(node: Repeat, ways: Ways): number {
    const { body } = node;
    // Rounds of nothing but assertions add nothing to the first.
    const max = body.most === 0 ? Math.min(node.max, 1) : node.max;
    const min = Math.min(node.min, max);
    if (min === 0 && max === Number.POSITIVE_INFINITY) return this.#endless(node, ways);
    let behind =
      max === Number.POSITIVE_INFINITY
        ? this.#before(this.#star(node), ways)
        : this.#optional(node, max - min, ways);
    for (let round = 0; round < min && !this.isTooLarge; round++) behind = this.#before(body, behind);
    return behind.empty;
  }

  /** Up to `rounds` further rounds, each only behind the one before it. */
  #optional(node: Repeat, rounds: number, ways: Ways): Ways {
    let { consumed } = ways;
    let next = consumed;
    for (let round = 0; round < rounds && !this.isTooLarge; round++) {
      next = consumed;
      consumed = this.#choose(node, { empty: ways.consumed, consumed: next }, ways.consumed);
    }
    if (rounds === 0 || ways.empty === ways.consumed)
      return { consumed, empty: rounds === 0 ? ways.empty : consumed };
    return { consumed, empty: this.#choose(node, { empty: ways.empty, consumed: next }, ways.empty) };
  }

  #endless(node: Repeat, ways: Ways): number {
    if (ways.empty !== ways.consumed) {
      const consumed = this.emit(node, { empty: ways.consumed, consumed: ways.consumed });
      return this.#choose(node, { empty: ways.empty, consumed }, ways.empty);
    }
    const out = ways.consumed;
    const head: Split = { kind: 'split', first: FAIL, second: FAIL };
    const start = this.#add(head);
    const round = this.emit(node.body, { empty: out, consumed: start });
    head.first = node.mode === 'lazy' ? out : round;
    head.second = node.mode === 'lazy' ? round : out;
    return start;
  }

  /** A repetition without its obligatory rounds; one object for each, for the sake of what is known of it. */
  #star(node: Repeat): Node {
    let star = this.#stars.get(node);
    if (star === undefined) {
      star = repeat(node.body, 0, Number.POSITIVE_INFINITY, node.mode);
      this.#stars.set(node, star);
    }
    return star;
  }

  /** A round, or the way out of the repetition. */
  #choose(node: Repeat, behindRound: Ways, out: number): number {
    const round = this.emit(node.body, behindRound);
    return node.mode === 'lazy'
      ? this.#add({ kind: 'split', first: out, second: round })
      : this.#add({ kind: 'split', first: round, second: out });
  }
}

// ── what stands around a place ────────────────────────────────────────────────────────────────────────────────

/** Facts about the character before or behind a place, as bits. */
export const EDGE = 1;
export const LINE_FEED = 2;
/** The newline that ends the text, seen from before it. */
export const LAST_LINE_FEED = 4;
export const WORD = 8;
export const ASCII_WORD = 16;

export function contextOf(codePoint: number): number {
  if (codePoint === NEWLINE) return LINE_FEED;
  if (contains(category('word', true, false), codePoint)) return WORD | ASCII_WORD;
  return codePoint >= 0x80 && contains(category('word', false, false), codePoint) ? WORD : 0;
}

/** Whether an assertion holds between two characters. Python's `\B` does not hold in an empty text. */
export function holds(at: Assertion, before: number, behind: number): boolean {
  switch (at) {
    case 'start':
      return (before & EDGE) !== 0;
    case 'line-start':
      return (before & (EDGE | LINE_FEED)) !== 0;
    case 'end':
      return (behind & EDGE) !== 0;
    case 'end-or-last-newline':
      return (behind & (EDGE | LAST_LINE_FEED)) !== 0;
    case 'line-end':
      return (behind & (EDGE | LINE_FEED)) !== 0;
    case 'word-boundary':
      return ((before ^ behind) & WORD) !== 0;
    case 'ascii-boundary':
      return ((before ^ behind) & ASCII_WORD) !== 0;
    case 'word-inside':
      return ((before ^ behind) & WORD) === 0 && (before & behind & EDGE) === 0;
    case 'ascii-inside':
      return ((before ^ behind) & ASCII_WORD) === 0 && (before & behind & EDGE) === 0;
  }
}

/** The facts before and behind a place that each assertion asks for. */
export const ASKED: Readonly<Record<Assertion, { readonly before: number; readonly behind: number }>> = {
  start: { before: EDGE, behind: 0 },
  'line-start': { before: EDGE | LINE_FEED, behind: 0 },
  end: { before: 0, behind: EDGE },
  'end-or-last-newline': { before: 0, behind: EDGE | LAST_LINE_FEED },
  'line-end': { before: 0, behind: EDGE | LINE_FEED },
  'word-boundary': { before: WORD, behind: WORD },
  'ascii-boundary': { before: ASCII_WORD, behind: ASCII_WORD },
  'word-inside': { before: WORD | EDGE, behind: WORD | EDGE },
  'ascii-inside': { before: ASCII_WORD | EDGE, behind: ASCII_WORD | EDGE },
};
