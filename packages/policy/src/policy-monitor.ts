/**
 * A policy watching one trace: what would these events bring about, and now they have happened. Asking leaves no
 * trace; only what is admitted or appended does.
 *
 * Ring 0.
 */
import type { JsonObject, Question } from '@cordon/core';
import { isShallow, MAX_DEPTH } from './depth.ts';
import { type Explanation, explanationOf, type Way } from './explain.ts';
import { rangesOf } from './ranges.ts';
import { eventsOf, violationOf } from './report.ts';
import { type Prepared, type RuleProgram, RuleSet } from './rule-set.ts';
import type { Finding } from './rule-state.ts';
import type { TraceEvent } from './trace-event.ts';
import { OBJECT_TYPES } from './types.ts';

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
  /** `undecided`: nobody knows whether the rule holds, and that denies. */
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

/** What the policy says of events that have not happened. */
export interface Evaluation {
  /** For each rule in order: its first violation, else its first open line. */
  readonly findings: readonly Finding[];
  /** Their places in the trace. */
  readonly prepared: Prepared;
}

/** What findings come to, each told as `R`. */
export type Verdict<R> =
  | { readonly verdict: 'allow'; readonly warnings: readonly R[] }
  | { readonly verdict: 'deny' | 'ask'; readonly reasons: readonly R[]; readonly warnings: readonly R[] };

/** `deny` outweighs `ask`, which outweighs `allow`; warnings change no verdict. */
export function verdictOf<R>(findings: readonly Finding[], told: (finding: Finding) => R): Verdict<R> {
  const reasons = (effect: 'deny' | 'ask' | 'warn'): readonly R[] =>
    findings.filter((finding) => effectOf(finding) === effect).map(told);
  const warnings = reasons('warn');
  for (const verdict of ['deny', 'ask'] as const) {
    const found = reasons(verdict);
    if (found.length > 0) return { verdict, reasons: found, warnings };
  }
  return { verdict: 'allow', warnings };
}

/**
 * One trace and what the rules remember of it. Events are taken as they are: they must be JSON that is finite and not
 * nested without end, as what `readTrace` gives is.
 */
export class PolicyMonitor {
  readonly #set: RuleSet;

  /** @param explains whether `decide` and `admit` are asked, which explain what they say; `evaluate` alone needs no evidence */
  constructor(program: RuleProgram, parameters: JsonObject = {}, explains = true) {
    this.#set = new RuleSet(program, parameters, 'one', explains);
  }

  /** What the policy says about these events happening next, all of them or none. Changes nothing. */
  decide(events: readonly TraceEvent[]): PolicyDecision {
    return events.every(isEvent) ? decisionOf(this.evaluate(events)) : NO_EVENT;
  }

  /**
   * Decides, and if the events may happen, remembers them, all or none. `given`: the user has agreed, which turns ask
   * into allow; deny stays deny. With `not-needed` a verdict of ask is refused like one of deny.
   */
  admit(events: readonly TraceEvent[], consent: 'given' | 'not-needed'): PolicyDecision {
    if (!events.every(isEvent)) return NO_EVENT;
    const evaluated = this.evaluate(events);
    const decision = decisionOf(evaluated);
    const isAdmitted = decision.verdict === 'allow' || (decision.verdict === 'ask' && consent === 'given');
    if (isAdmitted) this.#set.append(evaluated.prepared);
    return decision.verdict === 'ask' && isAdmitted ? { ...decision, verdict: 'allow' } : decision;
  }

  /**
   * What appending the events would bring about. Changes nothing.
   * @param awaited takes the questions, by digest, whose answers could change it
   */
  evaluate(events: readonly TraceEvent[], awaited?: Map<string, Question>): Evaluation {
    const prepared = this.#set.prepare(events);
    return { findings: this.#findings(prepared, awaited), prepared };
  }

  /** Whether the trace is as it was when this was evaluated, so that it would be evaluated so again. */
  isCurrent({ prepared }: Evaluation): boolean {
    return this.#set.isLatest(prepared);
  }

  /** The events have happened. Throws for an evaluation that is not current. */
  append(events: readonly TraceEvent[] | Evaluation): void {
    this.#set.append('prepared' in events ? events.prepared : this.#set.prepare(events));
  }

  /** How many events the rules remember. */
  get size(): number {
    return this.#set.size;
  }

  /** How many objects were tried for variables so far: what the decisions have cost, whatever the machine. */
  get tried(): number {
    return this.#set.tried;
  }

  #findings(prepared: Prepared, awaited?: Map<string, Question>): readonly Finding[] {
    const found: Finding[] = [];
    this.#set.examine(prepared, () => {
      let index = -1;
      return {
        add: (finding) => {
          for (const question of finding.open?.why.awaits ?? []) awaited?.set(question.digest, question);
          if (index < 0) index = found.push(finding) - 1;
          else if (finding.open === null) found[index] = finding;
          return finding.open === null;
        },
        skipsOpen: () => index >= 0,
      };
    });
    return found;
  }
}

/** Programs without types, and values that nobody has parsed, end here: what is no event cannot be judged. */
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

/** What a finding does to an action: what cannot be decided denies, unless the rule says otherwise. */
function effectOf(finding: Finding): 'deny' | 'ask' | 'warn' | 'none' {
  if (finding.open !== null) return finding.rule.whenUndecided === 'allow' ? 'none' : 'deny';
  return finding.rule.effect === 'raise' ? 'deny' : finding.rule.effect;
}

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
