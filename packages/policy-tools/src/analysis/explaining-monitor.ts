/**
 * A policy watching one trace, which explains what it decides: for programs that guard an agent without the hub, and for
 * recorded traces.
 *
 * The hub decides by `PolicyMonitor`, of whose findings this makes texts.
 */
import type { JsonObject, Question } from '@cordon/core';
import {
  type Evaluation,
  type Finding,
  isShallow,
  MAX_DEPTH,
  OBJECT_TYPES,
  type Policy,
  type PolicyMonitor,
  type TraceEvent,
  verdictOf,
} from '@cordon/policy';
import { type Explanation, explanationOf, type Way } from './explain.ts';
import { FlowPaths } from './flow-path.ts';
import { rangesOf } from './ranges.ts';
import { eventsOf, violationOf } from './report.ts';

/** What the policy says about events that have not happened. */
export interface PolicyDecision {
  /** `deny` outweighs `ask`, which outweighs `allow`. */
  readonly verdict: 'allow' | 'deny' | 'ask';
  /** Why it is denied, or what has to be asked; empty if it is allowed. */
  readonly reasons: readonly PolicyReason[];
  /** Of `warn` rules; they change no verdict. */
  readonly warnings: readonly PolicyReason[];
}

/** One rule that has something to say, by the first assignment for which it has; the violation, if there is one. */
export interface PolicyReason {
  /** Its id: its name, else `rule-<number>`. */
  readonly rule: string;
  readonly effect: 'raise' | 'ask' | 'warn';
  /** `undecided`: it is unknown whether the rule holds, and that denies. */
  readonly because: 'rule' | 'undecided';
  /** May quote the trace. */
  readonly message: string;
  /** In the policy's text, from 1: of the rule, or of the line that cannot be evaluated. */
  readonly line: number;
  /** Variable to the path (or id) of the event that it is bound to. */
  readonly events: Readonly<Record<string, string>>;
  /** As in `Violation`. */
  readonly ranges: readonly string[];
  readonly explanation: Explanation;
}

/**
 * One trace and what the rules remember of it. Events are taken as they are: they must be JSON that is finite and not
 * nested without end, as what `readTrace` gives is.
 */
export class ExplainingMonitor {
  readonly #monitor: PolicyMonitor;

  /** @param parameters `input` in rules */
  constructor(policy: Policy, parameters: JsonObject = {}) {
    this.#monitor = policy.monitor(parameters, new FlowPaths());
  }

  /**
   * What the policy says about these events happening next, all of them or none. Changes nothing.
   * @param awaited takes the questions, by digest, whose answers could change it
   */
  decide(events: readonly TraceEvent[], awaited?: Map<string, Question>): PolicyDecision {
    return events.every(isEvent) ? decisionOf(this.#monitor.evaluate(events, awaited)) : NO_EVENT;
  }

  /**
   * Decides, and if the events may happen, remembers them, all or none. `given`: the user has agreed, which turns ask
   * into allow; deny stays deny. With `not-needed` a verdict of ask is refused like one of deny.
   */
  admit(events: readonly TraceEvent[], consent: 'given' | 'not-needed'): PolicyDecision {
    if (!events.every(isEvent)) return NO_EVENT;
    const evaluated = this.#monitor.evaluate(events);
    const decision = decisionOf(evaluated);
    const isAdmitted = decision.verdict === 'allow' || (decision.verdict === 'ask' && consent === 'given');
    if (isAdmitted) this.#monitor.append(evaluated);
    return decision.verdict === 'ask' && isAdmitted ? { ...decision, verdict: 'allow' } : decision;
  }

  /** The events have happened. */
  append(events: readonly TraceEvent[]): void {
    this.#monitor.append(events);
  }

  /** How many events the rules remember. */
  get size(): number {
    return this.#monitor.size;
  }

  /** How many objects were tried for variables so far: what the decisions have cost, whatever the machine. */
  get tried(): number {
    return this.#monitor.tried;
  }
}

/** For programs without types and values that were not parsed: what is no event cannot be judged. */
function isEvent(event: TraceEvent): boolean {
  const isKnown = OBJECT_TYPES.get(event.type)?.isEvent === true || event.type === 'Carrier';
  const hasParts = event.type !== 'Message' || Array.isArray(event.toolCalls);
  return isKnown && hasParts && isShallow(event);
}

const NO_EVENT: PolicyDecision = {
  verdict: 'deny',
  reasons: [
    {
      rule: 'monitor/event',
      effect: 'raise',
      because: 'undecided',
      message: `this is no event, or its values are nested more than ${MAX_DEPTH} deep`,
      line: 0,
      events: {},
      ranges: [],
      explanation: { lines: [], steps: [], change: { kind: 'other', text: 'it was an event' } },
    },
  ],
  warnings: [],
};

function decisionOf({ findings, prepared: { batch } }: Evaluation): PolicyDecision {
  const way: Way = (from, to) => batch.provenance.way(from, to);
  return { reasons: [], ...verdictOf(findings, (finding) => reasonOf(finding, way)) };
}

function reasonOf(finding: Finding, way: Way): PolicyReason {
  const { rule, open } = finding;
  return {
    rule: rule.id,
    effect: rule.effect,
    because: open === null ? 'rule' : 'undecided',
    message: open === null ? violationOf(finding).message : `${rule.staticMessage} (${open.why.reason})`,
    line: rule.source.range(open === null ? rule.span : open.span).line,
    events: eventsOf(finding),
    ranges: rangesOf(finding),
    explanation: explanationOf(finding, way),
  };
}
