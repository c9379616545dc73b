/**
 * One rule and what it remembers of one trace. A new event is joined with the candidates of the other variables
 * only; the trace itself is looked at only by rules whose predicates or quantifiers range over it.
 *
 * Ring 0.
 */
import {
  type Bound,
  type Candidate,
  type Candidates,
  type Frame,
  type OpenLine,
  runSteps,
  type SearchPlan,
  search,
  type World,
} from './body.ts';
import {
  ANY_KEY,
  CandidateStore,
  type JoinKey,
  joinKey,
  NOTHING_KEPT,
  placeOf,
  type Retention,
} from './candidates.ts';
import type { CompiledRule } from './compiler.ts';
import type { EventObject, Occurrence } from './event-object.ts';
import type { Evidence, Located } from './evidence.ts';
import { equals } from './operators.ts';
import type { Join, RulePlan, RuleSearch } from './rule-plan.ts';
import { isUndecided, type Value } from './value.ts';

/** One assignment that satisfies a rule, or that cannot be decided, with the record of its evaluation. */
export interface Finding {
  readonly rule: CompiledRule;
  /** Null: the rule is violated. */
  readonly open: OpenLine | null;
  /** Null for the same reason as `open` is not. */
  readonly message: Value | null;
  /** By variable, in the order of the text. */
  readonly bound: readonly Bound[];
  readonly evidence: readonly Evidence[];
  /** Where the values of `x := …` stand in the trace. */
  readonly assigned: readonly Located[];
}

/** Answers true to stop the search. */
export type Report = (finding: Finding) => boolean;

/** What a rule looks at besides its candidates: the trace before and with the pending events. */
export interface Worlds {
  readonly before: World;
  readonly after: World;
}

/** New candidates by variable. */
export type Pending = readonly (readonly Candidate[])[];

export class RuleState {
  readonly #plan: RulePlan;
  readonly #ways: RuleSearch;
  readonly #stores: readonly CandidateStore[];
  readonly #slots: Value[];
  readonly #found: (Bound | undefined)[] = [];
  #next = 0;

  constructor(plan: RulePlan, retention: readonly Retention[]) {
    this.#plan = plan;
    this.#ways = plan.search;
    const { joins } = this.#ways;
    this.#stores = retention.map((kept, index) =>
      kept === 'none' ? NOTHING_KEPT : new CandidateStore(kept, joins[index]?.length ?? 0),
    );
    this.#slots = new Array(plan.rule.slots);
  }

  /** How many candidates it holds: the memory that the rule costs. */
  get size(): number {
    return this.#stores.reduce((sum, store) => sum + store.size, 0);
  }

  /** The candidate for a variable that an object of the trace is; null if a line about it alone refutes it. */
  candidate(index: number, occurrence: Occurrence, world: World): Candidate | null {
    const frame = this.#frame(world);
    const variable = this.#plan.rule.body.variables[index];
    if (variable === undefined) return null;
    frame.slots[variable.slot] = occurrence.value;
    frame.found[variable.slot] = occurrence;
    world.trail.length = 0;
    const open = runSteps(this.#plan.ownSteps[index] ?? [], frame, null);
    if (open === 'refuted') return null;
    const joins = this.#ways.joins[index] ?? NO_JOINS;
    const keys = joins.length === 0 ? NO_KEYS : joins.map(({ own }) => joinKey(own.evaluate(frame)));
    const evidence = world.trail.length === 0 ? NO_EVIDENCE : [...world.trail];
    const { value, entry, path } = occurrence;
    const again = open === null || open.why.awaits.length === 0 ? null : this.#again(index);
    return { value, entry, path, open, again, order: this.#next++, evidence, keys };
  }

  /** What was open when the object came may have been answered since. */
  #again(index: number): (frame: Frame) => OpenLine | null | 'refuted' {
    const steps = this.#plan.ownSteps[index] ?? [];
    return (frame) => runSteps(steps, frame, null);
  }

  /** Reports what new events bring about: assignments with one of them, and old ones that hold only now. */
  examine(pending: Pending, fresh: readonly EventObject[], worlds: Worlds, report: Report): void {
    if (this.#plan.kind === 'whole') this.#examineWhole(pending, fresh, worlds, report);
    else if (this.#plan.kind === 'constant') this.#search(this.#ways.full, worlds.after, () => [], report);
    else this.#examineNew(pending, worlds.after, report);
  }

  /** Makes new candidates part of what the rule remembers. */
  append(pending: Pending): void {
    for (const [index, candidates] of pending.entries()) {
      for (const candidate of candidates) this.#stores[index]?.add(candidate);
    }
  }

  /** Reports every assignment over what is remembered, in the order of the trace. */
  all(world: World, report: Report): void {
    const candidatesOf = (variable: number): Candidates => [this.#stores[variable]?.all() ?? []];
    this.#search(this.#ways.full, world, candidatesOf, report);
  }

  /** Semi-naive: the pivot is new, variables before it are old, those behind it either. */
  #examineNew(pending: Pending, world: World, report: Report): void {
    for (const [pivot, fresh] of pending.entries()) {
      const plan = this.#ways.pivots[pivot];
      if (fresh.length === 0 || plan === undefined || this.#lacks(pivot, pending)) continue;
      const candidatesOf = (variable: number, bound: readonly Bound[], frame: Frame): Candidates => {
        if (variable === pivot) return [fresh];
        const old = this.#oldCandidates(variable, plan, bound, frame);
        return variable < pivot ? old : [...old, pending[variable] ?? []];
      };
      if (this.#search(plan, world, candidatesOf, report)) return;
    }
  }

  /** Whether some other variable has nothing to be bound to: most events end here. */
  #lacks(pivot: number, pending: Pending): boolean {
    const { variables } = this.#plan.rule.body;
    for (let index = 0; index < variables.length; index++) {
      if (index === pivot || variables[index]?.within !== null) continue;
      const isFresh = index > pivot && (pending[index]?.length ?? 0) > 0;
      if (!isFresh && this.#stores[index]?.size === 0) return true;
    }
    return false;
  }

  /** Where a line compares by `==`, only what can be equal; where one says `variable -> bound`, only what flows there. */
  #oldCandidates(variable: number, plan: SearchPlan, bound: readonly Bound[], frame: Frame): Candidates {
    const store = this.#stores[variable];
    if (store === undefined || store.size === 0) return [];
    const isBound = (other: number): boolean => plan.order.indexOf(other) < plan.order.indexOf(variable);
    for (const [index, { other }] of (this.#ways.joins[variable] ?? []).entries()) {
      if (!isBound(other.variable)) continue;
      const key = joinKey(other.evaluate(frame));
      if (key !== ANY_KEY) return store.matching(index, key);
    }
    for (const { flow } of this.#plan.rule.body.steps) {
      if (flow === null || flow.from !== variable || !isBound(flow.to)) continue;
      const target = bound[flow.to];
      const place = target === undefined ? null : placeOf(target);
      if (place !== null) return store.flowingTo(place);
    }
    return [store.all()];
  }

  /** For rules whose lines can change for old events too: everything is tried, and compared with before. */
  #examineWhole(pending: Pending, fresh: readonly EventObject[], worlds: Worlds, report: Report): void {
    const isFresh = new Set(fresh);
    const frame = this.#frame(worlds.after);
    const visit = (bound: readonly Bound[], open: OpenLine | null): boolean => {
      const holdsFresh = bound.some(({ entry }) => entry !== null && isFresh.has(entry));
      const noticed = [...frame.world.trail];
      const isNew = holdsFresh || this.#isNew([...bound], worlds);
      frame.world.trail.length = 0;
      for (const evidence of noticed) frame.world.trail.push(evidence);
      return isNew && report(this.#finding(frame, bound, open));
    };
    const candidatesOf = (variable: number): Candidates => [
      this.#stores[variable]?.all() ?? [],
      pending[variable] ?? [],
    ];
    frame.world.trail.length = 0;
    search(this.#plan.rule.body, this.#ways.full, frame, visit, candidatesOf);
  }

  /** Whether an assignment of old events is satisfied, open or counted otherwise than before. */
  #isNew(bound: readonly Bound[], worlds: Worlds): boolean {
    const then = this.#status(bound, worlds.before);
    const now = this.#status(bound, worlds.after);
    return then.kind !== now.kind || then.counted !== now.counted;
  }

  /** One assignment, looked at in one world, in a frame of its own. */
  #status(bound: readonly Bound[], world: World): { kind: 'holds' | 'open' | 'refuted'; counted: number } {
    const { rule } = this.#plan;
    const { assignment } = this.#ways;
    const frame: Frame = { slots: new Array(rule.slots), found: [], world, site: null, depth: 0 };
    world.counted = 0;
    let kind: 'holds' | 'open' | 'refuted' = 'refuted';
    search(
      rule.body,
      assignment,
      frame,
      (_, open) => {
        kind = open === null ? 'holds' : 'open';
        return true;
      },
      (variable) => [bound[variable] === undefined ? [] : [bound[variable]]],
      (variable, found) => isAlike(found.value, bound[variable]?.value ?? null),
    );
    return { kind, counted: world.counted };
  }

  #search(
    plan: SearchPlan,
    world: World,
    candidatesOf: (variable: number, bound: readonly Bound[], frame: Frame) => Candidates,
    report: Report,
  ): boolean {
    const frame = this.#frame(world);
    world.trail.length = 0;
    const { body } = this.#plan.rule;
    const visit = (bound: readonly Bound[], open: OpenLine | null): boolean =>
      report(this.#finding(frame, bound, open));
    return search(body, plan, frame, visit, candidatesOf);
  }

  #frame(world: World): Frame {
    return { slots: this.#slots, found: this.#found, world, site: null, depth: 0 };
  }

  #finding(frame: Frame, bound: readonly Bound[], open: OpenLine | null): Finding {
    const { rule } = this.#plan;
    const evidence: Evidence[] = [];
    for (const candidate of bound)
      for (const noticed of candidate.evidence ?? NO_EVIDENCE) evidence.push(noticed);
    for (const noticed of frame.world.trail) evidence.push(noticed);
    const message = open === null ? rule.message(frame) : null;
    const unsaid =
      message !== null && isUndecided(message) ? { why: message, span: message.span ?? rule.span } : null;
    return {
      rule,
      open: open ?? unsaid,
      message: unsaid === null ? message : null,
      bound: [...bound],
      evidence,
      assigned: open === null ? this.#assigned(frame) : NO_PLACES,
    };
  }

  #assigned(frame: Frame): readonly Located[] {
    const { trail } = frame.world;
    const noticed = trail.length;
    let places = NO_PLACES;
    for (const { slot, locate } of this.#plan.rule.body.steps) {
      const place = slot === null ? null : locate(frame);
      if (place !== null) places = [...places, place];
    }
    // Looking for a place may evaluate what was evaluated before.
    if (trail.length > noticed) trail.length = noticed;
    return places;
  }
}

/** Whether two elements of what the rule names are one, seen before and after. */
function isAlike(a: Value, b: Value): boolean {
  return isUndecided(a) ? isUndecided(b) : !isUndecided(b) && equals(a, b);
}

const NO_EVIDENCE: readonly Evidence[] = [];
const NO_PLACES: readonly Located[] = [];
const NO_JOINS: readonly Join[] = [];
const NO_KEYS: readonly JoinKey[] = [];
