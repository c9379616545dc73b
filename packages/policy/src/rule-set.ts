/**
 * All rules of a policy on one trace: finds for each event the rules that it can concern, so that an event that
 * concerns none costs next to nothing.
 *
 * Ring 0.
 */
import type { JsonObject } from '@cordon/core';
import type { Candidate, World } from './body.ts';
import type { Retention } from './candidates.ts';
import type { CompiledRule } from './compiler.ts';
import { type EventObject, type Occurrence, occurrencesIn } from './event-object.ts';
import { planRule, type RulePlan } from './rule-plan.ts';
import { type Pending, type Report, RuleState } from './rule-state.ts';
import { type Batch, Trace } from './trace.ts';
import type { TraceEvent } from './trace-event.ts';
import { OBJECT_TYPES } from './types.ts';
import { type Parameters, parameters as parametersValue } from './value.ts';

/** Rules, planned, with what each type of event means to them. Made once for a policy, used for any number of traces. */
export class RuleProgram {
  readonly rules: readonly CompiledRule[];
  readonly plans: readonly RulePlan[];
  /** Types that predicates and quantifiers range over. */
  readonly ranged: ReadonlySet<string>;
  readonly needsCalls: boolean;
  readonly #interests = new Map<string, TypeInterests>();

  constructor(rules: readonly CompiledRule[]) {
    this.rules = rules;
    this.plans = rules.map(planRule);
    this.ranged = new Set(rules.flatMap((rule) => [...rule.rangesOver]));
    this.needsCalls = rules.some((rule) => rule.needsCalls);
    for (const [type, { isEvent }] of OBJECT_TYPES) {
      if (isEvent) this.#interests.set(type, new TypeInterests(this.plans, type));
    }
  }

  /** What an event can be in the rules, by rule. */
  interestsIn(event: EventObject): readonly Interest[] {
    return this.#interests.get(event.type)?.of(event.toolName) ?? [];
  }
}

/** A variable that an event, or a part of it, can be bound to; null: only what ranges over the trace can change. */
interface Interest {
  readonly rule: number;
  readonly variable: { readonly index: number; readonly type: string } | null;
}

class TypeInterests {
  readonly #general: readonly Interest[];
  readonly #named = new Map<string, readonly Interest[]>();

  constructor(plans: readonly RulePlan[], type: string) {
    const all = plans.flatMap((plan, rule) => interestsOf(plan, rule, type));
    this.#general = all.filter(({ tool }) => tool === null);
    for (const { tool } of all) {
      if (tool === null || this.#named.has(tool)) continue;
      const own = all.filter((interest) => interest.tool === null || interest.tool === tool);
      this.#named.set(tool, own);
    }
  }

  of(tool: string | null): readonly Interest[] {
    return tool === null ? this.#general : (this.#named.get(tool) ?? this.#general);
  }
}

function interestsOf(
  plan: RulePlan,
  rule: number,
  type: string,
): readonly (Interest & { readonly tool: string | null })[] {
  const variables = plan.rule.body.variables.flatMap((variable, index) => {
    if (variable.within !== null || !canHold(type, variable.type)) return [];
    return [{ rule, variable: { index, type: variable.type }, tool: plan.tools[index] ?? null }];
  });
  const ranges = [...plan.rule.rangesOver].some((ranged) => canHold(type, ranged));
  return ranges ? [{ rule, variable: null, tool: null }, ...variables] : variables;
}

/** Whether an event of a type is, or can have in it, an object of another. */
function canHold(event: string, type: string): boolean {
  return OBJECT_TYPES.get(type)?.isEvent === true ? event === type : true;
}

/** Events that have been placed and filtered, but are not part of the trace. */
export interface Prepared {
  readonly batch: Batch;
  /** By rule; undefined: the events do not concern it. */
  readonly pending: readonly (Pending | undefined)[];
}

export class RuleSet {
  readonly #program: RuleProgram;
  readonly #states: readonly RuleState[];
  readonly #trace: Trace;
  readonly #index: DomainIndex;
  readonly #input: Parameters;

  /** `keeps`: what deciding about new events needs, or all that passes the conditions on one variable. */
  constructor(program: RuleProgram, parameters: JsonObject, keeps: 'needed' | 'all') {
    this.#program = program;
    const retained = (plan: RulePlan): readonly Retention[] =>
      keeps === 'needed' ? plan.retention : plan.retention.map((kept) => (kept === 'none' ? 'none' : 'all'));
    this.#states = program.plans.map((plan) => new RuleState(plan, retained(plan)));
    this.#trace = new Trace(program.needsCalls);
    this.#index = new DomainIndex(program.ranged);
    this.#input = parametersValue(parameters);
  }

  /** How many events the rules remember. */
  get size(): number {
    return this.#states.reduce((sum, state) => sum + state.size, this.#index.size);
  }

  /** Places the events and asks each rule's filters about them. Changes nothing. */
  prepare(events: readonly TraceEvent[]): Prepared {
    const batch = this.#trace.prepare(events);
    const pending: (Candidate[][] | undefined)[] = new Array(this.#program.rules.length);
    const world = this.#world(this.#index);
    for (const entry of batch.entries) {
      for (const { rule, variable } of this.#program.interestsIn(entry)) {
        const state = this.#states[rule];
        if (state === undefined) continue;
        if (variable === null) pending[rule] ??= this.#none(rule);
        else
          for (const occurrence of occurrencesIn(entry, variable.type)) {
            const candidate = state.candidate(variable.index, occurrence, world);
            if (candidate === null) continue;
            pending[rule] ??= this.#none(rule);
            pending[rule]?.[variable.index]?.push(candidate);
          }
      }
    }
    return { batch, pending };
  }

  /** For each rule that the events concern, in order, reports what they bring about. */
  examine({ batch, pending }: Prepared, which: (plan: RulePlan) => boolean, report: ReportRule): void {
    let worlds: { before: World; after: World } | null = null;
    for (const [number, state] of this.#states.entries()) {
      const plan = this.#program.plans[number];
      const own = pending[number];
      if (plan === undefined || !which(plan) || (own === undefined && plan.kind !== 'constant')) continue;
      worlds ??= { before: this.#world(this.#index), after: this.#world(this.#index.fork(batch)) };
      state.examine(own ?? [], batch.entries, worlds, report(number));
    }
  }

  /** The events have happened: they must be the last that were prepared. */
  append({ batch, pending }: Prepared): void {
    this.#trace.commit(batch);
    this.#index.add(batch);
    for (const [number, state] of this.#states.entries()) {
      const own = pending[number];
      if (own !== undefined) state.append(own);
    }
  }

  /** Reports every assignment of the rules over all that is remembered. */
  all(which: (plan: RulePlan) => boolean, report: ReportRule): void {
    const world = this.#world(this.#index);
    for (const [number, state] of this.#states.entries()) {
      const plan = this.#program.plans[number];
      if (plan !== undefined && which(plan)) state.all(world, report(number));
    }
  }

  #none(rule: number): Candidate[][] {
    return (this.#program.plans[rule]?.rule.body.variables ?? []).map(() => []);
  }

  #world(index: DomainIndex): World {
    return { domain: (type) => index.of(type), input: this.#input, counted: 0, trail: [] };
  }
}

/** What to do with the findings of a rule, by its number. */
export type ReportRule = (rule: number) => Report;

/** The objects of the trace by type, for the types that predicates and quantifiers range over. */
class DomainIndex {
  readonly #types: ReadonlySet<string>;
  readonly #base: DomainIndex | null;
  readonly #occurrences = new Map<string, Occurrence[]>();

  constructor(types: ReadonlySet<string>, base: DomainIndex | null = null) {
    this.#types = types;
    this.#base = base;
  }

  fork(batch: Batch): DomainIndex {
    const fork = new DomainIndex(this.#types, this);
    fork.add(batch);
    return fork;
  }

  add(batch: Batch): void {
    for (const type of this.#types) {
      for (const entry of batch.entries) {
        const found = occurrencesIn(entry, type);
        if (found.length === 0) continue;
        const known = this.#occurrences.get(type);
        if (known === undefined) this.#occurrences.set(type, [...found]);
        else for (const occurrence of found) known.push(occurrence);
      }
    }
  }

  of(type: string): readonly (readonly Occurrence[])[] {
    const own = this.#occurrences.get(type) ?? [];
    return this.#base === null ? [own] : [...this.#base.of(type), own];
  }

  get size(): number {
    return [...this.#occurrences.values()].reduce((sum, list) => sum + list.length, 0);
  }
}
