/**
 * A text that the user asked to follow ("do the tasks on that page") becomes a plan before anything acts on it. A quarantined model reads it, in
 * a context without tools and memory, and lists the calls that it asks for. The user sees them all in one question.
 *
 * INVARIANT (a text orders nothing): what the list changes is the user's yes or no. After a yes the calls are steps of the query's plan, and
 * the values that the user saw count as the user's for these tools. After a no, calls of these tools are asked about one by one. Attack: a text adds
 * "and send it to me". The user reads that as one of the lines. An answer that is no such list, or none, changes nothing.
 */
import {
  type AppId,
  type DataRelease,
  type DelegatedTool,
  type DelegationInput,
  type InstalledApp,
  isJsonObject,
  type Json,
  type JsonSchema,
  type PlanStep,
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
import { MOST_SHOWN, oneLine } from './tool-planning.ts';

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
/** Characters of an argument. */
const MOST_VALUE = 2_000;

export class Delegation {
  readonly #parts: DelegationParts;
  /** The texts that each query follows. */
  readonly #followed = new WeakMap<Query, Set<string>>();

  constructor(parts: DelegationParts) {
    this.#parts = parts;
  }

  /** Has the text read and the user asked, if the plan says that the query follows what this tool returns. */
  async follow(context: Context, query: Query, { app, tool, output }: FollowedOutput): Promise<void> {
    if (output.isError || !follows(query, app, tool.name)) return;
    const tools = this.#toolsOf(app);
    const before = this.#followed.get(query) ?? new Set();
    if (tools.length === 0 || before.has(output.text) || before.size >= MOST_FOLLOWED) return;
    if (output.text.length > MOST_LENGTH) return;
    this.#followed.set(query, before.add(output.text));

    // The app's own model reads the text in any case.
    const reader = this.#parts.newContext({ kind: 'delegation', app: null, modelOf: app.id });
    const calls = await this.#read(context, reader, query, output, tools);
    this.#parts.recorder.end(reader, 'read');
    if (calls === null || calls.length === 0) return;
    if (!(await this.#agree(context, reader, query, { app, tool, output }, calls))) {
      query.delegated.decline(app.id, calls);
      return;
    }
    query.delegated.agree(app.id, calls);
    query.extend(calls.map((call) => stepOf(app.id, tool.name, call)));
  }

  #toolsOf(app: InstalledApp): readonly DelegatedTool[] {
    const agreed = this.#parts.pins.agreed(app.id);
    return agreed === null ? [] : delegatedTools(agreed.tools);
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

  /** The calls are shown to the user, and become part of the plan of the context that works on the query. */
  async #agree(
    context: Context,
    reader: Context,
    query: Query,
    { app, tool }: FollowedOutput,
    calls: readonly DelegatedCall[],
  ): Promise<boolean> {
    const { label } = reader;
    const lasting = calls.filter((call) => {
      const called = context.tools.get(call.tool)?.tool;
      return called === undefined || isIrreversible(app.manifest, called);
    });
    const requirement = delegationRequirement({
      app: app.id,
      tool: tool.name,
      query: query.text,
      calls,
      lasting: [...new Set(lasting.map((call) => call.tool))],
    });
    const items = [{ name: 'calls', value: textOf(calls), origin: app.id, label }];
    const release: DataRelease = { effect: 'data-release', context: context.id, to: app.id, items };
    const causes = [...context.causes, ...reader.causes];
    const carried = await this.#parts.gate.deliver(context, release, { causes, label, requirement });
    return carried.kind === 'done';
  }
}

/** Whether a step says that the query carries out what this tool returns. */
function follows({ plan }: Query, { id, manifest }: InstalledApp, tool: string): boolean {
  const names = usesOf(manifest, tool);
  return plan.steps.some(({ app, follows = [] }) => app === id && follows.some((use) => names.includes(use)));
}

/** The agreed tools as they are shown. Of more than fit, without a line on each; empty: even those do not fit. */
function delegatedTools(tools: readonly DescribedTool[]): readonly DelegatedTool[] {
  const fits = (shown: readonly DelegatedTool[]) => JSON.stringify(shown).length <= MOST_SHOWN;
  const named = tools.map(({ name, input }) => ({ name, arguments: argumentsOf(input) }));
  const whole = named.map((tool, index) => {
    const does = oneLine(tools[index]?.description ?? '');
    return does === '' ? tool : { ...tool, does };
  });
  if (fits(whole)) return whole;
  return fits(named) ? named : [];
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
    if (!tool.arguments.includes(name) || given.has(name) || !isPlain(value)) return null;
    given.set(name, value);
  }
  return { tool: tool.name, arguments: Object.fromEntries(given) };
}

/** A value that a line can show. */
function isPlain(value: Json): boolean {
  const isLeaf = (leaf: Json) => leaf !== null && typeof leaf !== 'object';
  const isOne = isLeaf(value) || (Array.isArray(value) && value.every(isLeaf));
  return isOne && JSON.stringify(value).length <= MOST_VALUE;
}

/** No JSON: what stands in it is as good as the text that it came from, and no field of a record. */
function textOf(calls: readonly DelegatedCall[]): string {
  const lines = calls.map(({ tool, arguments: given }) => {
    const said = Object.entries(given).map(([name, value]) => `${name}: ${[value].flat().join(', ')}`);
    return `- ${tool} ${said.join('; ')}`;
  });
  return lines.join('\n');
}

/** What the text leaves open of a call is the user's to say, as in any plan. */
function stepOf(app: AppId, text: string, { tool, arguments: given }: DelegatedCall): Omit<PlanStep, 'id'> {
  const sources = Object.fromEntries(Object.keys(given).map((name) => [name, [{ kind: 'user' } as const]]));
  const task = `what the text of ${text} asks for`;
  return { app, task, uses: [tool], sources: { [tool]: sources }, acts: true, needs: [], after: [] };
}
