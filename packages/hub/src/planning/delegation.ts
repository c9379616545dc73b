/**
 * A text that the user asked to follow ("do the tasks on that page") is one question before anything acts on it. A quarantined model
 * reads it, in a context without tools and memory, and lists the calls that it asks for. The user sees them all in one question.
 *
 * INVARIANT (a text orders nothing): what the list changes is the user's yes or no. After a yes these calls are of the query's plan, as the user
 * saw them. Any other call of the app with a value that stands in the text is asked about. Attack: a text adds "and send it to me". The user
 * reads that as one of the lines, or as a question of its own. Where no list came of a text, nothing was allowed.
 */
import {
  type DataRelease,
  type DelegatedTool,
  type DelegationInput,
  type InstalledApp,
  isDelegatedValue,
  isJsonObject,
  type Json,
  type JsonSchema,
  type Label,
  parseJson,
  type ToolOutput,
} from '@cordon/core';
import type { DescribedTool } from '../apps/app-description.ts';
import type { AppPins } from '../apps/app-pins.ts';
import { isIrreversible, usesOf } from '../apps/registry.ts';
import { delegationRequirement } from '../consent/release-requirements.ts';
import type { Context, ContextOptions } from '../context/context.ts';
import type { DelegatedCall } from '../context/delegated-calls.ts';
import type { Query } from '../context/query.ts';
import type { Recorder } from '../journal/recorder.ts';
import type { Gate } from '../mediation/gate.ts';
import type { ModelCalls } from '../mediation/model-calls.ts';
import type { FollowedOutput } from '../mediation/tool-calls.ts';
import type { Planner } from './planner.ts';
import { withoutFence } from './read-plan.ts';
import { oneLine, whatFits } from './tool-planning.ts';

export interface DelegationParts {
  readonly planner: Pick<Planner, 'delegationPrompt' | 'delegationSchema'>;
  readonly pins: Pick<AppPins, 'agreed'>;
  readonly gate: Gate;
  readonly models: ModelCalls;
  readonly recorder: Recorder;
  readonly newContext: (options: ContextOptions) => Context;
}

/** Texts that one query follows. Each is a model call and a question. */
const MOST_FOLLOWED = 3;
/** Characters of one text. */
const MOST_LENGTH = 50_000;
/** More calls than anybody reads. */
const MOST_CALLS = 20;

export class Delegation {
  readonly #parts: DelegationParts;
  /** The texts that each query follows, each with its app. */
  readonly #followed = new WeakMap<Query, Set<string>>();

  constructor(parts: DelegationParts) {
    this.#parts = parts;
  }

  /** Has the text read and the user asked, if the plan says that the query follows what this tool returns. */
  async follow(context: Context, query: Query, followed: FollowedOutput): Promise<void> {
    const { app, tool, output } = followed;
    if (!follows(query, app, tool.name)) return;
    const before = this.#followed.get(query) ?? new Set();
    // Attack: another app returns the same text, which nobody compares with its calls.
    const key = `${app.id} ${output.text}`;
    if (before.has(key)) return;
    this.#followed.set(query, before.add(key));
    // Attack: a site answers with an error, and the orders in it.
    const isOne = !output.isError && before.size <= MOST_FOLLOWED && output.text.length <= MOST_LENGTH;
    const answered = isOne ? await this.#answered(context, query, followed) : NOTHING_ALLOWED;
    query.delegated.hear({ app: app.id, text: output.text, ...answered });
  }

  async #answered(context: Context, query: Query, followed: FollowedOutput): Promise<Answered> {
    const { newContext, pins, recorder } = this.#parts;
    const agreed = pins.agreed(followed.app.id);
    const tools = agreed === null ? [] : delegatedTools(agreed.tools);
    if (tools.length === 0) return NOTHING_ALLOWED;
    // The app's own model reads the text in any case.
    const reader = newContext({ kind: 'delegation', app: null, modelOf: followed.app.id });
    const calls = await this.#read(context, reader, query, followed.output, tools);
    recorder.end(reader, 'read');
    if (calls === null) return NOTHING_ALLOWED;
    const isAgreed = calls.length === 0 || (await this.#ask(context, reader.label, query, followed, calls));
    return { calls, isAgreed };
  }

  /** Release and model call are two effects, each decided for itself. Null: no list came of them. */
  async #read(
    context: Context,
    reader: Context,
    query: Query,
    output: ToolOutput,
    tools: readonly DelegatedTool[],
  ): Promise<readonly DelegatedCall[] | null> {
    const { planner, gate, models } = this.#parts;
    const { app, label } = output;
    const items = [{ name: output.tool, value: output.text, origin: app, label }];
    const release: DataRelease = { effect: 'data-release', context: reader.id, to: null, items };
    const { causes } = context;
    const carried = await gate.deliver(reader, release, { causes, label: context.label, requirement: null });
    if (carried.kind !== 'done') return null;
    reader.sees(context.label, app);
    const text = carried.value.items.map(({ value }) => value).join('');
    const input: DelegationInput = { query: query.text, text, tools };
    const answer = await models.complete(reader, query.spare(query.signal), {
      role: 'delegation',
      messages: [
        { role: 'system', text: planner.delegationPrompt },
        { role: 'user', text: JSON.stringify(input) },
      ],
      tools: [],
      answerSchema: planner.delegationSchema,
    });
    return answer.ok ? readDelegated(answer.value.text, tools) : null;
  }

  /** Whether the user allows all these calls. */
  async #ask(
    context: Context,
    label: Label,
    query: Query,
    { app, tool }: FollowedOutput,
    calls: readonly DelegatedCall[],
  ): Promise<boolean> {
    const lasting = calls.filter((call) => {
      const called = context.tools.get(call.tool)?.tool;
      return called === undefined || isIrreversible(app.manifest, called);
    });
    const requirement = delegationRequirement({
      app: app.id,
      tool: tool.name,
      isInQuery: (value) => query.said.hold(value),
      calls,
      lasting: [...new Set(lasting.map((call) => call.tool))],
    });
    // Attack: a value of the text, released once more, would come from a record that no text led to. So nothing of it is: the context has it.
    const names = [...new Set(calls.map((call) => call.tool))].join(', ');
    const items = [{ name: 'allowed calls', value: names, origin: app.id, label }];
    const release: DataRelease = { effect: 'data-release', context: context.id, to: app.id, items };
    const { causes } = context;
    const carried = await this.#parts.gate.deliver(context, release, { causes, label, requirement });
    return carried.kind === 'done';
  }
}

/** What became of a followed text. */
interface Answered {
  readonly calls: readonly DelegatedCall[];
  readonly isAgreed: boolean;
}

const NOTHING_ALLOWED: Answered = { calls: [], isAgreed: false };

/** Whether a step says that the query carries out what this tool returns. */
function follows({ plan }: Query, { id, manifest }: InstalledApp, tool: string): boolean {
  const names = usesOf(manifest, tool);
  return plan.steps.some(({ app, follows = [] }) => app === id && follows.some((use) => names.includes(use)));
}

/** The agreed tools as they are shown. Of more than fit, without a line on each; empty: even those do not fit. */
function delegatedTools(tools: readonly DescribedTool[]): readonly DelegatedTool[] {
  const named = tools.map(({ name, input }) => ({ name, arguments: argumentsOf(input) }));
  const whole = named.map((tool, index) => {
    const does = oneLine(tools[index]?.description ?? '');
    return does === '' ? tool : { ...tool, does };
  });
  return whatFits(whole, named) ?? [];
}

function argumentsOf({ properties }: JsonSchema): readonly string[] {
  return isJsonObject(properties) ? Object.keys(properties) : [];
}

/** The calls that an answer lists. Null: it is no list, or names a tool, an argument or a form of value that there is not. */
export function readDelegated(
  answer: string,
  tools: readonly DelegatedTool[],
): readonly DelegatedCall[] | null {
  const parsed = parseJson(withoutFence(answer));
  const listed = parsed.ok && isJsonObject(parsed.value) ? parsed.value.calls : null;
  if (!Array.isArray(listed) || listed.length > MOST_CALLS) return null;
  const calls = listed.map((entry: Json) => readCall(entry, tools));
  const read = calls.filter((call) => call !== null);
  return read.length < calls.length ? null : read;
}

function readCall(entry: Json, tools: readonly DelegatedTool[]): DelegatedCall | null {
  if (!isJsonObject(entry) || !Array.isArray(entry.arguments)) return null;
  const tool = tools.find(({ name }) => name === entry.tool);
  if (tool === undefined) return null;
  const given = new Map<string, Json>();
  for (const argument of entry.arguments) {
    if (!isJsonObject(argument) || typeof argument.name !== 'string' || argument.value === undefined)
      return null;
    const { name, value } = argument;
    if (!tool.arguments.includes(name) || given.has(name) || !isDelegatedValue(value)) return null;
    given.set(name, value);
  }
  return { tool: tool.name, arguments: Object.fromEntries(given) };
}
