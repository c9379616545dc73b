/**
 * The search for the assignments that satisfy a body. Every variable is bound; lines are looked at as soon as their
 * variables are; a line that refutes ends the branch, and one that cannot be evaluated counts only where no other line
 * refutes (so order does not matter).
 */
import { seeingAll } from '../events/provenance.ts';
import { EventObject, occurrencesWithin } from '../values/event-object.ts';
import { attribute, placeWithin } from '../values/evidence.ts';
import { isUndecided, undecided, undecidedIn } from '../values/value.ts';
import type { Binding, Body, BodyVariable, Domain, Frame, OpenLine, Piece, Step } from './body.ts';
import { ANY_KEY, joinKey } from './join-key.ts';

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
  const { trail } = frame.context;
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
export type Visit = (bound: readonly Binding[], open: OpenLine | null) => boolean;

/** Pieces that follow each other. */
export type Candidates = readonly Iterable<Binding>[];

export interface SearchOptions {
  /** What a trace variable ranges over; default: its domain. */
  readonly candidatesOf?: (variable: number, bound: readonly Binding[], frame: Frame) => Candidates;
  /** Which of the values that `(x: T) in …` ranges over are looked at, where `candidatesOf` says it of those that never change. */
  readonly isMeant?: (variable: number, found: Binding) => boolean;
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
  const bound: Binding[] = new Array(body.variables.length);
  const { trail } = frame.context;
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
        frame.context.work.tried++;
        if (isUseless(candidate.outlook ?? null)) continue;
        frame.slots[variable.slot] = candidate.value;
        frame.bindings[variable.slot] = candidate;
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

function openOf({ open = null, again = null }: Binding, frame: Frame): OpenLine | null | 'refuted' {
  return again === null ? open : again(frame);
}

/** What a variable ranges over: the fewest of its domain that can fit what is bound. */
export function inDomain(frame: Frame, domain: Domain | null): Candidates {
  if (domain === null) return [];
  const { context } = frame;
  const noticed = context.trail.length;
  let best: readonly Piece<Binding>[] | null = null;
  const take = (pieces: readonly Piece<Binding>[]): void => {
    if (best === null || countOf(pieces) < countOf(best)) best = pieces;
  };
  for (const [index, { other }] of domain.keys.entries()) {
    const key = joinKey(other(frame));
    if (key !== ANY_KEY) take(context.matching(domain, index, key));
  }
  for (const { slot, hasSeen } of domain.before) {
    const later = frame.slots[slot];
    if (!(later instanceof EventObject)) continue;
    take(context.visibleAt(domain, hasSeen ? later.place : seeingAll(later.place)));
  }
  // The line itself says what it notices, if it is looked at.
  if (context.trail.length > noticed) context.trail.length = noticed;
  return best ?? context.domain(domain);
}

function countOf(pieces: readonly Piece<Binding>[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}

/** The elements that `(x: T) in within` ranges over, and one that is undecided where there may be others. */
export function valuesWithin(variable: BodyVariable, frame: Frame): readonly Binding[] {
  const value = variable.within === null ? null : variable.within(frame);
  // The walk over None would find it for no type; the seed language ranges over the whole trace here.
  if (value === null) return [];
  const why = undecidedIn(value);
  const known = isUndecided(value) ? [] : occurrencesWithin(value, variable.type);
  const located = known.length === 0 ? null : (variable.locateWithin?.(frame) ?? null);
  const found: Binding[] = known.map((one, order) => ({
    ...one,
    order,
    at: placeWithin(value, one.path, located),
  }));
  if (why === null) return found;
  const open = { why, span: why.span ?? variable.span };
  return [...found, { value: why, entry: null, path: [], order: found.length, open }];
}
