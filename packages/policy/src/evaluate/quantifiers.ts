/** Predicates, `count` and `forall`: what the assignments of their bodies come to. */
import type { Evidence } from '../values/evidence.ts';
import { isUndecided, undecided, type Value } from '../values/value.ts';
import type { Binding, Body, Frame, OpenLine } from './body.ts';
import { type Candidates, inDomain, type SearchPlan, search, valuesWithin } from './search.ts';

/** True if some assignment satisfies the body, undecided if only an undecided one might, else false. */
export function holds(body: Body, plan: SearchPlan, frame: Frame, name: string): Value {
  let open: OpenLine | null = null;
  const { counted, trail, explains } = frame.context;
  const noticed = trail.length;
  const found = search(body, plan, frame, (bound, why) => {
    open ??= why;
    if (why !== null) return false;
    if (explains && bound.length > 0) trail.push({ kind: 'witness', predicate: name, bound: [...bound] });
    return true;
  });
  frame.context.counted = counted;
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
    const tally = frame.context.tally(body.counted);
    if (isSettled(tally.certain, tally.possible, limits)) {
      frame.context.counted += tally.certain;
      if (frame.context.explains) {
        const isCertain = tally.certain === tally.possible;
        const counted = isCertain ? membersOf(frame.context.domain(body.counted)) : nothingBound;
        frame.context.trail.push({ kind: 'count', found: tally.certain, isLeast: false, counted });
      }
      return isWithin(tally.certain, limits);
    }
  }
  let certain = 0;
  let possible = 0;
  let open: OpenLine | null = null;
  const { counted, trail, explains } = frame.context;
  const noticed = trail.length;
  const kept: Evidence[] = [];
  const settling = limits.max === null ? (limits.min ?? 0) : limits.max + 1;
  const enough = isTotalNeeded ? Number.POSITIVE_INFINITY : settling;
  const satisfying: Binding[] = [];
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
  frame.context.counted = counted + certain;
  // Undecided assignments can only add: the verdict is settled if no number of them changes it.
  const first = isWithin(certain, limits);
  const settled = isSettled(certain, possible, limits);
  return settled ? first : claimed(open);
}

/** What the lists hold now: they grow with the trace, and reports are made later. */
function membersOf(lists: readonly (readonly Binding[])[]): () => readonly Binding[] {
  const lengths = lists.map(({ length }) => length);
  return () => lists.flatMap((list, index) => list.slice(0, lengths[index]));
}

function nothingBound(): readonly Binding[] {
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
        frame.context.work.tried++;
        frame.slots[variable.slot] = candidate.value;
        frame.bindings[variable.slot] = candidate;
        descend(level + 1, open ?? candidate.open ?? null, refuted);
        if (state.refuted) return;
      }
    }
  };
  const { counted, trail } = frame.context;
  const noticed = trail.length;
  descend(0, null, false);
  frame.context.counted = counted;
  trail.length = noticed;
  return state.refuted ? false : state.open === null ? true : claimed(state.open);
}
