/**
 * One rule and what it remembers of one trace. A new event is joined with the candidates of the other variables
 * only; the trace itself is looked at only by rules whose predicates or quantifiers range over it.
 */
import type { Question } from '@cordon/core';
import { type Place, seeingAll } from '../events/provenance.ts';
import type { EventObject, Occurrence } from '../values/event-object.ts';
import type { Evidence, Located } from '../values/evidence.ts';
import { equals } from '../values/operators.ts';
import { isUndecided, undecided, type Value } from '../values/value.ts';
import type { Binding, Candidate, EvalContext, Frame, OpenLine } from './body.ts';
import { CandidateStore, NOTHING_KEPT, placeOf, type Retention } from './candidates.ts';
import type { CompiledRule } from './compiled-rule.ts';
import { ANY_KEY, type JoinKey, joinKey } from './join-key.ts';
import type { Join, RulePlan, RuleSearch, Wants } from './rule-plan.ts';
import { type Candidates, runSteps, type SearchPlan, search } from './search.ts';

/** One assignment that satisfies a rule, or that cannot be decided, with the record of its evaluation. */
export interface Finding {
  readonly rule: CompiledRule;
  /** Null: the rule is violated. */
  readonly open: OpenLine | null;
  /** Null for the same reason as `open` is not. */
  readonly message: Value | null;
  /** By variable, in the order of the text. */
  readonly bound: readonly Binding[];
  readonly evidence: readonly Evidence[];
  /** Where the values of `x := …` stand in the trace. */
  readonly assigned: readonly Located[];
}

/** What becomes of findings. */
export interface Report {
  /** Answers true to stop the search. */
  add(finding: Finding): boolean;
  /** Whether those that are undecided, whatever detectors answer, are not asked for any more. */
  skipsOpen(): boolean;
}

/** What a rule looks at besides its candidates: the trace before and with the added events. */
export interface EvalContexts {
  readonly before: EvalContext;
  readonly after: EvalContext;
}

/** New candidates by variable. */
export type NewCandidates = readonly (readonly Candidate[])[];

/** A new candidate, and with what is decided with it; null: that is refuted. */
interface Settled {
  readonly candidate: Candidate;
  readonly whole: Candidate | null;
}

/** What an event is decided together with. */
interface Decided {
  readonly open: OpenLine | null;
  readonly behind: ReadonlyMap<number, Binding>;
  readonly evidence: readonly Evidence[];
}

export class RuleState {
  readonly #plan: RulePlan;
  readonly #ways: RuleSearch;
  readonly #wants: Wants;
  readonly #stores: readonly CandidateStore[];
  /** By variable: those that decide others; the same as `#stores` where one assignment is enough. */
  readonly #prefixes: readonly CandidateStore[];
  readonly #slots: Value[];
  readonly #bindings: (Binding | undefined)[] = [];
  readonly #settled = new WeakMap<NewCandidates, readonly (readonly Settled[])[]>();
  #next = 0;

  constructor(plan: RulePlan, wants: Wants) {
    this.#plan = plan;
    this.#wants = wants;
    this.#ways = plan.search(wants);
    const { joins, told, retention, prefixRetention } = this.#ways;
    const storeOf = (kept: Retention, index: number): CandidateStore =>
      kept === 'none' ? NOTHING_KEPT : new CandidateStore(kept, joins[index]?.length ?? 0, told[index]);
    this.#stores = retention.map(storeOf);
    this.#prefixes = wants === 'one' ? this.#stores : prefixRetention.map(storeOf);
    this.#slots = new Array(plan.rule.slots);
  }

  /** How many candidates it holds: the memory that the rule costs. */
  get size(): number {
    return this.#stores.reduce((sum, store) => sum + store.size, 0);
  }

  /** The candidate for a variable that an object of the trace is; null if a line about it alone refutes it. */
  candidate(index: number, occurrence: Occurrence, context: EvalContext): Candidate | null {
    const frame = this.#frame(context);
    const variable = this.#plan.rule.body.variables[index];
    if (variable === undefined) return null;
    frame.slots[variable.slot] = occurrence.value;
    frame.bindings[variable.slot] = occurrence;
    context.trail.length = 0;
    const open = runSteps(this.#plan.ownSteps[index] ?? [], frame, null);
    if (open === 'refuted') return null;
    const joins = this.#ways.joins[index] ?? NO_JOINS;
    const keys = joins.length === 0 ? NO_KEYS : joins.map(({ own }) => joinKey(own.evaluate(frame)));
    const evidence = context.trail.length === 0 ? NO_EVIDENCE : [...context.trail];
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
  examine(added: NewCandidates, fresh: readonly EventObject[], contexts: EvalContexts, report: Report): void {
    if (this.#plan.kind === 'whole') this.#examineWhole(added, fresh, contexts, report);
    else if (this.#plan.kind === 'constant') this.#search(this.#ways.full, contexts.after, () => [], report);
    else this.#examineNew(added, contexts.after, report);
  }

  /** Makes new candidates part of what the rule remembers. */
  append(added: NewCandidates, context: EvalContext): void {
    const isKept = (index: number): boolean =>
      this.#stores[index] !== NOTHING_KEPT || this.#prefixes[index] !== NOTHING_KEPT;
    const settled = this.#settled.get(added) ?? this.#settle(added, context, isKept);
    for (const [index, all] of settled.entries()) {
      const [store, prefixes] = [this.#stores[index], this.#prefixes[index]];
      for (const { candidate, whole } of all) {
        if (whole === null) continue;
        store?.add(this.#wants === 'one' ? whole : candidate);
        if (prefixes !== store) prefixes?.add(whole);
      }
    }
  }

  // ── what is decided when an event comes ─────────────────────────────────────────────────────────────────────

  #settle(
    added: NewCandidates,
    context: EvalContext,
    isAsked: (index: number) => boolean,
  ): readonly (readonly Settled[])[] {
    const settled: Settled[][] = added.map(() => []);
    // Those that come before others decide them.
    for (const index of this.#ways.past) {
      const plan = this.#ways.prefixPlans[index] ?? null;
      if (!isAsked(index)) continue;
      for (const candidate of added[index] ?? []) {
        if (plan === null) {
          settled[index]?.push({ candidate, whole: candidate });
          continue;
        }
        const whole = this.#wholeOf(index, candidate, plan, settled, context);
        settled[index]?.push({ candidate: { ...candidate, outlook: whole?.open ?? null }, whole });
      }
    }
    this.#settled.set(added, settled);
    return settled;
  }

  #wholeOf(
    index: number,
    candidate: Candidate,
    plan: SearchPlan,
    settled: readonly (readonly Settled[])[],
    context: EvalContext,
  ): Candidate | null {
    const isMissing = (other: number): boolean =>
      this.#plan.rule.body.variables[other]?.within === null &&
      this.#prefixes[other]?.size === 0 &&
      settled[other]?.length === 0;
    if (plan.order.some((other) => other !== index && isMissing(other))) return null;
    const decide = (frame: Frame): Decided | null => this.#decide(index, candidate, plan, settled, frame);
    context.trail.length = 0;
    const decided = decide(this.#frame(context));
    context.trail.length = 0;
    if (decided === null) return null;
    const { open, behind } = decided;
    const isWaiting = open !== null && open.why.awaits.length > 0;
    const again = (frame: Frame): OpenLine | null | 'refuted' => {
      const now = decide(frame);
      if (now === null) return 'refuted';
      this.#bind(now.behind, frame);
      for (const evidence of now.evidence) frame.context.trail.push(evidence);
      return now.open;
    };
    const evidence =
      decided.evidence.length === 0 ? candidate.evidence : [...candidate.evidence, ...decided.evidence];
    return { ...candidate, open, behind, evidence, again: isWaiting ? again : null };
  }

  /** The first assignment of what is decided with an event that holds, else the first that is undecided. */
  #decide(
    index: number,
    candidate: Candidate,
    plan: SearchPlan,
    settled: readonly (readonly Settled[])[],
    frame: Frame,
  ): Decided | null {
    const { trail } = frame.context;
    const noticed = trail.length;
    const { variables } = this.#plan.rule.body;
    let best: Decided | null = null;
    const awaits: Question[] = [];
    const visit = (bound: readonly Binding[], open: OpenLine | null): boolean => {
      if (open !== null) awaits.push(...open.why.awaits);
      if (best !== null && open !== null) return false;
      for (const one of plan.order) if (one !== index) this.#bindBehind(bound[one], frame);
      const behind = new Map<number, Binding>();
      for (const other of this.#ways.prefixes.behind[index] ?? []) {
        const found = frame.bindings[variables[other]?.slot ?? -1];
        if (found !== undefined) behind.set(other, found);
      }
      best = { open, behind, evidence: trail.slice(noticed) };
      return open === null;
    };
    const candidatesOf = (variable: number, bound: readonly Binding[], inner: Frame): Candidates => {
      if (variable === index) return [[candidate]];
      const old = this.#oldCandidates(variable, this.#prefixes, plan, bound, inner);
      return [...old, wholes(settled[variable])];
    };
    search(this.#plan.rule.body, plan, frame, visit, { candidatesOf });
    if (trail.length > noticed) trail.length = noticed;
    return best === null ? null : awaitingAll(best, awaits);
  }

  #bindBehind(bound: Binding | undefined, frame: Frame): void {
    // What waits was looked at once more when it was bound.
    if (bound?.behind != null && bound.again == null) this.#bind(bound.behind, frame);
  }

  #bind(behind: ReadonlyMap<number, Binding>, frame: Frame): void {
    for (const [index, found] of behind) {
      const slot = this.#plan.rule.body.variables[index]?.slot ?? -1;
      frame.bindings[slot] = found;
      frame.slots[slot] = found.value;
    }
  }

  // ── searches ────────────────────────────────────────────────────────────────────────────────────────────────

  /** Reports every assignment over what is remembered, in the order of the trace. */
  all(context: EvalContext, report: Report): void {
    const candidatesOf = (variable: number): Candidates => [this.#stores[variable]?.all() ?? []];
    this.#search(this.#ways.full, context, candidatesOf, report);
  }

  /** Semi-naive: the pivot is new, variables before it are old, those behind it either. */
  #examineNew(added: NewCandidates, context: EvalContext, report: Report): void {
    const settled = this.#settle(added, context, () => true);
    const news = settled.map((all) =>
      this.#wants === 'one'
        ? wholes(all)
        : all.flatMap(({ candidate, whole }) => (whole === null ? [] : [candidate])),
    );
    for (const [pivot, fresh] of news.entries()) {
      const plan = this.#ways.pivots[pivot] ?? null;
      if (fresh.length === 0 || plan === null || this.#lacks(pivot, plan, news)) continue;
      const candidatesOf = (variable: number, bound: readonly Binding[], frame: Frame): Candidates => {
        if (variable === pivot) return [fresh];
        const old = this.#oldCandidates(variable, this.#stores, plan, bound, frame);
        return variable < pivot ? old : [...old, news[variable] ?? []];
      };
      if (this.#search(plan, context, candidatesOf, report)) return;
    }
  }

  /** Whether some other variable has nothing to be bound to: most events end here. */
  #lacks(pivot: number, plan: SearchPlan, news: readonly (readonly Candidate[])[]): boolean {
    const { variables } = this.#plan.rule.body;
    for (const index of plan.order) {
      if (index === pivot || variables[index]?.within !== null) continue;
      const isFresh = index > pivot && (news[index]?.length ?? 0) > 0;
      if (!isFresh && this.#stores[index]?.size === 0) return true;
    }
    return false;
  }

  /** Where a line compares by `==`, only what can be equal; where flows are asked for, only what they lead to. */
  #oldCandidates(
    variable: number,
    stores: readonly CandidateStore[],
    plan: SearchPlan,
    bound: readonly Binding[],
    frame: Frame,
  ): Candidates {
    const store = stores[variable];
    if (store === undefined || store.size === 0) return [];
    const rank = plan.order.indexOf(variable);
    const isBound = (other: number): boolean => plan.order.indexOf(other) < rank;
    let equal: readonly (readonly Candidate[])[] | null = null;
    let least = Number.POSITIVE_INFINITY;
    for (const [index, { other }] of (this.#ways.joins[variable] ?? []).entries()) {
      if (!isBound(other.variable) || !plan.order.includes(other.variable)) continue;
      const key = joinKey(other.evaluate(frame));
      const pieces = key === ANY_KEY ? null : store.matching(index, key);
      const count = pieces?.reduce((sum, piece) => sum + piece.length, 0) ?? least;
      if (count < least) [equal, least] = [pieces, count];
    }
    if (equal !== null) return equal;
    const { before, seen } = this.#ways.prefixes;
    // The earliest that has seen it and the latest that it has seen; the same of what comes behind and before it.
    let target: Place | null = null;
    let source: Place | null = null;
    let end: Place | null = null;
    let start: Place | null = null;
    for (const other of plan.order.slice(0, rank)) {
      const found = bound[other];
      const place = found === undefined ? null : placeOf(found);
      if (place === null) continue;
      if (seen[other]?.has(variable) === true) target = earlier(target, place);
      if (before[other]?.has(variable) === true) end = earlier(end, place);
      if (seen[variable]?.has(other) === true) source = later(source, place);
      if (before[variable]?.has(other) === true) start = later(start, place);
    }
    if (target !== null) return store.flowingTo(target, source);
    return end === null ? [store.all()] : store.flowingTo(seeingAll(end), start);
  }

  /** For rules whose lines can change for old events too: everything is tried, and compared with before. */
  #examineWhole(
    added: NewCandidates,
    fresh: readonly EventObject[],
    contexts: EvalContexts,
    report: Report,
  ): void {
    const isFresh = new Set(fresh);
    const frame = this.#frame(contexts.after);
    const visit = (bound: readonly Binding[], open: OpenLine | null): boolean => {
      const holdsFresh = bound.some(({ entry }) => entry !== null && isFresh.has(entry));
      const noticed = [...frame.context.trail];
      const isNew = holdsFresh || this.#isNew([...bound], contexts);
      frame.context.trail.length = 0;
      for (const evidence of noticed) frame.context.trail.push(evidence);
      return isNew && report.add(this.#finding(frame, bound, open));
    };
    const candidatesOf = (variable: number): Candidates => [
      this.#stores[variable]?.all() ?? [],
      added[variable] ?? [],
    ];
    frame.context.trail.length = 0;
    const skipsOpen = () => report.skipsOpen();
    search(this.#plan.rule.body, this.#ways.full, frame, visit, { candidatesOf, skipsOpen });
  }

  /** Whether an assignment of old events is satisfied, open or counted otherwise than before. */
  #isNew(bound: readonly Binding[], contexts: EvalContexts): boolean {
    const then = this.#status(bound, contexts.before);
    const now = this.#status(bound, contexts.after);
    return then.kind !== now.kind || then.counted !== now.counted;
  }

  /** One assignment, evaluated in one context, in a separate frame. */
  #status(
    bound: readonly Binding[],
    context: EvalContext,
  ): { kind: 'holds' | 'open' | 'refuted'; counted: number } {
    const { rule } = this.#plan;
    const { assignment } = this.#ways;
    const frame: Frame = { slots: new Array(rule.slots), bindings: [], context, site: null, depth: 0 };
    context.counted = 0;
    let kind: 'holds' | 'open' | 'refuted' = 'refuted';
    search(
      rule.body,
      assignment,
      frame,
      (_, open) => {
        kind = open === null ? 'holds' : 'open';
        return true;
      },
      {
        candidatesOf: (variable) => [bound[variable] === undefined ? [] : [bound[variable]]],
        isMeant: (variable, found) => isAlike(found.value, bound[variable]?.value ?? null),
      },
    );
    return { kind, counted: context.counted };
  }

  #search(
    plan: SearchPlan,
    context: EvalContext,
    candidatesOf: (variable: number, bound: readonly Binding[], frame: Frame) => Candidates,
    report: Report,
  ): boolean {
    const frame = this.#frame(context);
    context.trail.length = 0;
    const { body } = this.#plan.rule;
    const visit = (bound: readonly Binding[], open: OpenLine | null): boolean => {
      for (const one of bound) this.#bindBehind(one, frame);
      return report.add(this.#finding(frame, this.#wants === 'one' ? this.#everything(frame) : bound, open));
    };
    return search(body, plan, frame, visit, { candidatesOf, skipsOpen: () => report.skipsOpen() });
  }

  /** What all variables are bound to, also those that were decided with others, whose names get their values. */
  #everything(frame: Frame): readonly Binding[] {
    const { variables, steps } = this.#plan.rule.body;
    const { decided } = this.#ways.prefixes;
    const { trail } = frame.context;
    const noticed = trail.length;
    if (decided.size > 0) {
      for (const { slot, needs, evaluate } of steps) {
        const isMissing = slot !== null && [...needs].some((need) => decided.has(need));
        if (isMissing) frame.slots[slot] = evaluate(frame);
      }
    }
    if (trail.length > noticed) trail.length = noticed;
    return variables.flatMap(({ slot }) => frame.bindings[slot] ?? []);
  }

  #frame(context: EvalContext): Frame {
    return { slots: this.#slots, bindings: this.#bindings, context, site: null, depth: 0 };
  }

  #finding(frame: Frame, bound: readonly Binding[], open: OpenLine | null): Finding {
    const { rule } = this.#plan;
    const evidence: Evidence[] = [];
    for (const candidate of bound)
      for (const noticed of candidate.evidence ?? NO_EVIDENCE) evidence.push(noticed);
    for (const noticed of frame.context.trail) evidence.push(noticed);
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
    const { trail } = frame.context;
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

function earlier(one: Place | null, other: Place): Place {
  return one === null || other.sequence < one.sequence ? other : one;
}

function later(one: Place | null, other: Place): Place {
  return one === null || other.sequence > one.sequence ? other : one;
}

/** Whether two elements of what the rule names are one, seen before and after. */
function isAlike(a: Value, b: Value): boolean {
  return isUndecided(a) ? isUndecided(b) : !isUndecided(b) && equals(a, b);
}

function wholes(settled: readonly Settled[] | undefined): readonly Candidate[] {
  return (settled ?? []).flatMap(({ whole }) => whole ?? []);
}

/** An answer to any of the questions may change what is known. */
function awaitingAll(decided: Decided, awaits: readonly Question[]): Decided {
  const { open } = decided;
  if (open === null || awaits.length === 0) return decided;
  const questions = [...new Map(awaits.map((question) => [question.digest, question])).values()];
  return { ...decided, open: { why: undecided(open.why.reason, open.span, questions), span: open.span } };
}

const NO_EVIDENCE: readonly Evidence[] = [];
const NO_PLACES: readonly Located[] = [];
const NO_JOINS: readonly Join[] = [];
const NO_KEYS: readonly JoinKey[] = [];
