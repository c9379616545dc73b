/**
 * One rule and what it needs to remember of the trace. A new event is joined with the candidates of the other
 * variables only; the trace itself is looked at only by rules whose predicates or quantifiers range over it.
 *
 * Ring 0.
 */
import {
  type Candidate,
  type Candidates,
  type Frame,
  type OpenLine,
  planSearch,
  type SearchPlan,
  type Step,
  search,
  type World,
} from './body.ts';
import { CandidateStore, placeOf } from './candidates.ts';
import type { CompiledRule } from './compiler.ts';
import { type Batch, type Entry, type Occurrence, occurrencesIn } from './trace.ts';
import { isUndecided, type Value } from './value.ts';

/** One assignment that satisfies a rule, or that cannot be decided. */
export interface Finding {
  readonly rule: CompiledRule;
  /** Null: the rule is violated. */
  readonly open: OpenLine | null;
  /** Null for the same reason as `open` is not. */
  readonly message: Value | null;
  /** By variable, in the order of the text; null: computed, not found in the trace. */
  readonly entries: readonly (Entry | null)[];
}

/** Answers true to stop the search. */
export type Report = (finding: Finding) => boolean;

/** What a rule looks at besides its candidates: the trace before and with the pending events. */
export interface Worlds {
  readonly before: World;
  readonly after: World;
}

export class RuleState {
  readonly rule: CompiledRule;
  readonly #stores: readonly CandidateStore[];
  readonly #ownSteps: readonly (readonly Step[])[];
  readonly #pivotPlans: readonly SearchPlan[];
  readonly #fullPlan: SearchPlan;
  readonly #assignmentPlan: SearchPlan;
  readonly #slots: Value[];

  constructor(rule: CompiledRule) {
    this.rule = rule;
    const { body } = rule;
    this.#stores = body.variables.map(() => new CandidateStore());
    this.#ownSteps = body.variables.map((variable, index) =>
      variable.within !== null ? [] : body.steps.filter((step) => step.isStable && isOwn(step, index)),
    );
    const isDone = (step: Step): boolean => this.#ownSteps.some((steps) => steps.includes(step));
    this.#pivotPlans = body.variables.map((_, index) => planSearch(body, index, isDone));
    this.#fullPlan = planSearch(body, null, isDone);
    this.#assignmentPlan = planSearch(body);
    this.#slots = new Array(rule.slots);
  }

  /** How many candidates it holds: the memory that the rule costs. */
  get size(): number {
    return this.#stores.reduce((sum, store) => sum + store.size, 0);
  }

  /** Reports what the batch brings about: assignments with a new event, and old ones that hold only now. */
  examine(batch: Batch, worlds: Worlds, report: Report): void {
    const pending = this.#pending(batch, worlds.after);
    if (this.rule.rangesOver.size > 0) this.#examineWhole(batch, pending, worlds, report);
    else if (this.rule.body.variables.every((variable) => variable.within !== null)) {
      // A rule without events speaks about every action.
      this.#search(this.#fullPlan, worlds.after, () => [], report);
    } else this.#examineNew(pending, worlds.after, report);
  }

  /** Makes the batch part of what the rule remembers. */
  append(batch: Batch, world: World): void {
    for (const [index, candidates] of this.#pending(batch, world).entries()) {
      for (const candidate of candidates) this.#stores[index]?.add(candidate);
    }
  }

  /** Reports every assignment over what was appended, in the order of the trace. */
  all(world: World, report: Report): void {
    this.#search(this.#fullPlan, world, (variable) => [this.#stores[variable]?.all() ?? []], report);
  }

  /** Semi-naive: the pivot is new, variables before it are old, those behind it either. */
  #examineNew(pending: readonly (readonly Candidate[])[], world: World, report: Report): void {
    for (const [pivot, fresh] of pending.entries()) {
      if (fresh.length === 0) continue;
      const plan = this.#pivotPlans[pivot];
      if (plan === undefined) continue;
      const stopped = this.#search(
        plan,
        world,
        (variable, bound) => {
          if (variable === pivot) return [fresh];
          const old = this.#oldCandidates(variable, plan, bound);
          return variable < pivot ? old : [...old, pending[variable] ?? []];
        },
        report,
      );
      if (stopped) return;
    }
  }

  /** Where a line `variable -> bound` stands, only what flows there. */
  #oldCandidates(variable: number, plan: SearchPlan, bound: readonly Occurrence[]): Candidates {
    const store = this.#stores[variable];
    if (store === undefined || store.size === 0) return [];
    const isBound = (other: number): boolean => plan.order.indexOf(other) < plan.order.indexOf(variable);
    for (const step of this.rule.body.steps) {
      if (step.flow === null || step.flow.from !== variable || !isBound(step.flow.to)) continue;
      const target = bound[step.flow.to];
      const place = target === undefined ? null : placeOf(target);
      if (place !== null) return store.flowingTo(place);
    }
    return [store.all()];
  }

  /** For rules whose lines can change for old events too: everything is tried, and compared with before. */
  #examineWhole(
    batch: Batch,
    pending: readonly (readonly Candidate[])[],
    worlds: Worlds,
    report: Report,
  ): void {
    const fresh = new Set<Entry>(batch.entries);
    const frame: Frame = { slots: this.#slots, world: worlds.after, depth: 0 };
    const visit = (bound: readonly Occurrence[], open: OpenLine | null): boolean => {
      const hasFresh = bound.some((occurrence) => occurrence.entry !== null && fresh.has(occurrence.entry));
      const isNew = hasFresh || this.#isNew([...bound], worlds);
      return isNew && report(this.#finding(frame, bound, open));
    };
    const candidatesOf = (variable: number): Candidates => [
      this.#stores[variable]?.all() ?? [],
      pending[variable] ?? [],
    ];
    search(this.rule.body, this.#fullPlan, frame, visit, candidatesOf);
  }

  /** Whether an assignment of old events is satisfied, open or counted otherwise than before. */
  #isNew(bound: readonly Occurrence[], worlds: Worlds): boolean {
    const then = this.#status(bound, worlds.before);
    const now = this.#status(bound, worlds.after);
    return then.kind !== now.kind || then.counted !== now.counted;
  }

  /** One assignment, looked at in one world, in a frame of its own. */
  #status(
    bound: readonly Occurrence[],
    world: World,
  ): { kind: 'holds' | 'open' | 'refuted'; counted: number } {
    const frame: Frame = { slots: new Array(this.rule.slots), world, depth: 0 };
    world.counted = 0;
    let kind: 'holds' | 'open' | 'refuted' = 'refuted';
    search(
      this.rule.body,
      this.#assignmentPlan,
      frame,
      (_, open) => {
        kind = open === null ? 'holds' : 'open';
        return true;
      },
      (variable) => [bound[variable] === undefined ? [] : [bound[variable]]],
    );
    return { kind, counted: world.counted };
  }

  #search(
    plan: SearchPlan,
    world: World,
    candidatesOf: (variable: number, bound: readonly Occurrence[]) => Candidates,
    report: Report,
  ): boolean {
    const frame: Frame = { slots: this.#slots, world, depth: 0 };
    return search(
      this.rule.body,
      plan,
      frame,
      (bound, open) => report(this.#finding(frame, bound, open)),
      candidatesOf,
    );
  }

  #finding(frame: Frame, bound: readonly Occurrence[], open: OpenLine | null): Finding {
    const entries = this.rule.body.variables.map((_, index) => bound[index]?.entry ?? null);
    if (open !== null) return { rule: this.rule, open, message: null, entries };
    const message = this.rule.message(frame);
    return isUndecided(message)
      ? {
          rule: this.rule,
          open: { why: message, span: message.span ?? this.rule.span },
          message: null,
          entries,
        }
      : { rule: this.rule, open: null, message, entries };
  }

  /** The objects of the batch that pass each variable's own conditions. */
  #pending(batch: Batch, world: World): readonly (readonly Candidate[])[] {
    return this.rule.body.variables.map((variable, index) => {
      if (variable.within !== null) return [];
      return batch.entries.flatMap((entry) => this.#passing(index, variable.type, entry, world));
    });
  }

  #passing(index: number, type: string, entry: Entry, world: World): readonly Candidate[] {
    const passing: Candidate[] = [];
    for (const occurrence of occurrencesIn(entry, type)) {
      const candidate = this.#checked(index, occurrence, world);
      if (candidate !== null) passing.push(candidate);
    }
    return passing;
  }

  #checked(index: number, occurrence: Occurrence, world: World): Candidate | null {
    const frame: Frame = { slots: this.#slots, world, depth: 0 };
    const variable = this.rule.body.variables[index];
    if (variable === undefined) return null;
    frame.slots[variable.slot] = occurrence.value;
    let open: OpenLine | null = null;
    for (const step of this.#ownSteps[index] ?? []) {
      const value = step.evaluate(frame);
      if (step.slot !== null) frame.slots[step.slot] = value;
      if (isUndecided(value)) open ??= { why: value, span: value.span ?? step.span };
      else if (step.slot === null && value !== true) return null;
    }
    return { ...occurrence, open };
  }
}

/** A line about this variable alone, or an assignment that such lines may use. */
function isOwn(step: Step, index: number): boolean {
  if (step.slot !== null) return [...step.needs].every((need) => need === index);
  return step.needs.size === 1 && step.needs.has(index);
}
