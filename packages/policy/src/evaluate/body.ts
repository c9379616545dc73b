/**
 * A compiled body, the lines of a rule, predicate or quantifier, and the search for the assignments that satisfy
 * it. Every variable is bound; lines are looked at as soon as their variables are; a line that refutes ends the
 * branch, and one that cannot be evaluated counts only where no other line refutes (so order does not matter).
 *
 * Ring 0.
 */

import { type Place, seeingAll } from '../events/provenance.ts';
import type { Origins } from '../origin/origin.ts';
import type { Expression } from '../syntax/ast.ts';
import type { Span } from '../syntax/source.ts';
import { EventObject, type Occurrence, occurrencesWithin } from '../values/event-object.ts';
import { attribute, type Evidence, type Located, placeWithin } from '../values/evidence.ts';
import { isUndecided, type Undecided, undecided, undecidedIn, type Value } from '../values/value.ts';
import { ANY_KEY, type JoinKey, joinKey } from './join-key.ts';
import type { RequiredLiterals } from './required-literals.ts';

/** One activation of a rule or predicate: the values of its names, and the world that it looks at. */
export interface Frame {
  readonly slots: Value[];
  /** What the variables are bound to, by slot. */
  readonly found: (Bound | undefined)[];
  readonly world: World;
  /** Where the predicate was called: its parameters stand where the arguments do. */
  readonly site: CallSite | null;
  /** Predicates that call predicates; bounded, because a rule can call itself for ever. */
  readonly depth: number;
}

export interface CallSite {
  readonly frame: Frame;
  readonly locate: readonly Locate[];
  readonly anchors: readonly Anchor[];
}

/** The newest event that the names in an expression stand for or were read from; null: none. */
export type Anchor = (frame: Frame) => EventObject | null;

/** Where the value of an expression stands in the trace; null: it was computed. */
export type Locate = (frame: Frame) => Located | null;

export interface World {
  /** What variables of predicates and quantifiers range over, in the order of the trace. */
  domain(domain: Domain): readonly (readonly Bound[])[];
  /** Those of a domain whose side of one of its `keys` may equal a value. */
  matching(domain: Domain, key: number, value: JoinKey): readonly Piece<Bound>[];
  /** Those of a domain of events that were visible where an event arose. */
  visibleAt(domain: Domain, place: Place): readonly Piece<Bound>[];
  /** How many objects a domain has, and how many of them pass its conditions for certain. */
  tally(domain: Domain): Tally;
  readonly input: Value;
  /** What was seen, for rules that ask where a value came from; null: none does. */
  readonly origins: Origins | null;
  /**
   * How many assignments the `count` lines of a rule have found: tells whether new events changed what it counts.
   * What is counted inside of predicates and quantifiers is not part of it.
   */
  counted: number;
  /** Why the branch that is being looked at holds, so far. Empty where nobody asks for an explanation. */
  readonly trail: Evidence[];
  /** Whether somebody asks for an explanation: a monitor that only decides does without. */
  readonly explains: boolean;
  readonly work: Work;
}

/** What evaluation has cost, whatever the machine. */
export interface Work {
  /** How many objects were tried for variables. */
  tried: number;
}

export type Evaluate = (frame: Frame) => Value;

/** Objects of the trace that conditions on one variable, which need nothing else, let through. */
export interface Domain {
  readonly type: string;
  readonly slot: number;
  readonly filter: readonly Step[];
  /** What lines compare by `==`: a side about the object alone, and one that is known before it. */
  readonly keys: readonly DomainKey[];
  /**
   * Events that are known before it, and that come behind it by lines `x -> y` or `x before y`, directly or over other
   * events.
   */
  readonly before: readonly Later[];
}

/** An event that comes behind another by lines of a body: its slot. */
export interface Later {
  readonly slot: number;
  /** Whether the other was visible where it arose: a way of `->` leads there; else one with `before` does. */
  readonly hasSeen: boolean;
}

export interface DomainKey {
  readonly own: Evaluate;
  readonly other: Evaluate;
}

export interface Tally {
  readonly certain: number;
  readonly possible: number;
}

export interface BodyVariable {
  readonly name: string;
  readonly slot: number;
  readonly type: string;
  /** `(x: T) in within`; null: it ranges over the trace. */
  readonly within: Evaluate | null;
  readonly locateWithin: Locate | null;
  /** Whether `within` has the same value for an assignment while the trace grows. */
  readonly isStable: boolean;
  /** In predicates and quantifiers, what it ranges over of the trace. */
  readonly domain: Domain | null;
  /** Variables, by index, that `within` needs. */
  readonly needs: ReadonlySet<number>;
  readonly span: Span;
}

export interface Step {
  /** Null: a condition. Else the slot that the value of an assignment goes to. */
  readonly slot: number | null;
  /** Where the value of an assignment stands. */
  readonly locate: Locate;
  readonly evaluate: Evaluate;
  /** Variables of the body, by index, that it needs, also through assignments. */
  readonly needs: ReadonlySet<number>;
  /** `a -> b` between two variables of the body, by index. */
  readonly flow: Order | null;
  /** `a before b`. */
  readonly earlier: Order | null;
  /** `a ~> b`, which is looked up like a join. */
  readonly next: Order | null;
  /** `a == b` between parts of two variables of the body, or `a ~> b` between their places. */
  readonly join: { readonly sides: readonly [JoinSide, JoinSide] } | null;
  /** Where the line holds only of a call, or an output of a call, of one of some tools: their names, maybe with `*`. */
  readonly tools: ReadonlySet<string> | null;
  /** What the line asks of the texts of the one variable that it needs; all of it is met where the line holds. */
  readonly required: readonly RequiredLiterals[];
  /** `count(min=1)` and more: at least one assignment of its block holds or is undecided where the line is not refuted. */
  readonly some: Body | null;
  /** Whether its value for an assignment stays the same while the trace grows. */
  readonly isStable: boolean;
  readonly span: Span;
  readonly tree: Expression;
}

/** Of two variables, by index: the event of the one comes before that of the other. */
export interface Order {
  readonly from: number;
  readonly to: number;
}

export interface JoinSide {
  readonly variable: number;
  readonly evaluate: Evaluate;
}

export interface Body {
  readonly variables: readonly BodyVariable[];
  /** Assignments stand before the steps that use them. */
  readonly steps: readonly Step[];
  /** Where counting its assignments is counting the objects of a domain. */
  readonly counted: Domain | null;
}

/** An order of binding, and for each point in it the steps that can be evaluated there. */
export interface SearchPlan {
  readonly order: readonly number[];
  /** One more than variables: the first needs none. */
  readonly levels: readonly (readonly Step[])[];
  /** Variables that nothing bound later looks at, where one assignment is enough: once one fits, others change nothing. */
  readonly leaves: ReadonlySet<number>;
}

const NO_LEAVES: ReadonlySet<number> = new Set();

/**
 * Binds the variables in the order of the text, each behind those that it needs. A variable that needs itself does not load, but the
 * linter looks at the tree of such a policy all the same.
 */
export function declaredOrder(body: Body): readonly number[] {
  const order: number[] = [];
  const begun = new Set<number>();
  const bind = (index: number): void => {
    if (begun.has(index)) return;
    begun.add(index);
    for (const need of body.variables[index]?.needs ?? []) bind(need);
    order.push(index);
  };
  for (const index of body.variables.keys()) bind(index);
  return order;
}

/** `isDone` leaves out conditions that were evaluated before; `wants`: one assignment, or all of them. */
export function planSearch(
  body: Body,
  order: readonly number[] = declaredOrder(body),
  isDone: (step: Step) => boolean = () => false,
  wants: 'one' | 'all' = 'all',
): SearchPlan {
  const levels: Step[][] = Array.from({ length: order.length + 1 }, () => []);
  for (const step of body.steps) {
    if (isDone(step)) continue;
    let level = 0;
    for (const need of step.needs) level = Math.max(level, order.indexOf(need) + 1);
    levels[level]?.push(step);
  }
  const isLeaf = (index: number, level: number): boolean =>
    !levels.slice(level + 2).some((steps) => steps.some(({ needs }) => needs.has(index))) &&
    !order.slice(level + 1).some((later) => body.variables[later]?.needs.has(index));
  return { order, levels, leaves: wants === 'all' ? NO_LEAVES : new Set(order.filter(isLeaf)) };
}

/** Evaluates steps in order, and says the first that is undecided, after `before`; a condition that is not true ends it. */
export function runSteps(
  steps: readonly Step[],
  frame: Frame,
  before: OpenLine | null,
): OpenLine | null | 'refuted' {
  const { trail } = frame.world;
  let open = before;
  for (const step of steps) {
    const noticed = trail.length;
    const value = step.evaluate(frame);
    if (trail.length > noticed) attribute(trail, noticed, step.span);
    if (step.slot !== null) frame.slots[step.slot] = value;
    if (isUndecided(value)) open = firstOpen(open, { why: value, span: value.span ?? step.span });
    else if (step.slot === null && value !== true) return 'refuted';
  }
  return open;
}

/** Of two lines that are undecided the first. Where no answer helps it, one to the second may still refute the branch. */
function firstOpen(first: OpenLine | null, second: OpenLine | null): OpenLine | null {
  if (first === null || second === null) return first ?? second;
  const { reason, span, awaits } = first.why;
  if (awaits.length > 0 || second.why.awaits.length === 0) return first;
  return { why: undecided(reason, span, second.why.awaits), span: first.span };
}

/** What a search found: the occurrences by variable index, and the first line that could not be evaluated. */
export type Visit = (bound: readonly Bound[], open: OpenLine | null) => boolean;

export type Bound = Occurrence &
  Partial<Candidate> & {
    /** Where an element of a value that the rule names stands. */
    readonly at?: Located | null;
  };

export interface OpenLine {
  readonly why: Undecided;
  readonly span: Span;
}

/** An object that passes the conditions on one variable, with what was noticed while it was looked at. */
export interface Candidate extends Occurrence {
  /** A line about it that is undecided. */
  readonly open?: OpenLine | null;
  /** Where all assignments are listed: a line that is undecided in each of them that holds it. */
  readonly outlook?: OpenLine | null;
  /** What the variables that are decided together with this one are bound to, by index. */
  readonly behind?: ReadonlyMap<number, Bound> | null;
  /** Where `open` waits for an answer: the lines about it once more, in a frame in which it is bound. */
  readonly again?: ((frame: Frame) => OpenLine | null | 'refuted') | null;
  /** Its number among the candidates of the variable. */
  readonly order: number;
  readonly evidence: readonly Evidence[];
  /** For each join of the rule that has a side about this variable, what that side compares. */
  readonly keys: readonly JoinKey[];
}

/** Pieces that follow each other. */
export type Candidates = readonly Iterable<Bound>[];

/** A piece whose length is known before anything of it is looked at. */
export interface Piece<T> extends Iterable<T> {
  readonly length: number;
}

export interface SearchOptions {
  /** What a trace variable ranges over; default: the world. */
  readonly candidatesOf?: (variable: number, bound: readonly Bound[], frame: Frame) => Candidates;
  /** Which of the values that `(x: T) in …` ranges over are looked at, where `candidatesOf` says it of those that never change. */
  readonly isMeant?: (variable: number, found: Bound) => boolean;
  /** Whether assignments that no answer can decide are not asked for any more. */
  readonly skipsOpen?: () => boolean;
}

/** Visits every assignment that no line refutes. Stops and returns true when `visit` returns true. */
export function search(
  body: Body,
  plan: SearchPlan,
  frame: Frame,
  visit: Visit,
  { candidatesOf, isMeant, skipsOpen = () => false }: SearchOptions = {},
): boolean {
  const bound: Bound[] = new Array(body.variables.length);
  const { trail } = frame.world;
  /** By level: what its lines came to, for the candidate that was tried last. */
  const came: (OpenLine | null | 'refuted')[] = new Array(plan.levels.length);
  const isUseless = (open: OpenLine | null): boolean =>
    open !== null && open.why.awaits.length === 0 && skipsOpen();
  const descend = (level: number, before: OpenLine | null, isCertainOnly: boolean): boolean => {
    const open = runSteps(plan.levels[level] ?? [], frame, before);
    came[level] = open;
    if (open === 'refuted' || (isCertainOnly && open !== before)) return false;
    if (isUseless(open)) return false;
    const index = plan.order[level];
    if (index === undefined) return visit(bound, open);
    const variable = body.variables[index];
    if (variable === undefined) return false;
    const isGiven = variable.within === null || (isMeant !== undefined && variable.isStable);
    const values = isGiven ? null : valuesWithin(variable, frame);
    const pieces =
      values === null
        ? (candidatesOf?.(index, bound, frame) ?? inDomain(frame, variable.domain))
        : [isMeant === undefined ? values : values.filter((found) => isMeant(index, found))];
    const isLeaf = plan.leaves.has(index);
    let hasOpen = false;
    const noticed = trail.length;
    for (const piece of pieces) {
      for (const candidate of piece) {
        frame.world.work.tried++;
        if (isUseless(candidate.outlook ?? null)) continue;
        frame.slots[variable.slot] = candidate.value;
        frame.found[variable.slot] = candidate;
        bound[index] = candidate;
        const own = openOf(candidate, frame);
        const next: OpenLine | null | 'refuted' = own === 'refuted' ? own : firstOpen(open, own);
        if (next === 'refuted' || (hasOpen && next !== open)) continue;
        if (descend(level + 1, next, hasOpen)) return true;
        if (trail.length > noticed) trail.length = noticed;
        const fits = came[level + 1] ?? null;
        if (!isLeaf || fits === 'refuted') continue;
        if (fits === open) return false;
        // What waits for an answer may be refuted by it, so it stands for no other.
        if (fits === null || fits.why.awaits.length === 0) hasOpen = true;
      }
    }
    return false;
  };
  return descend(0, null, false);
}

function openOf({ open = null, again = null }: Bound, frame: Frame): OpenLine | null | 'refuted' {
  return again === null ? open : again(frame);
}

function inDomain(frame: Frame, domain: Domain | null): Candidates {
  if (domain === null) return [];
  const { world } = frame;
  const noticed = world.trail.length;
  let best: readonly Piece<Bound>[] | null = null;
  const take = (pieces: readonly Piece<Bound>[]): void => {
    if (best === null || countOf(pieces) < countOf(best)) best = pieces;
  };
  for (const [index, { other }] of domain.keys.entries()) {
    const key = joinKey(other(frame));
    if (key !== ANY_KEY) take(world.matching(domain, index, key));
  }
  for (const { slot, hasSeen } of domain.before) {
    const later = frame.slots[slot];
    if (!(later instanceof EventObject)) continue;
    take(world.visibleAt(domain, hasSeen ? later.place : seeingAll(later.place)));
  }
  // The line itself says what it notices, if it is looked at.
  if (world.trail.length > noticed) world.trail.length = noticed;
  return best ?? world.domain(domain);
}

function countOf(pieces: readonly Piece<Bound>[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}

/** The elements that `(x: T) in within` ranges over, and one that is undecided where there may be others. */
export function valuesWithin(variable: BodyVariable, frame: Frame): readonly Bound[] {
  const value = variable.within === null ? null : variable.within(frame);
  // The walk over None would find it for no type; the seed language ranges over the whole trace here.
  if (value === null) return [];
  const why = undecidedIn(value);
  const known = isUndecided(value) ? [] : occurrencesWithin(value, variable.type);
  const located = known.length === 0 ? null : (variable.locateWithin?.(frame) ?? null);
  const found: Bound[] = known.map((one, order) => ({
    ...one,
    order,
    at: placeWithin(value, one.path, located),
  }));
  if (why === null) return found;
  const open = { why, span: why.span ?? variable.span };
  return [...found, { value: why, entry: null, path: [], order: found.length, open }];
}

/** True if some assignment satisfies the body, undecided if only an undecided one might, else false. */
export function holds(body: Body, plan: SearchPlan, frame: Frame, name: string): Value {
  let open: OpenLine | null = null;
  const { counted, trail, explains } = frame.world;
  const noticed = trail.length;
  const found = search(body, plan, frame, (bound, why) => {
    open ??= why;
    if (why !== null) return false;
    if (explains && bound.length > 0) trail.push({ kind: 'witness', predicate: name, bound: [...bound] });
    return true;
  });
  frame.world.counted = counted;
  if (found) return true;
  trail.length = noticed;
  return claimed(open);
}

function claimed(open: OpenLine | null): Value {
  return open === null ? false : undecided(open.why.reason, open.span, open.why.awaits);
}

export interface CountLimits {
  readonly min: number | null;
  readonly max: number | null;
}

/**
 * Whether the number of satisfying assignments is within the limits; undecided if undecided ones could tip it.
 * `isTotalNeeded`: all are counted, also where enough are found.
 */
export function counts(
  body: Body,
  plan: SearchPlan,
  frame: Frame,
  limits: CountLimits,
  isTotalNeeded: boolean,
): Value {
  if (body.counted !== null) {
    const tally = frame.world.tally(body.counted);
    if (isSettled(tally.certain, tally.possible, limits)) {
      frame.world.counted += tally.certain;
      if (frame.world.explains) {
        const isCertain = tally.certain === tally.possible;
        const counted = isCertain ? membersOf(frame.world.domain(body.counted)) : nothingBound;
        frame.world.trail.push({ kind: 'count', found: tally.certain, isLeast: false, counted });
      }
      return isWithin(tally.certain, limits);
    }
  }
  let certain = 0;
  let possible = 0;
  let open: OpenLine | null = null;
  const { counted, trail, explains } = frame.world;
  const noticed = trail.length;
  const kept: Evidence[] = [];
  const settling = limits.max === null ? (limits.min ?? 0) : limits.max + 1;
  const enough = isTotalNeeded ? Number.POSITIVE_INFINITY : settling;
  const satisfying: Bound[] = [];
  const isEnough = search(body, plan, frame, (bound, why) => {
    possible++;
    if (why === null) {
      certain++;
      if (explains) satisfying.push(...bound);
      for (const evidence of trail.slice(noticed)) kept.push(evidence);
    }
    open ??= why;
    return certain >= enough;
  });
  trail.length = noticed;
  for (const evidence of kept) trail.push(evidence);
  if (explains) trail.push({ kind: 'count', found: certain, isLeast: isEnough, counted: () => satisfying });
  frame.world.counted = counted + certain;
  // Undecided assignments can only add: the verdict is settled if no number of them changes it.
  const first = isWithin(certain, limits);
  const settled = isSettled(certain, possible, limits);
  return settled ? first : claimed(open);
}

/** What the lists hold now: they grow with the trace, and reports are made later. */
function membersOf(lists: readonly (readonly Bound[])[]): () => readonly Bound[] {
  const lengths = lists.map(({ length }) => length);
  return () => lists.flatMap((list, index) => list.slice(0, lengths[index]));
}

function nothingBound(): readonly Bound[] {
  return [];
}

function isSettled(certain: number, possible: number, { min, max }: CountLimits): boolean {
  const crosses = (limit: number | null, at: number) =>
    limit !== null && certain < limit + at && possible >= limit + at;
  const isImpossible = min !== null && max !== null && min > max;
  return isImpossible || certain > (max ?? Number.POSITIVE_INFINITY) || !(crosses(min, 0) || crosses(max, 1));
}

function isWithin(count: number, limits: CountLimits): boolean {
  return count >= (limits.min ?? 0) && count <= (limits.max ?? Number.POSITIVE_INFINITY);
}

/** True if no assignment is refuted; a line that is neither true nor false is fine here (specification 9). */
export function holdsForAll(body: Body, plan: SearchPlan, frame: Frame): Value {
  const state: { refuted: boolean; open: OpenLine | null } = { refuted: false, open: null };
  const descend = (level: number, before: OpenLine | null, refutedBefore: boolean): void => {
    let open = before;
    let refuted = refutedBefore;
    for (const step of plan.levels[level] ?? []) {
      const value = step.evaluate(frame);
      if (step.slot !== null) frame.slots[step.slot] = value;
      if (isUndecided(value)) open ??= { why: value, span: value.span ?? step.span };
      else if (step.slot === null && value === false) refuted = true;
    }
    const index = plan.order[level];
    const variable = index === undefined ? undefined : body.variables[index];
    if (variable === undefined) {
      if (refuted) state.refuted = true;
      else state.open ??= open;
      return;
    }
    const pieces: Candidates =
      variable.within === null ? inDomain(frame, variable.domain) : [valuesWithin(variable, frame)];
    for (const piece of pieces) {
      for (const candidate of piece) {
        frame.world.work.tried++;
        frame.slots[variable.slot] = candidate.value;
        frame.found[variable.slot] = candidate;
        descend(level + 1, open ?? candidate.open ?? null, refuted);
        if (state.refuted) return;
      }
    }
  };
  const { counted, trail } = frame.world;
  const noticed = trail.length;
  descend(0, null, false);
  frame.world.counted = counted;
  trail.length = noticed;
  return state.refuted ? false : state.open === null ? true : claimed(state.open);
}
