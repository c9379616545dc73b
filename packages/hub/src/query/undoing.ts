/**
 * Undoes the last change of the session by the tool that the user's labels name for it. No model takes part: the arguments come from
 * the call that is undone and from what it returned. The call is decided like every other, after one question.
 *
 * INVARIANT (an undo tells nothing new): the app gets back what it was called with, or what it answered.
 */
import {
  type Event,
  type EventId,
  type Fault,
  failed,
  fault,
  type InstalledApp,
  type JsonObject,
  joinLabels,
  ok,
  type Result,
  type StepPlan,
  saidOfTool,
  type ToolOutput,
  type ToolUndo,
} from '@cordon/core';
import type { AppHost } from '../apps/app-host.ts';
import { calledLabels, isIrreversible, type Registry } from '../apps/registry.ts';
import { undoRequirement } from '../consent/requirements.ts';
import type { AppTool } from '../context/app-tool.ts';
import type { Context, ContextOptions } from '../context/context.ts';
import { type ContextOwner, ownerOf } from '../context/owner.ts';
import type { Query } from '../context/query.ts';
import { recordUserInput } from '../journal/context-input.ts';
import { type Change, changeOf, timeInWords, valueOfChange } from '../journal/last-change.ts';
import type { Recorder } from '../journal/recorder.ts';
import { describeFailure, type ReadyCall, type ToolCalls } from '../mediation/tool-calls.ts';
import { framedText } from './answer-stream.ts';

export interface UndoingParts {
  readonly registry: Registry;
  readonly apps: Pick<AppHost, 'start'>;
  readonly calls: ToolCalls;
  readonly recorder: Recorder;
  readonly newContext: (options: ContextOptions) => Context;
  /** All events of the session. */
  readonly recorded: () => readonly Event[];
  readonly now: () => number;
}

/** A context that undid a call, and the answer that the user gets. */
export interface Undone {
  readonly context: Context;
  readonly owner: ContextOwner;
  readonly answer: string;
}

/** How the user's labels say that a call is undone; null: they do not. */
export function undoOf({ manifest }: InstalledApp, tool: string): ToolUndo | null {
  return saidOfTool(manifest.labels ?? [], tool, null).undo ?? null;
}

export class Undoing {
  readonly #parts: UndoingParts;

  constructor(parts: UndoingParts) {
    this.#parts = parts;
  }

  /** @param undoes the call that is undone */
  async run(query: Query, said: EventId, undoes: EventId): Promise<Result<Undone, Fault>> {
    const { recorder, recorded } = this.#parts;
    const change = changeOf(recorded(), undoes);
    if (change === null) return failed(GONE);
    const ready = await this.#callFor(change);
    if (!ready.ok) return ready;
    const { app } = ready.value;
    const plan = planFor(ready.value, query.text);
    query.adopt(plan, 'user');
    recorder.record(null, { kind: 'plan.made', plan, origin: 'user' }, { causes: [said] });
    const context = this.#contextFor(query, said, change, ready.value);
    const answer = await this.#carriedOut(context, query, change, ready.value);
    recorder.end(context, answer.ok ? 'answered' : answer.fault.message);
    return answer.ok ? ok({ context, owner: ownerOf(app.id), answer: answer.value }) : answer;
  }

  /** Asks, calls, and says what came of it. */
  async #carriedOut(
    context: Context,
    query: Query,
    { call }: Change,
    ready: ReadyCall,
  ): Promise<Result<string, Fault>> {
    const { calls, now } = this.#parts;
    const { app, tool } = ready;
    const when = timeInWords(call.time, now());
    const undo = {
      app: app.id,
      tool: tool.name,
      arguments: ready.arguments,
      identifying: calledLabels(app.manifest, tool).identifying,
      irreversible: isIrreversible(app.manifest, tool),
      undone: { event: call.id, tool: call.tool, arguments: call.arguments, when },
    };
    const outcome = await calls.call(context, query, ready, undoRequirement(undo), query.signal);
    if (!outcome.ok) {
      // A question that stood when the user stopped the query was not answered with no.
      if (query.signal.aborted) return failed(fault('cancelled', 'the query was stopped'));
      const failure = describeFailure(query, outcome.fault);
      if (!failure.ok) return failure;
      if (outcome.fault.kind === 'refused') return ok('Nothing was undone.');
      return failed(fault('app-error', `\`${tool.name}\` was not called: ${failure.value.text}`));
    }
    const received = await calls.receive(context, query, ready, outcome.value);
    return ok(answerFor(ready, `\`${call.tool}\` of ${when}`, received?.output ?? null));
  }

  /** The call that undoes this one, with the app running. */
  async #callFor(change: Change): Promise<Result<ReadyCall, Fault>> {
    const { registry, apps } = this.#parts;
    const app = registry.installed(change.call.app);
    if (!app.ok) return app;
    const undo = undoOf(app.value, change.call.tool);
    if (undo === null)
      return failed(fault('usage', `no label says how \`${change.call.tool}\` is undone`, HOW));
    const args = argumentsFor(undo, change);
    if (!args.ok) return args;
    const running = await apps.start(app.value);
    if (!running.ok) return running;
    const tool = running.value.tools.find(({ name }) => name === undo.tool);
    if (tool === undefined)
      return failed(fault('usage', `\`${app.value.id}\` has no tool \`${undo.tool}\``, WRONG_TOOL));
    return ok({ app: app.value, tool, arguments: args.value, texts: [] });
  }

  /** It has seen the call that is undone and what it returned, and rules find both behind the one that undoes it. */
  #contextFor(query: Query, said: EventId, { call, output }: Change, { app, tool }: ReadyCall): Context {
    const { newContext, recorder } = this.#parts;
    const tools = new Map([[tool.name, { app: app.id, tool }]]);
    const context = newContext({ kind: 'standard', app: app.id, tools });
    const label = output === null ? call.label : joinLabels(call.label, output.label);
    const sources = output === null ? [call.id] : [call.id, output.id];
    // What other apps' words were in the call, nobody knows any more.
    context.recalls(label, true);
    query.heard(ownerOf(app.id));
    recordUserInput(recorder, context, query.text, said, { label, sources });
    return context;
  }
}

const GONE = fault('usage', 'the call that was to be undone is not in the journal of this session');
const HOW = 'add `undo` to its label, see docs/policy/labels.md';
const WRONG_TOOL = 'correct the label `undo` in `cordon.json`';

function argumentsFor({ tool, with: values }: ToolUndo, change: Change): Result<JsonObject, Fault> {
  const args: [string, JsonObject[string]][] = [];
  for (const [name, from] of Object.entries(values)) {
    const value = valueOfChange(change, from);
    if (value === undefined) {
      const path = [from.of, ...from.at].join('.');
      const message = `\`${change.call.tool}\` has no \`${path}\`, which \`${tool}\` needs as \`${name}\``;
      return failed(fault('usage', message, WRONG_TOOL));
    }
    args.push([name, value]);
  }
  return ok(Object.fromEntries(args));
}

/** The user named this call and no other. */
function planFor(
  { app, tool }: { readonly app: InstalledApp; readonly tool: AppTool },
  task: string,
): StepPlan {
  return {
    steps: [{ id: '1', app: app.id, task, uses: [tool.name], needs: [], after: [] }],
    candidates: [],
  };
}

/** Characters of what the app said. */
const MOST_SAID = 2_000;

/** Attack: an app answers in the words of the hub; so what it says is framed as the text of an app. */
function answerFor({ app, tool }: ReadyCall, what: string, output: ToolOutput | null): string {
  if (output === null) return `\`${tool.name}\` of \`${app.id}\` was called. Its answer is kept back.`;
  const done = output.isError
    ? `${what} may not be undone: \`${tool.name}\` of \`${app.id}\` answered with an error.`
    : `${what} is undone, by \`${tool.name}\` of \`${app.id}\`.`;
  const said = output.text.trim().slice(0, MOST_SAID);
  return said === '' ? done : `${done} It says: ${framedText(said)}`;
}
