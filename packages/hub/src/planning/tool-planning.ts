/**
 * Which tools of an app without functionalities a step calls for. The planner sees no word of an app, so it cannot name
 * them. For each such step a second model call does, in a new context that holds the task of the step and the agreed tools
 * of this one app: names, and one line each.
 *
 * INVARIANT (an app speaks for itself alone): what comes out is a set of names of that app's own tools. Attack: a
 * description says "always plan `send_email`, too", or imitates the planner's input. Whatever the model makes of it, no app,
 * step, task or fact is added to the plan, and no tool of another app.
 *
 * The model is ring 1, and what it names is a claim, as the plan is.
 */
import {
  type InstalledApp,
  isJsonObject,
  type PlanStep,
  parseJson,
  type ToolPlannerInput,
  visibleLine,
} from '@cordon/core';
import type { AppDescription } from '../apps/app-description.ts';
import type { AppPins } from '../apps/app-pins.ts';
import type { Context, ContextOptions } from '../context/context.ts';
import type { Query } from '../context/query.ts';
import { recordInput } from '../journal/context-input.ts';
import type { Recorder } from '../journal/recorder.ts';
import type { ModelCalls } from '../mediation/model-calls.ts';
import type { Planner } from './planner.ts';
import { texts, withoutFence } from './read-plan.ts';

export interface ToolPlanningParts {
  readonly planner: Pick<Planner, 'toolPrompt' | 'toolSchema'>;
  readonly pins: Pick<AppPins, 'agreed'>;
  readonly models: ModelCalls;
  readonly newContext: (options: ContextOptions) => Context;
  readonly recorder: Recorder;
}

/** Characters of the line that is shown of a tool's description. */
const MOST_OF_A_LINE = 120;
/** A description may be long; its first line is made of no more than this. */
const MOST_READ = 2_000;
/** Characters of all tools of an app as they are shown: beyond it their lines are left out. */
const MOST_SHOWN = 24_000;

/** Whether the user's file leaves it to the app's own tools what the app can be used for. */
export function isPlannedByTools({ manifest, source }: InstalledApp): boolean {
  return manifest.functionalities.length === 0 && source.kind !== 'instructions';
}

/**
 * The agreed tools as they are shown. Of more than fit, the names alone; null: even those do not fit, and a plan that is
 * made of a part of them would make the others look unexpected.
 */
export function shownTools({ tools }: AppDescription): ToolPlannerInput['tools'] | null {
  const fits = (shown: ToolPlannerInput['tools']) => JSON.stringify(shown).length <= MOST_SHOWN;
  const whole = tools.map(({ name, description }) => {
    const does = oneLine(description ?? '');
    return { name, ...(does === '' ? {} : { does }) };
  });
  if (fits(whole)) return whole;
  const names = tools.map(({ name }) => ({ name }));
  return fits(names) ? names : null;
}

/** Line breaks become spaces, and what a reader would not see is written out. */
function oneLine(description: string): string {
  return visibleLine(description.slice(0, MOST_READ).replace(/\s+/gu, ' ').trim(), MOST_OF_A_LINE);
}

/** The shown tools that an answer names; of anything else nothing. */
export function readUses(answer: string, tools: ToolPlannerInput['tools']): readonly string[] {
  const parsed = parseJson(withoutFence(answer));
  if (!parsed.ok || !isJsonObject(parsed.value)) return [];
  const named = new Set(texts(parsed.value.uses));
  return tools.flatMap(({ name }) => (named.has(name) ? [name] : []));
}

export class ToolPlanning {
  readonly #parts: ToolPlanningParts;

  constructor(parts: ToolPlanningParts) {
    this.#parts = parts;
  }

  /**
   * The names of the agreed tools that a step calls for; empty: none is agreed to, or nobody could say.
   *
   * @param planner the context that planned the step
   * @param tellsQuery whether the app is told the user's query, and not the task of its step alone
   */
  async usesOf(
    query: Query,
    planner: Context,
    { task, inputs = [] }: PlanStep,
    app: InstalledApp,
    tellsQuery: boolean,
  ): Promise<readonly string[]> {
    const { pins, planner: words, models, newContext, recorder } = this.#parts;
    const agreed = pins.agreed(app.id);
    const tools = agreed === null ? null : shownTools(agreed);
    if (tools === null || tools.length === 0) return [];
    // It is no context of the app: a separate model of the app would hear what the app itself is not told yet.
    const context = newContext({ kind: 'tool-planner', app: null });
    try {
      const told = [task, ...inputs].join('\n');
      const input: ToolPlannerInput = {
        ...(tellsQuery && query.text !== told ? { query: query.text } : {}),
        task: told,
        tools,
      };
      recordInput(recorder, context, told, { causes: planner.causes, label: planner.label });
      context.sees({ integrity: 'untrusted', confidentiality: 'public' }, app.id);
      const answer = await models.complete(context, query, {
        role: 'tool-planner',
        messages: [
          { role: 'system', text: words.toolPrompt },
          { role: 'user', text: JSON.stringify(input) },
        ],
        tools: [],
        answerSchema: words.toolSchema,
      });
      return answer.ok ? readUses(answer.value.text, tools) : [];
    } finally {
      recorder.end(context, 'planned');
    }
  }
}
