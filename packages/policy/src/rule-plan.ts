/**
 * How a rule is evaluated as a trace grows, worked out once from its body: which lines filter a variable alone,
 * in which order the others are joined with a new event, and what has to be remembered for that.
 *
 * Ring 0.
 */
import { type Body, type JoinSide, planSearch, type SearchPlan, type Step } from './body.ts';
import type { Retention } from './candidates.ts';
import type { CompiledRule } from './compiler.ts';
import type { WantedTexts } from './wanted-texts.ts';

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
  readonly wanted: readonly (readonly WantedTexts[])[];
  /** Worked out when a first event concerns the rule, because most traces concern few of the rules. */
  readonly search: RuleSearch;
}

/** How assignments are looked for. */
export interface RuleSearch {
  /** By variable that is new: the rest of the body, with that variable bound first. */
  readonly pivots: readonly SearchPlan[];
  readonly full: SearchPlan;
  /** For one assignment, with all lines. */
  readonly assignment: SearchPlan;
  /** By variable: what it is compared with by `==`. */
  readonly joins: readonly (readonly Join[])[];
  /** By variable: what deciding about new events needs of old ones. */
  readonly retention: readonly Retention[];
  /** The same, where all that passes the conditions on one variable is kept. */
  readonly fullRetention: readonly Retention[];
}

export interface Join {
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
  let search: RuleSearch | null = null;
  return {
    rule,
    ownSteps,
    kind,
    tools: ownSteps.map((steps) => steps.find(({ tools }) => isExact(tools))?.tools ?? null),
    named: ownSteps.map((steps) => steps.find(({ tools }) => tools !== null)?.tools ?? null),
    wanted: body.variables.map((_, index) => wantedBy(body, index)),
    get search() {
      search ??= searchOf(rule, kind, ownSteps);
      return search;
    },
  };
}

function searchOf(
  rule: CompiledRule,
  kind: RulePlan['kind'],
  ownSteps: readonly (readonly Step[])[],
): RuleSearch {
  const { body } = rule;
  const done = new Set(ownSteps.flat());
  const isDone = (step: Step): boolean => done.has(step);
  const retention = body.variables.map((_, index) =>
    kind === 'joined' ? retentionOf(rule, index, isDone) : 'all',
  );
  return {
    pivots: body.variables.map((_, index) => planSearch(body, index, isDone)),
    full: planSearch(body, null, isDone),
    assignment: planSearch(body),
    joins: body.variables.map((_, index) => joinsOf(body, index)),
    retention,
    fullRetention: retention.map((kept) => (kept === 'none' ? 'none' : 'all')),
  };
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
function wantedBy(body: Body, index: number): readonly WantedTexts[] {
  return body.steps.flatMap((step) => (step.slot === null && isOwn(step, index) ? step.wanted : []));
}

function joinsOf(body: Body, index: number): readonly Join[] {
  return body.steps.flatMap(({ join }): Join[] => {
    const [left, right] = join?.sides ?? [];
    if (left === undefined || right === undefined) return [];
    if (left.variable === index) return [{ own: left, other: right }];
    return right.variable === index ? [{ own: right, other: left }] : [];
  });
}

/** See `Retention`. An event that must come after all others of an assignment is never old when that one is new. */
function retentionOf(rule: CompiledRule, index: number, isDone: (step: Step) => boolean): Retention {
  const { body } = rule;
  const isTraceVariable = (other: number): boolean => body.variables[other]?.within === null;
  if (!isTraceVariable(index)) return 'none';
  const earlier = before(body, index);
  const others = [...body.variables.keys()].filter((other) => other !== index && isTraceVariable(other));
  if (others.every((other) => earlier.has(other))) return 'none';
  const isUsed = rule.messageNeeds.has(index) || body.variables.some((variable) => variable.needs.has(index));
  const joint = body.steps.filter((step) => step.needs.has(index) && !isDone(step));
  const isSourceOnly = joint.every((step) => step.flow?.from === index && step.flow.to !== index);
  return isSourceOnly && !isUsed ? 'first-of-context' : 'all';
}

/** The variables whose events must come before that of `index`, by the flow lines of the body. */
function before(body: Body, index: number): ReadonlySet<number> {
  const found = new Set<number>();
  const open = [index];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const { flow } of body.steps) {
      if (flow === null || flow.to !== next || found.has(flow.from)) continue;
      found.add(flow.from);
      open.push(flow.from);
    }
  }
  return found;
}
