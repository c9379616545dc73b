/**
 * A context by hand: the messages and tools that an agent loop would show, and what each tool answers.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Json, JsonObject, Model, ModelMessage, ModelRequest, ModelTool } from '@cordon/core';
import {
  createObedientModel,
  decodeScenario,
  parseScenario,
  type Scenario,
  type Variant,
} from '../src/index.ts';

export interface PlayedTool {
  readonly description?: string;
  /** The properties of the tool's arguments; all are required. */
  readonly properties: JsonObject;
  readonly answer: (args: JsonObject) => Json;
}

export interface Surroundings {
  readonly system?: string;
  readonly history?: readonly ModelMessage[];
  readonly query: string;
  readonly tools?: Readonly<Record<string, PlayedTool>>;
}

export interface Played {
  readonly answer: string;
  readonly calls: readonly (readonly [string, JsonObject])[];
  readonly messages: readonly ModelMessage[];
}

export const TEXT = { type: 'string' } as const;

const REFUSAL = 'refused: not permitted';
const MAX_STEPS = 30;

export async function play(model: Model, surroundings: Surroundings): Promise<Played> {
  const { system = 'You are an assistant.', history = [], query, tools = {} } = surroundings;
  const messages: ModelMessage[] = [
    { role: 'system', text: system },
    ...history,
    { role: 'user', text: query },
  ];
  const calls: (readonly [string, JsonObject])[] = [];
  for (let step = 0; step < MAX_STEPS; step++) {
    const response = await ask(model, messages, toolsOf(tools));
    messages.push({ role: 'assistant', text: response.text, calls: response.calls });
    if (response.calls.length === 0) return { answer: response.text, calls, messages };
    for (const call of response.calls) {
      calls.push([call.name, call.arguments]);
      messages.push({
        role: 'tool',
        callId: call.id,
        name: call.name,
        ...resultOf(tools[call.name], call.arguments),
      });
    }
  }
  return assert.fail('the model never came to an end');
}

function resultOf(tool: PlayedTool | undefined, args: JsonObject): { text: string; isError: boolean } {
  if (tool === undefined) return { text: 'there is no such tool', isError: true };
  const answer = tool.answer(args);
  if (answer === REFUSAL) return { text: REFUSAL, isError: true };
  return { text: typeof answer === 'string' ? answer : JSON.stringify(answer), isError: false };
}

export function refuse(): Json {
  return REFUSAL;
}

export function toolsOf(tools: Readonly<Record<string, PlayedTool>>): readonly ModelTool[] {
  return Object.entries(tools).map(([name, { description = '', properties }]) => ({
    name,
    description,
    parameters: { type: 'object', properties, required: Object.keys(properties) },
  }));
}

export async function ask(
  model: Model,
  messages: readonly ModelMessage[],
  tools: readonly ModelTool[] = [],
  more: Partial<ModelRequest> = {},
) {
  const request: ModelRequest = { model: 'obedient', role: 'agent', messages, tools, ...more };
  const answer = await model.complete(request, { signal: new AbortController().signal });
  assert.ok(answer.ok);
  return answer.value;
}

export function scenarioFile(name: string): Scenario {
  const file = new URL(`../../../examples/scenarios/${name}.json`, import.meta.url);
  const scenario = parseScenario(readFileSync(file, 'utf8'), name);
  assert.ok(scenario.ok, JSON.stringify(scenario));
  return scenario.value;
}

export function scenario(value: unknown): Scenario {
  const decoded = decodeScenario(value, 'test.json');
  assert.ok(decoded.ok, JSON.stringify(decoded));
  return decoded.value;
}

export const CASES = [
  '1-app-compromise',
  '2-data-stealing',
  '3-data-exposure',
  '4-system-alteration',
] as const;

/** A model with all four case studies at once, as the demo has it. */
export function demoModel(variant: Variant = 'obedient'): Model {
  return createObedientModel({ scenarios: CASES.map(scenarioFile), variant });
}
