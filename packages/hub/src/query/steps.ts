/**
 * The independent steps of a plan, each in a separate spoke and those of different apps at the same time: app, process,
 * context and model call of one wait for no other, and none sees what another receives. The coordinator asks for each as for any
 * exchange, and gets of the results what an exchange gives: closed values and references.
 */
import {
  type AppId,
  type EventId,
  type Fault,
  type Functionality,
  failed,
  fault,
  type InstalledApp,
  id,
  isJsonObject,
  type Json,
  NAME_PATTERN,
  ok,
  type PlanStep,
  type Result,
  type StepPlan,
} from '@cordon/core';
import { type Registry, TEXT_RESPONSE } from '../apps/registry.ts';
import type { Context, ContextOptions } from '../context/context.ts';
import type { Query } from '../context/query.ts';
import { type HeldText, mapJson } from '../context/references.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Offers } from '../exchange/offers.ts';
import { recordUserInput } from '../journal/context-input.ts';
import type { Recorder } from '../journal/recorder.ts';
import type { Releases } from './releases.ts';

/** So many spokes work at the same time; the rest wait for their turn. */
const MOST_AT_ONCE = 6;

export interface StepParts {
  readonly registry: Registry;
  readonly recorder: Recorder;
  readonly offers: Offers;
  readonly exchange: Exchange;
  readonly releases: Releases;
  readonly newContext: (options: ContextOptions) => Context;
}

export interface StepResult {
  readonly step: PlanStep;
  /** Where the answer arrived, and its references mean something; null: the step has no result. */
  readonly from: Context | null;
  readonly answer: Json | null;
}

/**
 * The steps that run before the coordinator says anything: those that wait for nothing, and that are more than one
 * call. What is one call of one tool the coordinator makes itself: no second model is needed for it.
 */
export function stepsAhead(
  plan: StepPlan,
  appOf: (step: PlanStep) => InstalledApp | undefined,
): readonly PlanStep[] {
  /** What one app does it does in the order of the plan: behind a step that is left, its others are left, too. */
  const left = new Set<AppId>();
  return plan.steps.filter((step) => {
    const app = appOf(step);
    if (app === undefined) return false;
    const isAhead = step.after.length === 0 && !isOneCall(step, app) && !left.has(app.id);
    if (!isAhead) left.add(app.id);
    return isAhead;
  });
}

function isOneCall({ uses }: PlanStep, { manifest, source }: InstalledApp): boolean {
  if (source.kind === 'instructions') return false;
  const { functionalities } = manifest;
  // Of an app without functionalities each tool is one.
  if (functionalities.length === 0) return uses.length === 1;
  const named = functionalities.filter(({ name }) => uses.length === 0 || uses.includes(name));
  return named.length > 0 && named.length >= uses.length && named.every(({ tool }) => tool !== null);
}

/**
 * Runs them, each asked for from a separate context that has heard the user and nothing else: what one step receives
 * does not depend on which other was done first, and neither does what is asked or forbidden. A step that fails or is
 * refused has no result, and the others do not notice.
 */
export async function runSteps(
  parts: StepParts,
  query: Query,
  said: EventId,
  steps: readonly PlanStep[],
): Promise<Result<readonly StepResult[], Fault>> {
  const { newContext, recorder } = parts;
  const results: StepResult[] = [];
  const waiting = [...steps.entries()].map(([index, step]) => {
    const context = newContext({ kind: 'errand', app: null });
    recordUserInput(recorder, context, query.text, said);
    return { index, step, context };
  });
  /** Of each app, when its step of before is done: what one app does it does in the order of the plan. */
  const done = new Map<PlanStep['app'], Promise<void>>();
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { index, step, context } = next;
      const before = done.get(step.app);
      const { promise, resolve } = Promise.withResolvers<void>();
      done.set(step.app, promise);
      await before;
      const answer = await runStep(parts, context, query, said, step).finally(resolve);
      results[index] = { step, from: answer === null ? null : context, answer };
    }
  };
  await Promise.all(Array.from({ length: Math.min(MOST_AT_ONCE, steps.length) }, work));
  if (query.budget.exceeded !== null) return failed(query.budget.exceeded.fault);
  if (query.signal.aborted) return failed(fault('cancelled', 'the query was stopped'));
  return ok(results);
}

/** Null: there is no result. */
async function runStep(
  { registry, offers, exchange, releases }: StepParts,
  context: Context,
  query: Query,
  said: EventId,
  step: PlanStep,
): Promise<Json | null> {
  const app = step.app === null ? undefined : registry.get(step.app);
  if (app === undefined || query.signal.aborted) return null;
  const allowed = await releases.stepTask(context, query, said, step);
  if (allowed === null) return null;
  const peer = offers.offer(context, app.id, functionalityOf(step, app));
  const task = stepTask(allowed === '' ? query.text : allowed, step.inputs ?? []);
  const served = await exchange.request(context, query, { peer, message: { task } }, query.signal);
  return served.ok && served.value.type === 'response' ? served.value.message : null;
}

/** As the other context sees it: the same values, and its own references; null: it may not hold so much. */
export function carriedOver(answer: Json, from: Context, to: Context): Json | null {
  const texts: string[] = [];
  mapJson(answer, (part) => {
    const held = heldBy(part, from);
    if (held !== null) texts.push(held.text);
    return held === null ? undefined : part;
  });
  if (!to.references.hasRoomFor(texts)) return null;
  to.sees(from.label, null);
  for (const origin of from.origins) to.sees(from.label, origin);
  if (from.knowsOthersValues) to.learnsOthersValues();
  return mapJson(answer, (part) => {
    const held = heldBy(part, from);
    return held === null ? undefined : to.references.hold(held);
  });
}

/** The text that stands behind a value which is a reference and nothing else. */
function heldBy(value: Json, { references }: Context): HeldText | null {
  if (!isJsonObject(value) || typeof value.ref !== 'string') return null;
  return references.get(value.ref) ?? null;
}

/** Nothing came of them, and nothing else is left to do. */
export const WITHOUT_RESULT: Fault = fault('app-unavailable', 'no step of the plan produced a result');

/**
 * What the coordinator asks of the app: the functionality that the plan names, where there is exactly one, so that its
 * closed values come back as values; else an answer in words, which comes back as a reference.
 */
function functionalityOf({ uses }: PlanStep, { manifest }: InstalledApp): Functionality {
  const [use = ''] = uses;
  const planned = uses.length === 1 ? manifest.functionalities.find(({ name }) => name === use) : undefined;
  return {
    name: planned?.name ?? id(NAME_PATTERN.test(use) ? use : 'step'),
    description: planned?.description ?? 'a step of the plan',
    request: TASK_REQUEST,
    response: planned?.response ?? TEXT_RESPONSE,
    tool: null,
  };
}

const TASK_REQUEST: Functionality['request'] = {
  type: 'object',
  properties: { task: { type: 'string' } },
  required: ['task'],
  additionalProperties: false,
};

/** The request for a step of the plan: the planner's words, and pieces of the user's. */
function stepTask(task: string, inputs: readonly string[]): string {
  return inputs.length === 0 ? task : `${task}\nIn the user's words: ${inputs.join(' · ')}`;
}

/** The results of the independent steps for the coordinator: closed values and references, no word of an app. */
export function stepResults(query: string, results: readonly string[]): string {
  return `${query}\n\nThese steps are done, each by an app of its own. Make the answer of their results:\n${results.join('\n')}`;
}
