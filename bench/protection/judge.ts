/**
 * What rules say about a recorded trace, as `cordon scan --labels` would judge it, and whether they say it in time. All
 * rules are asked at once, and each answer names its pack: how any set of packs does is counted afterwards.
 */

import { basename } from 'node:path';
import { type Fault, failed, fault, ok, type Result } from '@cordon/core';
import type { Policy, ToolCallEvent, TraceEvent } from '@cordon/policy';
import { analyzeEvents, readTrace, type TraceLabels } from '@cordon/policy-tools';
import { readPolicyFiles } from '@cordon/scan/traces';
import type { ScriptedPlan } from './plans/scripted-plans.ts';
import { isAtOrBefore, type Position, type RecordedTrace } from './recorded-trace.ts';

/** A rule that has something to say about a trace where it counts. */
export interface Saying {
  readonly pack: string;
  readonly rule: string;
  /** `open`: it cannot be decided, and so the monitor denies. */
  readonly effect: 'raise' | 'ask' | 'warn' | 'open';
}

export class Judge {
  readonly #policy: Policy;
  readonly #packs: ReadonlyMap<string, string>;

  private constructor(policy: Policy, packs: ReadonlyMap<string, string>) {
    this.#policy = policy;
    this.#packs = packs;
  }

  /** @param files of policies; each is a pack, by its name without the ending */
  static of(files: readonly string[]): Result<Judge, Fault> {
    const read = readPolicyFiles(files);
    if (!read.ok) {
      const { file = '', message = '' } = read.fault[0] ?? {};
      return failed(fault('usage', `${file}: ${message}`));
    }
    const { policy, policies } = read.value;
    const packs = policies.flatMap(({ source, rules }) => rules.map(() => basename(source.file, '.gr')));
    // The joined rules stand in the same order, under ids that are unique.
    return ok(new Judge(policy, new Map(policy.rules.map(({ id }, index) => [id, packs[index] ?? '']))));
  }

  /**
   * Each saying once. Refused with the reason if the messages are no trace.
   *
   * @param plan what a planner has made of the user's words; absent: no plan is known
   */
  judge(trace: RecordedTrace, labels: TraceLabels, plan?: ScriptedPlan): Result<readonly Saying[], string> {
    const read = readTrace(trace.messages, { format: 'openai-chat' });
    if (!read.ok)
      return failed(`messages${read.fault.path === '' ? '' : ` ${read.fault.path}`}: ${read.fault.message}`);
    const labelled = labels.label(read.value.events);
    const events = plan === undefined ? labelled : labelled.map((event) => withPlan(event, plan));
    const { errors, undecided } = analyzeEvents(this.#policy, events);
    const said = new Map<string, Saying>();
    const add = (rule: string, effect: Saying['effect'], bound: Readonly<Record<string, string>>): void => {
      if (!isInTime(trace, bound)) return;
      said.set(`${rule} ${effect}`, { pack: this.#packs.get(rule) ?? '', rule, effect });
    };
    for (const { rule, effect, events } of errors) add(rule, effect, events);
    for (const { rule, events } of undecided) add(rule, 'open', events);
    return ok([...said.values()]);
  }
}

/** What the hub would say of each call. */
function withPlan(event: TraceEvent, plan: ScriptedPlan): TraceEvent {
  const planned = (call: ToolCallEvent): ToolCallEvent => {
    const sources = plan.get(call.name);
    return { ...call, isOffPlan: sources === undefined, ...(sources ? { sources } : {}) };
  };
  if (event.type === 'ToolCall') return planned(event);
  return event.type === 'Message' ? { ...event, toolCalls: event.toolCalls.map(planned) } : event;
}

/** Of an attack: that it is said at or before its last call. */
function isInTime({ truth }: RecordedTrace, bound: Readonly<Record<string, string>>): boolean {
  if (truth.kind === 'good') return true;
  if (truth.kind === 'uncounted' || truth.lastCall === null) return false;
  const { lastCall } = truth;
  return Object.values(bound).every((path) => isAtOrBefore(positionOf(path), lastCall));
}

/** `7`, `7.tool_calls.1`: a message stands before its calls. A path of another form is never in time. */
function positionOf(path: string): Position {
  const [, message, call] = /^(\d+)(?:\.tool_calls\.(\d+))?(?![\d])/.exec(path) ?? [];
  return {
    message: message === undefined ? Infinity : Number(message),
    call: call === undefined ? -1 : Number(call),
  };
}
