/**
 * How a rule is evaluated as a trace grows, worked out once from its body: which lines filter a variable alone,
 * in which order the others are joined with a new event, and what has to be remembered for that.
 */
import type { Body, JoinSide, Step } from './body.ts';
import type { Retention } from './candidates.ts';
import type { CompiledRule } from './compiled-rule.ts';
import { neededBy, type Prefixes, prefixesOf } from './prefix.ts';
import type { RequiredLiterals } from './required-literals.ts';
import { declaredOrder, planSearch, type SearchPlan } from './search.ts';

export interface RulePlan {
  readonly rule: CompiledRule;
  /** By variable: the lines about it alone, and the assignments that they use. */
  readonly ownSteps: readonly (readonly Step[])[];
  /**
   * `joined`: new assignments hold a new event. `whole`: a predicate or quantifier ranges over the trace, so old
   * assignments can change. `constant`: the rule has no event, and speaks about every action.
   */
  readonly kind: 'joined' | 'whole' | 'constant';
  /** The tools of which an event must name one to be a candidate, by variable; null: any event. */
  readonly tools: readonly (ReadonlySet<string> | null)[];
  /** The same for names that may hold `*`, which stands for any characters. */
  readonly named: readonly (ReadonlySet<string> | null)[];
  /** What the lines about a variable alone ask of its texts, by variable. */
  readonly required: readonly (readonly RequiredLiterals[])[];
  /** Worked out when a first event concerns the rule, because most traces concern few of the rules. */
  readonly search: (wants: Wants) => RuleSearch;
}

/** `one`: whether a new event brings about an assignment. `all`: each that it does. */
export type Wants = 'one' | 'all';

/** How assignments are looked for, and what has to be remembered for that. */
export interface RuleSearch {
  /**
   * By variable that is new: the rest of the body, with that variable bound first. Null where assignments with a new
   * event for it hold another new one, by which they are found.
   */
  readonly pivots: readonly (SearchPlan | null)[];
  readonly full: SearchPlan;
  /** For one assignment, with all lines. */
  readonly assignment: SearchPlan;
  readonly prefixes: Prefixes;
  /** By variable: how those that are decided with it are looked for; null: there are none. */
  readonly prefixPlans: readonly (SearchPlan | null)[];
  /** Variables over the trace, those that come before others first. */
  readonly past: readonly number[];
  /** By variable: what it is compared with by `==` or `~>`. */
  readonly joins: readonly (readonly Join[])[];
  /** By variable: what is kept of its events to list assignments, or to decide about new events. */
  readonly retention: readonly Retention[];
  /** The same of those that are decided with others, to decide them. */
  readonly prefixRetention: readonly Retention[];
  /** By variable: the joins, by index, of which one event for each value is enough. */
  readonly told: readonly (readonly number[])[];
}

export interface Join {
  readonly step: Step;
  readonly own: JoinSide;
  readonly other: JoinSide;
}

export function planRule(rule: CompiledRule): RulePlan {
  const { body } = rule;
  const ownSteps = body.variables.map((variable, index) =>
    variable.within !== null ? [] : body.steps.filter((step) => step.isStable && isOwn(step, index)),
  );
  const hasEvents = body.variables.some((variable) => variable.within === null);
  const kind = rule.rangesOver.size > 0 ? 'whole' : hasEvents ? 'joined' : 'constant';
  const made = new Map<Wants, RuleSearch>();
  return {
    rule,
    ownSteps,
    kind,
    tools: ownSteps.map((steps) => steps.find(({ tools }) => isExact(tools))?.tools ?? null),
    named: ownSteps.map((steps) => steps.find(({ tools }) => tools !== null)?.tools ?? null),
    required: body.variables.map((_, index) => requiredBy(body, index)),
    search: (wants) => {
      const search = made.get(wants) ?? searchOf(rule, kind, ownSteps, wants);
      made.set(wants, search);
      return search;
    },
  };
}

function searchOf(
  rule: CompiledRule,
  kind: RulePlan['kind'],
  ownSteps: readonly (readonly Step[])[],
  wants: Wants,
): RuleSearch {
  const { body } = rule;
  const variables = [...body.variables.keys()];
  const filters = new Set(ownSteps.flat().filter(({ slot }) => slot === null));
  const isOwn = (step: Step): boolean => filters.has(step);
  const prefixes = prefixesOf(body, kind === 'joined', isOwn);
  const { behind, decided, before } = prefixes;
  const told = variables.map((index) => toldApart(body, index, prefixes, isOwn));
  const lasting = variables.map((index): Retention => {
    if (kind !== 'joined') return 'all';
    if (isLast(body, index, prefixes)) return 'none';
    if (told[index] === null) return 'all';
    return isSeenLater(body, index) ? 'first-of-context' : 'first-of-trace';
  });
  const ordered = (first: number, among: readonly number[], wanted: Wants): readonly number[] =>
    orderFrom(body, first, among, {
      before,
      wanted,
      isFirst: (index) => isFirstKept(lasting[index]),
    });
  const searched = variables.filter((index) => wants === 'all' || !decided.has(index));
  const isLeftOut = (step: Step): boolean =>
    isOwn(step) || (wants === 'one' && [...neededBy(body, step)].some((need) => decided.has(need)));
  const prefixPlan = (index: number): SearchPlan | null => {
    const own = [...(behind[index] ?? [])];
    if (own.length === 0) return null;
    const inner = new Set(own.flatMap((other) => [...(behind[other] ?? [])]));
    const left = new Set([index, ...own.filter((other) => !inner.has(other))]);
    const isElsewhere = (step: Step): boolean => {
      const needs = [...neededBy(body, step)];
      return (
        isOwn(step) || !needs.every((need) => left.has(need)) || (step.slot === null && needs.length === 0)
      );
    };
    return planSearch(body, ordered(index, [...left], 'one'), isElsewhere, 'one');
  };
  return {
    pivots: variables.map((index) => {
      if (body.variables[index]?.within !== null || !searched.includes(index)) return null;
      return planSearch(body, ordered(index, searched, wants), isLeftOut, kind === 'joined' ? wants : 'all');
    }),
    full: planSearch(body, declaredOrder(body), isOwn),
    assignment: planSearch(body),
    prefixes,
    prefixPlans: variables.map(prefixPlan),
    past: variables
      .filter((index) => body.variables[index]?.within === null)
      .sort((a, b) => (before[a]?.size ?? 0) - (before[b]?.size ?? 0)),
    joins: variables.map((index) => joinsOf(body, index)),
    retention: lasting.map((kept) => (wants === 'one' || kept === 'none' ? kept : 'all')),
    prefixRetention: lasting.map((kept, index) => (decided.has(index) ? kept : 'none')),
    told: told.map((joins) => joins ?? []),
  };
}

/**
 * An order in which each variable is found by what is bound before it. Values within events are few, and lines about
 * them refute without a look at the trace; where one assignment is enough, what is looked up comes first.
 */
function orderFrom(
  body: Body,
  first: number,
  among: readonly number[],
  look: {
    readonly before: Prefixes['before'];
    readonly wanted: Wants;
    readonly isFirst: (index: number) => boolean;
  },
): readonly number[] {
  const order = [first];
  const rank = (index: number): number => {
    const variable = body.variables[index];
    if (variable === undefined || ![...variable.needs].every((need) => order.includes(need))) return 9;
    if (variable.within !== null) return look.wanted === 'all' ? 0 : 4;
    const isEarlier = order.some((bound) => look.before[bound]?.has(index) === true);
    const isLater = order.some((bound) => look.before[index]?.has(bound) === true);
    if (isEarlier && look.isFirst(index)) return 1;
    if (joinsOf(body, index).some(({ other }) => order.includes(other.variable))) return 2;
    if (isEarlier && isLater) return 3;
    return isEarlier ? 5 : isLater ? 6 : 7;
  };
  const left = new Set(among.filter((index) => index !== first));
  while (left.size > 0) {
    let best: number | null = null;
    for (const index of left) if (best === null || rank(index) < rank(best)) best = index;
    if (best === null) break;
    order.push(best);
    left.delete(best);
  }
  return order;
}

/** Whether a line says that later events have seen it, and not only that they come later. */
function isSeenLater({ steps }: Body, index: number): boolean {
  return steps.some(({ flow }) => flow?.from === index);
}

/** Whether one of a context, or of the trace, stands for all that are alike. */
export function isFirstKept(kept: Retention | undefined): boolean {
  return kept === 'first-of-context' || kept === 'first-of-trace';
}

/** Whether the tools are whole names, which can be looked up. */
export function isExact(tools: ReadonlySet<string> | null): boolean {
  if (tools === null) return false;
  for (const name of tools) if (name.includes('*')) return false;
  return true;
}

/** A line about this variable alone, or an assignment that such lines may use. */
function isOwn(step: Step, index: number): boolean {
  if (step.slot !== null) return [...step.needs].every((need) => need === index);
  return step.needs.size === 1 && step.needs.has(index);
}

/** Texts do not change while the trace grows, so neither does what such a line says. */
function requiredBy(body: Body, index: number): readonly RequiredLiterals[] {
  return body.steps.flatMap((step) => (step.slot === null && isOwn(step, index) ? step.required : []));
}

function joinsOf(body: Body, index: number): readonly Join[] {
  return body.steps.flatMap((step): Join[] => {
    const [left, right] = step.join?.sides ?? [];
    if (left === undefined || right === undefined) return [];
    if (left.variable === index) return [{ step, own: left, other: right }];
    return right.variable === index ? [{ step, own: right, other: left }] : [];
  });
}

/** Whether an event for the variable must come after those of all others: it is never old when one of them is new. */
function isLast(body: Body, index: number, { before }: Prefixes): boolean {
  const isOverTrace = (other: number): boolean => body.variables[other]?.within === null;
  return (
    !isOverTrace(index) ||
    [...body.variables.keys()].every(
      (other) => other === index || !isOverTrace(other) || before[index]?.has(other) === true,
    )
  );
}

/**
 * Where all that later events look at is that an event came before them, and what it has on its side of `==`: the
 * joins, by index, that compare it. Of those that are alike the first stands for all, of its context or of the trace. Null: lines look
 * at something else.
 */
function toldApart(
  body: Body,
  index: number,
  { behind }: Prefixes,
  isOwn: (step: Step) => boolean,
): readonly number[] | null {
  const joins = joinsOf(body, index);
  const told: number[] = [];
  for (const step of body.steps) {
    const needs = neededBy(body, step);
    if (isOwn(step) || !needs.has(index)) continue;
    if ([...needs].every((need) => need === index || behind[index]?.has(need) === true)) continue;
    const order = step.flow ?? step.earlier;
    if (order?.from === index && order.to !== index) continue;
    const join = joins.findIndex((one) => one.step === step);
    if (join < 0) return null;
    told.push(join);
  }
  return told;
}
