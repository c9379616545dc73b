/**
 * Matching of what no engine runs in linear time: look-around, back-references, atomic groups, possessive
 * repetitions, conditional groups. It tries one way after the other as Python does, counts its steps, and gives
 * up when a text has used up what it may take. It keeps its own stack, and no clock: the answer depends on
 * pattern and text alone.
 */
import { type CodePointSet, contains, lowerCase } from './code-point-set.ts';
import { type Match, NO_MATCHES, widthAt } from './linear.ts';
import { firstOf } from './literals.ts';
import { contextOf, EDGE, holds, LAST_LINE_FEED } from './program.ts';
import type { Assertion, CaseRule, Node, SyntaxTree } from './syntax-tree.ts';

/** Steps for one call: as many for each character, besides as many for any text. */
const BUDGET = { perCharacter: 64, least: 1_000_000 };
/** Of ways that have not been tried, and of registers to set back; more is given up like too many steps. */
const MAX_STACK = 4_000_000;

export class BudgetedMatcher {
  readonly #start: Step;
  readonly #registers: number;
  readonly #budget: typeof BUDGET;
  /** With which characters a match can begin; null: with any, or it can be empty. */
  readonly #first: CodePointSet | null;
  readonly #asciiFirst: Uint8Array;

  constructor(tree: SyntaxTree, budget: typeof BUDGET = BUDGET) {
    const compiler = new StepCompiler(tree.groups);
    this.#start = compiler.compile(tree.root, { kind: 'match' });
    this.#registers = compiler.registers;
    this.#budget = budget;
    const first = firstOf(tree.root);
    this.#first = first;
    this.#asciiFirst = Uint8Array.from({ length: 128 }, (_, unit) =>
      first === null || contains(first, unit) ? 1 : 0,
    );
  }

  /** Python's `re.match`: whether a match begins at the start. */
  startsWith(text: string): boolean | 'exhausted' {
    const end = new Attempts(text, this.#registers, this.#budget).matchAt(this.#start, 0, false);
    return end === 'exhausted' ? end : end !== null;
  }

  /** Python's `re.finditer`: whole matches from left to right that do not overlap. */
  findAll(text: string): readonly Match[] | 'exhausted' {
    const attempts = new Attempts(text, this.#registers, this.#budget);
    let matches: Match[] | null = null;
    let isBehindEmpty = false;
    for (let at = this.#candidate(text, 0); at <= text.length; at = this.#candidate(text, at)) {
      const end = attempts.matchAt(this.#start, at, isBehindEmpty);
      if (end === 'exhausted') return end;
      isBehindEmpty = end === at;
      if (end === null) at += widthAt(text, at);
      else {
        matches ??= [];
        matches.push({ start: at, end });
        at = end;
      }
    }
    return matches ?? NO_MATCHES;
  }

  /** The next place from `start` on where a match can begin; behind the end of the text if there is none. */
  #candidate(text: string, start: number): number {
    const first = this.#first;
    if (first === null) return start;
    for (let at = start; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      if (unit < 128) {
        if (this.#asciiFirst[unit] === 1) return at;
      } else if (contains(first, text.codePointAt(at) ?? 0)) return at;
      else at += widthAt(text, at) - 1;
    }
    return text.length + 1;
  }
}

// ── steps ─────────────────────────────────────────────────────────────────────────────────────────────────────

/** `register` and those behind it are places in the list of registers. */
type Step =
  | { readonly kind: 'match' }
  | { readonly kind: 'set'; readonly set: CodePointSet; readonly next: Step }
  | { readonly kind: 'assertion'; readonly at: Assertion; readonly next: Step }
  | { readonly kind: 'split'; readonly first: Step; readonly second: Step }
  /** Repetition of one character: its rounds need no stack. */
  | {
      readonly kind: 'run';
      readonly set: CodePointSet;
      readonly min: number;
      readonly max: number;
      readonly isLazy: boolean;
      readonly next: Step;
    }
  /** Begins a repetition: no rounds yet. */
  | { readonly kind: 'begin'; readonly register: number; readonly next: Step }
  /** The end of a round. Registers: rounds, and where the last voluntary one began. */
  | {
      readonly kind: 'round';
      readonly register: number;
      readonly min: number;
      readonly max: number;
      readonly isLazy: boolean;
      body: Step;
      again: Step;
      readonly next: Step;
    }
  /** Begins a voluntary round. */
  | { readonly kind: 'again'; readonly register: number; readonly body: Step }
  /** Remembers the place in a register. */
  | { readonly kind: 'mark'; readonly register: number; readonly next: Step }
  | { readonly kind: 'reference'; readonly register: number; readonly letters: CaseRule; readonly next: Step }
  | { readonly kind: 'condition'; readonly register: number; readonly yes: Step; readonly no: Step }
  /** Begins a part whose ways are forgotten at its end. Registers: height of the stack, and the place. */
  | {
      readonly kind: 'enclose';
      readonly register: number;
      readonly behind: number;
      readonly part: Step;
      /** Of a negative look-around: where it goes on when the part does not match. */
      readonly otherwise: Step | null;
    }
  /** The end of such a part. */
  | { readonly kind: 'commit'; readonly register: number; readonly next: Step; readonly isLook: boolean }
  | { readonly kind: 'refute'; readonly register: number };

type Round = Extract<Step, { kind: 'round' }>;
type Run = Extract<Step, { kind: 'run' }>;

class StepCompiler {
  registers: number;

  constructor(groups: number) {
    this.registers = 2 * groups + 2;
  }

  #reserve(): number {
    this.registers += 2;
    return this.registers - 2;
  }

  /** The steps of `node`, and then `next`. */
  compile(node: Node, next: Step): Step {
    switch (node.kind) {
      case 'set':
        return { kind: 'set', set: node.set, next };
      case 'assertion':
        return { kind: 'assertion', at: node.at, next };
      case 'sequence':
        return node.items.reduceRight((behind, item) => this.compile(item, behind), next);
      case 'choice':
        return node.branches
          .map((branch) => this.compile(branch, next))
          .reduceRight((second, first) => ({ kind: 'split', first, second }));
      case 'repeat':
        return node.mode === 'possessive'
          ? this.#enclosed({ ...node, mode: 'greedy' }, next)
          : this.#repeat(node, next);
      case 'group': {
        const register = 2 * node.number;
        const close: Step = { kind: 'mark', register: register + 1, next };
        return { kind: 'mark', register, next: this.compile(node.body, close) };
      }
      case 'reference':
        return { kind: 'reference', register: 2 * node.number, letters: node.letters, next };
      case 'atomic':
        return this.#enclosed(node.body, next);
      case 'look':
        return this.#look(node, next);
      case 'conditional': {
        const yes = this.compile(node.yes, next);
        return { kind: 'condition', register: 2 * node.number, yes, no: this.compile(node.no, next) };
      }
    }
  }

  #repeat(node: Extract<Node, { kind: 'repeat' }>, next: Step): Step {
    const { body, min, max } = node;
    const isLazy = node.mode === 'lazy';
    if (body.kind === 'set') return { kind: 'run', set: body.set, min, max, isLazy, next };
    const register = this.#reserve();
    const again = next;
    const round: Round = { kind: 'round', register, min, max, isLazy, body: next, again, next };
    round.body = this.compile(body, round);
    round.again = { kind: 'again', register: register + 1, body: round.body };
    return { kind: 'begin', register, next: round };
  }

  /** Once it has matched, no other way through it is tried. */
  #enclosed(node: Node, next: Step): Step {
    const register = this.#reserve();
    const part = this.compile(node, { kind: 'commit', register, next, isLook: false });
    return { kind: 'enclose', register, behind: 0, part, otherwise: null };
  }

  #look(node: Extract<Node, { kind: 'look' }>, next: Step): Step {
    const register = this.#reserve();
    const end: Step = node.isNegative
      ? { kind: 'refute', register }
      : { kind: 'commit', register, next, isLook: true };
    const part = this.compile(node.body, end);
    return {
      kind: 'enclose',
      register,
      behind: node.behind ?? 0,
      part,
      otherwise: node.isNegative ? next : null,
    };
  }
}

// ── attempts ──────────────────────────────────────────────────────────────────────────────────────────────────

const UNSET = -1;
/** A way that has not been tried at all. */
const FRESH = -1;

/** All attempts of one call, which share one budget. */
class Attempts {
  readonly #text: string;
  readonly #registers: Int32Array;
  #steps: number;
  /** Ways to try yet: the step, the place, how much of the trail was there, and the last place of a run. */
  readonly #ways: Step[] = [];
  readonly #places: number[] = [];
  /** Registers with the values that they had before, in turn. */
  readonly #trail: number[] = [];

  constructor(text: string, registers: number, budget: typeof BUDGET) {
    this.#text = text;
    this.#registers = new Int32Array(registers);
    this.#steps = budget.least + budget.perCharacter * text.length;
  }

  /** Where the first match ends that begins at `start`; null: there is none. */
  matchAt(start: Step, from: number, mustAdvance: boolean): number | null | 'exhausted' {
    this.#registers.fill(UNSET);
    this.#ways.length = 0;
    this.#places.length = 0;
    this.#trail.length = 0;
    let step: Step | null = start;
    let at = from;
    for (;;) {
      if (--this.#steps < 0 || this.#ways.length + this.#trail.length > MAX_STACK) return 'exhausted';
      if (step === null) {
        // This way has failed: back to the one that was left last.
        const way = this.#ways.pop();
        if (way === undefined) return null;
        const last = this.#places.pop() ?? 0;
        this.#undo(this.#places.pop() ?? 0);
        at = this.#places.pop() ?? 0;
        step = way;
        if (way.kind === 'run' && last !== FRESH) {
          at = this.#retry(way, at, last);
          step = at < 0 ? null : way.next;
        }
        continue;
      }
      switch (step.kind) {
        case 'match':
          if (!mustAdvance || at > from) return at;
          step = null;
          break;
        case 'set': {
          const codePoint = this.#text.codePointAt(at);
          const isMember: boolean = codePoint !== undefined && contains(step.set, codePoint);
          if (isMember) at += widthAt(this.#text, at);
          step = isMember ? step.next : null;
          break;
        }
        case 'assertion':
          step = holds(step.at, this.#before(at), this.#behind(at)) ? step.next : null;
          break;
        case 'split':
          this.#leave(step.second, at);
          step = step.first;
          break;
        case 'run':
          at = this.#run(step, at);
          step = at < 0 ? null : step.next;
          break;
        case 'begin':
          this.#set(step.register, -1);
          this.#set(step.register + 1, UNSET);
          step = step.next;
          break;
        case 'round':
          step = this.#round(step, at);
          break;
        case 'again':
          this.#set(step.register, at);
          step = step.body;
          break;
        case 'mark':
          this.#set(step.register, at);
          step = step.next;
          break;
        case 'reference':
          at = this.#repeated(step.register, step.letters, at);
          step = at < 0 ? null : step.next;
          break;
        case 'condition':
          step = this.#isSet(step.register) ? step.yes : step.no;
          break;
        case 'enclose': {
          const place = this.#stepBack(at, step.behind);
          this.#set(step.register, this.#ways.length);
          this.#set(step.register + 1, at);
          if (step.otherwise !== null) this.#leave(step.otherwise, at);
          if (place < 0) step = null;
          else {
            at = place;
            step = step.part;
          }
          break;
        }
        case 'commit':
          this.#forget(this.#registers[step.register] ?? 0);
          if (step.isLook) at = this.#registers[step.register + 1] ?? 0;
          step = step.next;
          break;
        case 'refute':
          // The way that would go on is the first that was left inside.
          this.#forget(this.#registers[step.register] ?? 0);
          step = null;
          break;
        default:
          step satisfies never;
      }
    }
  }

  // ── stack and registers ───────────────────────────────────────────────────────────────────────────────────

  /** `last`: of a run that is to be tried with other lengths; what it means is said where it is used. */
  #leave(step: Step, at: number, last = FRESH): void {
    this.#ways.push(step);
    this.#places.push(at, this.#trail.length, last);
  }

  #forget(height: number): void {
    this.#ways.length = height;
    this.#places.length = 3 * height;
  }

  #set(register: number, value: number): void {
    if (this.#ways.length > 0) this.#trail.push(register, this.#registers[register] ?? UNSET);
    this.#registers[register] = value;
  }

  #undo(height: number): void {
    while (this.#trail.length > height) {
      const value = this.#trail.pop() ?? UNSET;
      this.#registers[this.#trail.pop() ?? 0] = value;
    }
  }

  #isSet(register: number): boolean {
    const start = this.#registers[register] ?? UNSET;
    return start !== UNSET && (this.#registers[register + 1] ?? UNSET) >= start;
  }

  // ── repetitions ───────────────────────────────────────────────────────────────────────────────────────────

  /** Python's rule: a round that was not obligatory and consumed nothing is the last. */
  #round(step: Round, at: number): Step {
    const rounds = (this.#registers[step.register] ?? 0) + 1;
    this.#set(step.register, rounds);
    if (rounds < step.min) return step.body;
    if (rounds >= step.max || this.#registers[step.register + 1] === at) return step.next;
    this.#leave(step.isLazy ? step.again : step.next, at);
    return step.isLazy ? step.next : step.again;
  }

  /** Takes what a greedy run can take, or a lazy one has to; a negative number: not enough. */
  #run(step: Run, start: number): number {
    let at = start;
    let least = start;
    const wanted = step.isLazy ? step.min : step.max;
    let count = 0;
    for (; count < wanted; count++) {
      const codePoint = this.#text.codePointAt(at);
      if (codePoint === undefined || !contains(step.set, codePoint)) break;
      at += codePoint > 0xffff ? 2 : 1;
      if (count + 1 === step.min) least = at;
    }
    this.#steps -= count;
    if (count < step.min) return -1;
    if (step.isLazy) {
      if (step.max > step.min) this.#leave(step, at, step.max - step.min);
    } else if (at > least) this.#leave(step, at, least);
    return at;
  }

  /** One character less for a greedy run, one more for a lazy one. */
  #retry(step: Run, at: number, last: number): number {
    if (!step.isLazy) {
      const shorter = this.#stepBack(at, 1);
      if (shorter > last) this.#leave(step, shorter, last);
      return shorter;
    }
    const codePoint = this.#text.codePointAt(at);
    if (codePoint === undefined || !contains(step.set, codePoint)) return -1;
    const longer = at + (codePoint > 0xffff ? 2 : 1);
    if (last > 1) this.#leave(step, longer, last - 1);
    return longer;
  }

  // ── the text ──────────────────────────────────────────────────────────────────────────────────────────────

  /** As many characters to the left; a negative number: there are not so many. */
  #stepBack(start: number, characters: number): number {
    let at = start;
    for (let count = 0; count < characters; count++) {
      at -= 1;
      if (at < 0) return -1;
      const isSecondHalf = at > 0 && (this.#text.codePointAt(at - 1) ?? 0) > 0xffff;
      if (isSecondHalf) at -= 1;
    }
    this.#steps -= characters;
    return at;
  }

  #before(at: number): number {
    if (at === 0) return EDGE;
    return contextOf(this.#text.codePointAt(this.#stepBack(at, 1)) ?? 0);
  }

  #behind(at: number): number {
    const codePoint = this.#text.codePointAt(at);
    if (codePoint === undefined) return EDGE;
    const isLast = at === this.#text.length - 1 && codePoint === 10;
    return contextOf(codePoint) | (isLast ? LAST_LINE_FEED : 0);
  }

  /** Behind a repetition of what a group has matched; a negative number: it does not stand here. */
  #repeated(register: number, letters: CaseRule, start: number): number {
    if (!this.#isSet(register)) return -1;
    let at = start;
    const end = this.#registers[register + 1] ?? 0;
    for (let wanted = this.#registers[register] ?? 0; wanted < end; ) {
      const expected = this.#text.codePointAt(wanted) ?? 0;
      const found = this.#text.codePointAt(at);
      this.#steps -= 1;
      if (found === undefined || !isSame(expected, found, letters)) return -1;
      wanted += expected > 0xffff ? 2 : 1;
      at += found > 0xffff ? 2 : 1;
    }
    return at;
  }
}

function isSame(expected: number, found: number, letters: CaseRule): boolean {
  if (expected === found || letters === 'exact') return expected === found;
  const isAscii = letters === 'ignore-ascii';
  return lowerCase(expected, isAscii) === lowerCase(found, isAscii);
}
