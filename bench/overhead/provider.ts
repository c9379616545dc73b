/**
 * The simulated provider, a process of its own so that it takes no time from the hub: the obedient model behind OpenAI's
 * wire format, which answers after as long as a model would take for so many tokens. Its parent tells it the scenarios of
 * each conversation. Ends with its parent.
 */

import { setTimeout as wait } from 'node:timers/promises';
import {
  isJsonObject,
  type Json,
  type ModelMessage,
  type ModelRequest,
  type ModelResponse,
  type ModelTool,
  ok,
  parseJson,
  type Result,
} from '@cordon/core';
import { createObedientModel, decodeScenario, type Scenario } from '@cordon/obedient-model';
import {
  type FakeChatRequest,
  type FakeCompletion,
  startFakeOpenAi,
} from '@cordon/testkit/fake-openai/server.ts';
import { millisecondsFor } from './latency.ts';
import { promptTokens, tokensIn } from './tokens.ts';

let model = createObedientModel({ scenarios: [], variant: 'obedient' });

process.on('disconnect', () => process.exit());
process.on('message', (scenarios) => {
  model = createObedientModel({ scenarios: decodeAll(scenarios), variant: 'obedient' });
  process.send?.({ ready: true });
});

const server = await startFakeOpenAi({ script: answer });
process.send?.({ baseUrl: server.baseUrl });

function decodeAll(scenarios: unknown): readonly Scenario[] {
  return (Array.isArray(scenarios) ? scenarios : []).map((scenario) => {
    const decoded = decodeScenario(scenario, 'task');
    if (!decoded.ok) throw new Error(decoded.fault.map(({ message }) => message).join('; '));
    return decoded.value;
  });
}

async function answer(request: FakeChatRequest): Promise<FakeCompletion> {
  const began = performance.now();
  const { signal } = new AbortController();
  const wanted = requestOf(request);
  const said = isForFacts(wanted) ? NO_FACTS : await model.complete(wanted, { signal });
  if (!said.ok) throw new Error(said.fault.message);
  const usage = { inputTokens: promptTokens(request), outputTokens: answerTokens(said.value) };
  await wait(Math.max(0, millisecondsFor(usage) - (performance.now() - began)));
  return {
    kind: 'completion',
    text: said.value.text,
    calls: said.value.calls,
    chunkSize: 2_000,
    usage: { prompt: usage.inputTokens, completion: usage.outputTokens },
  };
}

function answerTokens({ text, calls }: ModelResponse): number {
  return calls.reduce(
    (sum, call) => sum + tokensIn(call.name) + tokensIn(JSON.stringify(call.arguments)),
    tokensIn(text),
  );
}

/** What the obedient model plays states nothing about the user; the call and its price are those of any model. */
const NO_FACTS: Result<ModelResponse, never> = ok({
  text: '{"facts": []}',
  calls: [],
  finish: 'stop',
  usage: { inputTokens: 0, outputTokens: 0 },
});

function isForFacts({ tools, answerSchema }: ModelRequest): boolean {
  const properties = answerSchema?.properties;
  return tools.length === 0 && isJsonObject(properties) && 'facts' in properties;
}

/** Back into the request of the port. What the wire does not carry follows from what it does. */
function requestOf({ messages, body }: FakeChatRequest): ModelRequest {
  const format = body.response_format;
  const schema = isJsonObject(format) && isJsonObject(format.json_schema) ? format.json_schema.schema : null;
  const asked = isJsonObject(schema) && isJsonObject(schema.properties) ? schema.properties : {};
  const names = new Map(messages.flatMap(({ calls }) => calls.map(({ id, name }) => [id, name] as const)));
  return {
    model: 'simulated',
    role: 'steps' in asked ? 'planner' : 'uses' in asked ? 'tool-planner' : 'agent',
    messages: messages.map((message) => messageOf(message, names)),
    tools: (Array.isArray(body.tools) ? body.tools : []).flatMap(toolOf),
    ...(isJsonObject(schema) ? { answerSchema: schema } : {}),
  };
}

function messageOf(
  { role, content, calls, callId }: FakeChatRequest['messages'][number],
  names: ReadonlyMap<string, string>,
): ModelMessage {
  switch (role) {
    case 'system':
      return { role, text: content };
    case 'assistant':
      return {
        role,
        text: content,
        calls: calls.map((call) => ({
          id: call.id,
          name: call.name,
          arguments: argumentsOf(call.arguments),
        })),
      };
    case 'tool': {
      const isError = /^(?:refused|malformed):/.test(content);
      return { role, callId: callId ?? '', name: names.get(callId ?? '') ?? '', text: content, isError };
    }
    default:
      return { role: 'user', text: content };
  }
}

function argumentsOf(text: string) {
  const parsed = parseJson(text);
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : {};
}

function toolOf(tool: Json): readonly ModelTool[] {
  const described = isJsonObject(tool) ? tool.function : undefined;
  if (!isJsonObject(described)) return [];
  const { name, description, parameters } = described;
  return [
    {
      name: String(name),
      description: String(description ?? ''),
      parameters: isJsonObject(parameters) ? parameters : {},
    },
  ];
}
