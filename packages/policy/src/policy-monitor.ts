/**
 * A policy watching one trace: what would these events bring about, and now they have happened. Only what is appended
 * is remembered.
 */
import type { JsonObject, Question } from '@cordon/core';
import { type PreparedEvents, type RuleProgram, RuleSet } from './evaluate/rule-set.ts';
import type { Finding } from './evaluate/rule-state.ts';
import type { FlowRecord } from './events/provenance.ts';
import type { TraceEvent } from './events/trace-event.ts';

/** What the rules find about events that have not happened. */
export interface Evaluation {
  /** For each rule in order: its first violation, else its first open line. */
  readonly findings: readonly Finding[];
  /** Their places in the trace. */
  readonly prepared: PreparedEvents;
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

  /** @param paths keeps the ways of flows for explanations, and then findings hold evidence; null: who only decides does without */
  constructor(program: RuleProgram, parameters: JsonObject, paths: FlowRecord | null) {
    this.#set = new RuleSet(program, parameters, 'one', paths !== null, paths);
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

  #findings(prepared: PreparedEvents, awaited?: Map<string, Question>): readonly Finding[] {
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

/** What a finding does to an action: what cannot be decided denies, unless the rule says otherwise. */
function effectOf(finding: Finding): 'deny' | 'ask' | 'warn' | 'none' {
  if (finding.open !== null) return finding.rule.whenUndecided === 'allow' ? 'none' : 'deny';
  return finding.rule.effect === 'raise' ? 'deny' : finding.rule.effect;
}
