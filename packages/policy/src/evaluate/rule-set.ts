/**
 * All rules of a policy on one trace: finds for each event the rules that it can concern, so that an event that
 * concerns none costs next to nothing.
 */
import type { JsonObject } from '@cordon/core';
import { isShallow, MAX_DEPTH } from '../events/depth.ts';
import type { FlowRecord, Place } from '../events/provenance.ts';
import type { TraceEvent } from '../events/trace-event.ts';
import { Origins } from '../origin/origin.ts';
import { SeenTexts } from '../origin/seen-texts.ts';
import { isSource } from '../origin/sources.ts';
import {
  type EventObject,
  type Occurrence,
  occurrencesIn,
  type VisibleEvent,
} from '../values/event-object.ts';
import type { Evidence } from '../values/evidence.ts';
import type { TextQuestions } from '../values/text-questions.ts';
import { Trace } from '../values/trace.ts';
import { OBJECT_TYPES } from '../values/types.ts';
import { Parameters, undecided, type Value } from '../values/value.ts';
import type { Binding, Candidate, Domain, EvalContext, Frame, Piece, Tally, Work } from './body.ts';
import { CandidateStore, NOTHING_KEPT } from './candidates.ts';
import type { CompiledRule } from './compiled-rule.ts';
import { type JoinKey, joinKey } from './join-key.ts';
import type { RequiredLiterals } from './required-literals.ts';
import { isExact, planRule, type RulePlan, type Wants } from './rule-plan.ts';
import { type NewCandidates, type Report, RuleState } from './rule-state.ts';
import { runSteps } from './search.ts';

/** Rules, planned, with what each type of event means to them. Made once for a policy, used for any number of traces. */
export class RuleProgram {
  readonly rules: readonly CompiledRule[];
  readonly plans: readonly RulePlan[];
  /** What predicates and quantifiers range over. */
  readonly domains: ReadonlySet<Domain>;
  /** The tools whose calls outputs are linked to; null: all. */
  readonly linkedCalls: ReadonlySet<string> | null;
  /** Whether a rule asks where values came from. */
  readonly asksOrigin: boolean;
  /** Rules, by number, that speak about every action. */
  readonly constants: readonly number[];
  /** Rules whose assignments are known only when the whole trace is. */
  readonly unjoined: readonly number[];
  /** By type of event; made when the first of it comes, because a trace has few of them. */
  readonly #uses = new Map<string, TypeUses>();
  /** Where a value is looked for in long texts; null: here and at once. */
  readonly textQuestions: TextQuestions | null;

  constructor(rules: readonly CompiledRule[], textQuestions: TextQuestions | null = null) {
    this.rules = rules;
    this.textQuestions = textQuestions;
    this.plans = rules.map(planRule);
    this.domains = new Set(rules.flatMap((rule) => rule.domains));
    this.asksOrigin = rules.some((rule) => rule.asksOrigin);
    const behind = rules.map((rule) => rule.linkedCalls);
    this.linkedCalls = behind.includes(null) ? null : new Set(behind.flatMap((tools) => [...(tools ?? [])]));
    const numbersOf = (...kinds: RulePlan['kind'][]): readonly number[] =>
      this.plans.flatMap(({ kind }, number) => (kinds.includes(kind) ? [number] : []));
    this.constants = numbersOf('constant');
    this.unjoined = numbersOf('constant', 'whole');
  }

  /** What an event can be in the rules, by rule, without what it cannot be for its texts. `tool`: see `toolName`. */
  usesOf(event: VisibleEvent, tool: string | null): readonly RuleUse[] {
    const all = this.#of(event.type).of(tool);
    let left: RuleUse[] | null = null;
    for (let index = 0; index < all.length; index++) {
      const use = all[index];
      if (use === undefined) continue;
      if (use.variable === null || !isRefuted(use.variable.required, event)) left?.push(use);
      else left ??= all.slice(0, index);
    }
    return left ?? all;
  }

  #of(type: VisibleEvent['type']): TypeUses {
    const known = this.#uses.get(type);
    if (known !== undefined) return known;
    const uses = new TypeUses(this.plans, type);
    this.#uses.set(type, uses);
    return uses;
  }
}

/** A variable that an event, or a part of it, can be bound to; null: only what ranges over the trace can change. */
interface RuleUse {
  readonly rule: number;
  readonly variable: {
    readonly index: number;
    readonly type: string;
    readonly required: readonly RequiredLiterals[];
  } | null;
}

class TypeUses {
  readonly #general: readonly RuleUse[];
  readonly #named = new Map<string, readonly RuleUse[]>();

  constructor(plans: readonly RulePlan[], type: string) {
    const all = plans.flatMap((plan, rule) => usesInRule(plan, rule, type));
    this.#general = all.filter(({ tools }) => tools === null);
    for (const tool of all.flatMap(({ tools }) => [...(tools ?? [])])) {
      if (this.#named.has(tool)) continue;
      this.#named.set(
        tool,
        all.filter(({ tools }) => tools === null || tools.has(tool)),
      );
    }
  }

  of(tool: string | null): readonly RuleUse[] {
    if (tool === null) return this.#general;
    return this.#named.get(tool.endsWith('\n') ? tool.slice(0, -1) : tool) ?? this.#general;
  }
}

function usesInRule(
  plan: RulePlan,
  rule: number,
  type: string,
): readonly (RuleUse & { readonly tools: ReadonlySet<string> | null })[] {
  const variables = plan.rule.body.variables.flatMap((variable, index) => {
    if (variable.within !== null || !canHold(type, variable.type)) return [];
    const required = plan.required[index] ?? [];
    return [{ rule, variable: { index, type: variable.type, required }, tools: plan.tools[index] ?? null }];
  });
  const ranges = [...plan.rule.rangesOver].some((ranged) => canHold(type, ranged));
  return ranges ? [{ rule, variable: null, tools: null }, ...variables] : variables;
}

/** Whether a line is false because the event lacks the texts that it asks for: then no line need be evaluated. */
function isRefuted(required: readonly RequiredLiterals[], event: VisibleEvent): boolean {
  for (const literals of required) if (literals.isRefutedBy(event)) return true;
  return false;
}

/** Whether an event of a type is, or can have in it, an object of another. */
function canHold(event: string, type: string): boolean {
  return OBJECT_TYPES.get(type)?.isEvent === true ? event === type : true;
}

/** Events that have been placed and filtered, but are not part of the trace. */
export interface PreparedEvents {
  readonly batch: Trace;
  /** The trace as it would be. */
  readonly context: EvalContext;
  readonly candidates: CandidatesByRule;
}

/** The rules that events concern, by number, with the new candidates of their variables. */
type CandidatesByRule = ReadonlyMap<number, NewCandidates>;

const NO_RULES: CandidatesByRule = new Map();

export class RuleSet {
  readonly #program: RuleProgram;
  readonly #wants: Wants;
  /** By rule; made when the first candidate comes, because most traces have none for most rules. */
  readonly #states: (RuleState | undefined)[] = [];
  readonly #trace: Trace;
  readonly #index: DomainIndex;
  /** Null: no rule asks for it. */
  readonly #seen: SeenTexts | null;
  readonly #context: EvalContext;
  readonly #work: Work = { tried: 0 };
  /** What was prepared last, unless the trace has grown since; null: nothing. */
  #latest: PreparedEvents | null = null;

  /**
   * @param wants whether new events bring anything about, or all that they do, for which more has to be kept
   * @param explains whether findings have to say why they hold
   * @param paths keeps the ways of flows; null: no explanation needs them
   */
  constructor(
    program: RuleProgram,
    parameters: JsonObject,
    wants: Wants,
    explains: boolean,
    paths: FlowRecord | null = null,
  ) {
    this.#program = program;
    this.#wants = wants;
    this.#trace = new Trace(program.linkedCalls, paths);
    this.#index = new DomainIndex(program.domains);
    this.#seen = program.asksOrigin ? new SeenTexts(null, program.textQuestions) : null;
    this.#context = contextOver(this.#index, {
      input: inputOf(parameters),
      origins: this.#seen === null ? null : new Origins(this.#seen),
      work: this.#work,
      explains,
    });
  }

  /** How many events the rules remember. */
  get size(): number {
    return this.#states.reduce((sum, state) => sum + (state?.size ?? 0), this.#index.size);
  }

  /** How many objects were tried for variables of rules, predicates and blocks since the beginning. */
  get tried(): number {
    return this.#work.tried;
  }

  /** Places the events and asks each rule's filters about them. Changes nothing. */
  prepare(events: readonly TraceEvent[]): PreparedEvents {
    const batch = this.#trace.prepare(events);
    const context = this.#contextWith(batch.entries);
    this.#latest = { batch, context, candidates: this.#candidatesOf(batch.entries, context) };
    return this.#latest;
  }

  /** For each rule that the events concern, in order, reports what they bring about. */
  examine({ batch, context, candidates }: PreparedEvents, report: ReportRule): void {
    const contexts = { before: this.#context, after: context };
    for (const number of this.#inOrder(candidates)) {
      this.#state(number).examine(candidates.get(number) ?? [], batch.entries, contexts, report(number));
    }
  }

  /** Whether nothing else was prepared, and nothing has happened, since this was. */
  isLatest(prepared: PreparedEvents): boolean {
    return prepared === this.#latest;
  }

  /** The events have happened. Throws unless they are the last that were prepared: their places would be others' by now. */
  append(prepared: PreparedEvents): void {
    if (!this.isLatest(prepared)) throw new Error('the trace has grown since this was evaluated');
    const { batch, candidates } = prepared;
    this.#latest = null;
    this.#trace.commit(batch);
    this.#see(batch.entries);
    this.#index.add(batch.entries, this.#context);
    for (const [number, added] of candidates) this.#state(number).append(added, this.#context);
  }

  /** An event has happened: reports the assignments of joined rules that it completes. */
  advance(event: TraceEvent, report: ReportRule): void {
    this.#latest = null;
    const entries = this.#trace.append(event);
    this.#see(entries);
    this.#index.add(entries, this.#context);
    const candidates = this.#candidatesOf(entries, this.#context);
    if (candidates.size === 0) return;
    const contexts = { before: this.#context, after: this.#context };
    for (const number of this.#inOrder(candidates)) {
      const state = this.#state(number);
      const added = candidates.get(number) ?? [];
      if (this.#program.plans[number]?.kind === 'joined')
        state.examine(added, entries, contexts, report(number));
      state.append(added, this.#context);
    }
  }

  /** Reports every assignment of the rules that are not joined, over all that is remembered. */
  all(report: ReportRule): void {
    for (const number of this.#program.unjoined) this.#state(number).all(this.#context, report(number));
  }

  #inOrder(candidates: CandidatesByRule): readonly number[] {
    const { constants } = this.#program;
    if (constants.length === 0 && candidates.size <= 1) return [...candidates.keys()];
    return [...candidates.keys(), ...constants].sort((a, b) => a - b);
  }

  #state(number: number): RuleState {
    const known = this.#states[number];
    if (known !== undefined) return known;
    const plan = this.#program.plans[number];
    if (plan === undefined) throw new Error(`there is no rule ${number}`);
    const state = new RuleState(plan, this.#wants);
    this.#states[number] = state;
    return state;
  }

  #see(entries: readonly EventObject[]): void {
    if (this.#seen !== null) for (const entry of entries) this.#seen.add(entry);
  }

  #contextWith(entries: readonly EventObject[]): EvalContext {
    const origins = this.#originsWith(entries);
    if (this.#program.domains.size === 0)
      return origins === this.#context.origins
        ? this.#context
        : contextOver(this.#index, { ...this.#context, origins });
    const index = this.#index.fork();
    const context = contextOver(index, { ...this.#context, origins });
    index.add(entries, context);
    return context;
  }

  #originsWith(entries: readonly EventObject[]): Origins | null {
    if (this.#seen === null || !entries.some(isSource)) return this.#context.origins;
    const seen = this.#seen.fork();
    for (const entry of entries) seen.add(entry);
    return new Origins(seen);
  }

  #candidatesOf(entries: readonly EventObject[], context: EvalContext): CandidatesByRule {
    let candidates: Map<number, Candidate[][]> | null = null;
    for (const entry of entries) {
      for (const { rule, variable } of this.#program.usesOf(entry.event, entry.toolName)) {
        if (variable === null) {
          candidates ??= new Map();
          if (!candidates.has(rule)) candidates.set(rule, this.#none(rule));
          continue;
        }
        for (const occurrence of occurrencesIn(entry, variable.type)) {
          const candidate = this.#state(rule).candidate(variable.index, occurrence, context);
          if (candidate === null) continue;
          candidates ??= new Map();
          let added = candidates.get(rule);
          if (added === undefined) {
            added = this.#none(rule);
            candidates.set(rule, added);
          }
          added[variable.index]?.push(candidate);
        }
      }
    }
    return candidates ?? NO_RULES;
  }

  #none(rule: number): Candidate[][] {
    return (this.#program.plans[rule]?.rule.body.variables ?? []).map(() => []);
  }
}

function inputOf(parameters: JsonObject): Value {
  return isShallow(parameters)
    ? new Parameters(parameters)
    : undecided(`the policy parameters are nested more than ${MAX_DEPTH} deep`);
}

function contextOver(
  index: DomainIndex,
  { input, origins, work, explains }: Pick<EvalContext, 'input' | 'origins' | 'work' | 'explains'>,
): EvalContext {
  return {
    origins,
    domain: (domain) => index.of(domain),
    matching: (domain, key, value) => index.matching(domain, key, value),
    visibleAt: (domain, place) => index.visibleAt(domain, place),
    tally: (domain) => index.tally(domain),
    input,
    counted: 0,
    trail: [],
    explains,
    work,
  };
}

/** What to do with the findings of a rule, by its number. */
export type ReportRule = (rule: number) => Report;

interface Members {
  readonly found: CandidateStore;
  certain: number;
}

/** What predicates and quantifiers range over, filtered as it comes. */
class DomainIndex {
  readonly #domains: ReadonlySet<Domain>;
  readonly #base: DomainIndex | null;
  readonly #members = new Map<Domain, Members>();

  constructor(domains: ReadonlySet<Domain>, base: DomainIndex | null = null) {
    this.#domains = domains;
    this.#base = base;
  }

  fork(): DomainIndex {
    return new DomainIndex(this.#domains, this);
  }

  add(entries: readonly EventObject[], context: EvalContext): void {
    for (const domain of this.#domains) {
      for (const entry of entries) {
        if (!canHold(entry.type, domain.type) || isOfOtherTool(entry.toolName, domain)) continue;
        for (const occurrence of occurrencesIn(entry, domain.type))
          this.#consider(domain, occurrence, context);
      }
    }
  }

  of(domain: Domain): readonly (readonly Binding[])[] {
    const own = this.#found(domain).all();
    return this.#base === null ? [own] : [...this.#base.of(domain), own];
  }

  matching(domain: Domain, key: number, value: JoinKey): readonly Piece<Binding>[] {
    const own = this.#found(domain).matching(key, value);
    return this.#base === null ? own : [...this.#base.matching(domain, key, value), ...own];
  }

  visibleAt(domain: Domain, place: Place): readonly Piece<Binding>[] {
    const own = this.#found(domain).flowingTo(place);
    return this.#base === null ? own : [...this.#base.visibleAt(domain, place), ...own];
  }

  tally(domain: Domain): Tally {
    const own = this.#members.get(domain);
    const base = this.#base?.tally(domain) ?? NOTHING_COUNTED;
    if (own === undefined) return base;
    return { certain: base.certain + own.certain, possible: base.possible + own.found.size };
  }

  get size(): number {
    return [...this.#members.values()].reduce((sum, { found }) => sum + found.size, 0);
  }

  #found(domain: Domain): CandidateStore {
    return this.#members.get(domain)?.found ?? NOTHING_KEPT;
  }

  #consider(domain: Domain, occurrence: Occurrence, context: EvalContext): void {
    const frame: Frame = { slots: [], bindings: [], context, site: null, depth: 0 };
    frame.slots[domain.slot] = occurrence.value;
    frame.bindings[domain.slot] = occurrence;
    const noticed = context.trail.length;
    const open = runSteps(domain.filter, frame, null);
    const keys = open === 'refuted' ? [] : domain.keys.map(({ own }) => joinKey(own(frame)));
    // Who asks later evaluates these lines again, and notes what they notice then.
    context.trail.length = noticed;
    if (open === 'refuted') return;
    let members = this.#members.get(domain);
    if (members === undefined) {
      members = { found: new CandidateStore('all', domain.keys.length), certain: 0 };
      this.#members.set(domain, members);
    }
    members.found.add({ ...occurrence, order: members.found.size, evidence: NO_EVIDENCE, keys });
    if (open === null) members.certain++;
  }
}

/** Whether a filter of the domain names tools, and the event is of none of them: then it refutes. */
function isOfOtherTool(toolName: string | null, { filter }: Domain): boolean {
  if (toolName === null) return false;
  const name = toolName.endsWith('\n') ? toolName.slice(0, -1) : toolName;
  for (const { tools } of filter) if (tools !== null && !tools.has(name) && isExact(tools)) return true;
  return false;
}

const NO_EVIDENCE: readonly Evidence[] = [];
const NOTHING_COUNTED: Tally = { certain: 0, possible: 0 };
