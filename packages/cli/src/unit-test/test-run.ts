/**
 * Runs the unit tests of policies, and keeps which rules they hit: a rule that no test hits may never fire.
 */

import { type Diagnostic, failed, ok, type Result } from '@cordon/core';
import type { Awaited } from '@cordon/detectors';
import type { Policy, TraceEvent } from '@cordon/policy';
import { type Analysis, analyzeEvents, ExplainingMonitor, type PolicyDecision } from '@cordon/policy-tools';
import type { Answerers } from '@cordon/scan/answerers';
import { type Dialect, readTraces } from '@cordon/scan/traces';
import { type Difference, differences } from './expectation.ts';
import type { TestCase, TestFile } from './test-file.ts';
export interface CaseResult {
  readonly name: string;
  readonly line: number;
  /** None: it passed. */
  readonly differences: readonly Difference[];
}

/** Replaces standard input, which no test reads. */
async function* nothing(): AsyncGenerator<Uint8Array> {}

/** One case. Fails if its trace cannot be read. */
export async function runCase(
  { policies, labels, dialect }: TestFile,
  test: TestCase,
  hits: RuleHits,
  asked?: Answerers,
): Promise<Result<CaseResult, Diagnostic>> {
  const read = typeof test.trace === 'string' ? await onlyTrace(test.trace, dialect) : ok(test.trace);
  if (!read.ok) return read;
  const events = labels?.label(read.value) ?? read.value;
  const { policy } = policies;
  const judged: Answerers['judged'] = asked?.judged ?? (async (judge) => judge(new Map()));
  const analysis = await judged((awaited) => analyzeEvents(policy, events, test.parameters, awaited));
  const isDecided = test.expectation.decision !== null;
  const decision = isDecided ? await judged((awaited) => lastDecision(policy, test, events, awaited)) : null;
  hits.add(policy, analysis, decision);
  const { name, line } = test;
  return ok({ name, line, differences: differences(test.expectation, analysis, decision) });
}

async function onlyTrace(file: string, dialect: Dialect): Promise<Result<readonly TraceEvent[], Diagnostic>> {
  let found: readonly TraceEvent[] | null = null;
  for await (const trace of readTraces(file, { standardInput: nothing(), dialect })) {
    if (!trace.ok) return trace;
    if (found !== null) {
      const message = 'it holds several traces';
      return failed({ code: 'TST003', severity: 'error', file, message, help: 'make it one trace' });
    }
    found = trace.value.events;
  }
  return ok(found ?? []);
}

/** What came before has happened, whatever the policy says of it. */
function lastDecision(
  policy: Policy,
  test: TestCase,
  events: readonly TraceEvent[],
  awaited: Awaited,
): PolicyDecision {
  const monitor = new ExplainingMonitor(policy, test.parameters);
  monitor.append(events.slice(0, -1));
  const last = events.slice(-1);
  return monitor.decide(last, awaited);
}

/** Which rules of which policy files were violated or decided something. */
export class RuleHits {
  readonly #rules = new Map<
    string,
    Map<number, { readonly id: string; readonly line: number; hits: number }>
  >();

  add(policy: Policy, analysis: Analysis, decision: PolicyDecision | null): void {
    const reasons = decision === null ? [] : [...decision.reasons, ...decision.warnings];
    const hit = new Set([
      ...analysis.errors.map(({ rule }) => rule),
      ...reasons.filter(({ because }) => because === 'rule').map(({ rule }) => rule),
    ]);
    for (const rule of policy.rules) {
      const { source, number, id, span } = rule;
      const ofFile = this.#rules.get(source.file) ?? new Map();
      this.#rules.set(source.file, ofFile);
      const known = ofFile.get(number) ?? { id, line: source.range(span).line, hits: 0 };
      if (hit.has(id)) known.hits++;
      ofFile.set(number, known);
    }
  }

  /** By policy file, in the order in which they were used. */
  *files(): Generator<{
    readonly file: string;
    readonly rules: number;
    readonly never: readonly NeverHit[];
  }> {
    for (const [file, rules] of this.#rules) {
      const never = [...rules.values()]
        .filter(({ hits }) => hits === 0)
        .map(({ id, line }) => ({ id, line }));
      yield { file, rules: rules.size, never };
    }
  }
}

export interface NeverHit {
  readonly id: string;
  readonly line: number;
}
