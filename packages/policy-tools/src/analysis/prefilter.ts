/**
 * What a trace must have for a rule to say anything about it, as its plan knows it: a scan of many traces leaves
 * out the rules that need something else. Sound: where a need is not met, a variable has nothing that it
 * could be bound to, or a line of the rule refutes every assignment.
 *
 * It saves work of who looks at many traces, and decides nothing.
 */
import { type Body, OBJECT_TYPES, type Policy, type RequiredLiterals, type RulePlan } from '@cordon/policy';

export interface RuleNeeds {
  /** At least one each. */
  readonly events: readonly EventNeed[];
  /** Of `events`, by index: something of the one comes before something of the other. */
  readonly flows: readonly { readonly from: number; readonly to: number }[];
  readonly texts: readonly TextNeed[];
}

/** Met by a text of the trace, or by an event whose content is no text where that leaves a line undecided. */
export interface TextNeed {
  /** Of each, one text occurs in one text of the trace. */
  readonly alternatives: readonly (readonly string[])[];
  /** The type of these events, or null. */
  readonly undecidedWithout: string | null;
  /** Whether they are those with a content of another kind only, not those without one. */
  readonly needsContent: boolean;
}

export interface EventNeed {
  /** Of the event, e.g. `ToolCall`. */
  readonly type: string;
  /** The event is a call, or an output of a call, of one of them; `*` stands for any characters. Null: of any. */
  readonly tools: ReadonlySet<string> | null;
}

/** What a trace must have for each rule of a policy to say anything about it, in the order of the rules. */
export function prefilterOf(policy: Policy): readonly RuleNeeds[] {
  return policy.program.plans.map(needsOf);
}

/** As far as its variables, the lines about one of them, and what it counts tell. */
function needsOf(plan: RulePlan): RuleNeeds {
  const { body } = plan.rule;
  const own = needsOfBody(body, (index) => plan.named[index] ?? null);
  const texts = plan.required.flatMap(textNeeds);
  const counted = body.steps.flatMap(({ some }) => (some === null ? [] : eventsCounted(some)));
  return { events: [...own.events, ...counted], flows: own.flows, texts };
}

/** Of one variable. What holds without a content nowhere needs one, whatever else is asked. */
function textNeeds(required: readonly RequiredLiterals[]): readonly TextNeed[] {
  const needsContent = required.some(
    (texts) => texts.undecidedWithout === null && texts.alternatives.length > 0,
  );
  return required
    .filter(({ alternatives }) => alternatives.length > 0)
    .map(({ alternatives, undecidedWithout }) => ({ alternatives, undecidedWithout, needsContent }));
}

function needsOfBody(
  body: Body,
  toolsOf: (variable: number) => EventNeed['tools'],
): Pick<RuleNeeds, 'events' | 'flows'> {
  const events: EventNeed[] = [];
  const places = body.variables.map(({ type, within }, index) => {
    if (within !== null || OBJECT_TYPES.get(type)?.isEvent !== true) return -1;
    return events.push({ type, tools: toolsOf(index) }) - 1;
  });
  const flows = body.steps.flatMap(({ flow, earlier }) => {
    const order = flow ?? earlier;
    const [from = -1, to = -1] = order === null ? [] : [places[order.from], places[order.to]];
    return from < 0 || to < 0 ? [] : [{ from, to }];
  });
  return { events, flows };
}

/** What its block needs; the lines that filter its variables are those of their domains. */
function eventsCounted(body: Body): readonly EventNeed[] {
  const toolsOf = (variable: number): EventNeed['tools'] =>
    body.variables[variable]?.domain?.filter.find(({ tools }) => tools !== null)?.tools ?? null;
  const inner = body.steps.flatMap(({ some }) => (some === null ? [] : eventsCounted(some)));
  return [...needsOfBody(body, toolsOf).events, ...inner];
}
