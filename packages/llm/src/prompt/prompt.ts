/** A request of the port as the call options of a provider's library (specification v4). */
import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4ToolCallPart,
  SharedV4ProviderMetadata,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import type { ModelMessage, ModelRequest, ModelTool, ModelToolCall } from '@cordon/core';
import { type ToolNames, toolNames } from './tool-names.ts';

export interface PromptParts {
  readonly names: ToolNames;
  readonly providerOptions: SharedV4ProviderOptions;
  readonly signatureOf: (call: ModelToolCall) => SharedV4ProviderMetadata | undefined;
  /** Ask by the provider's JSON mode; otherwise, if a schema is wanted, in words. */
  readonly jsonMode: boolean;
  readonly signal: AbortSignal;
}

/** All names that occur in a request: its tools and the calls of earlier turns, whose tools may be gone. */
export function namesIn(request: ModelRequest): ToolNames {
  const earlier = request.messages.flatMap((message) => {
    if (message.role === 'assistant') return message.calls.map((call) => call.name);
    return message.role === 'tool' ? [message.name] : [];
  });
  return toolNames([...request.tools.map((tool) => tool.name), ...earlier]);
}

export function toCallOptions(request: ModelRequest, parts: PromptParts): LanguageModelV4CallOptions {
  const schema = request.answerSchema;
  const system = systemText(request, parts);
  const conversation = request.messages.flatMap((message) => toMessages(message, parts));
  return {
    prompt: system === '' ? conversation : [{ role: 'system', content: system }, ...conversation],
    ...(request.tools.length > 0 && {
      tools: request.tools.map((tool) => toTool(tool, parts.names)),
      toolChoice: { type: 'auto' },
    }),
    ...(schema !== undefined &&
      parts.jsonMode && { responseFormat: { type: 'json', schema, name: 'answer' } }),
    providerOptions: parts.providerOptions,
    abortSignal: parts.signal,
  };
}

/** Anthropic, Google and many chat templates accept one system text, at the start. */
function systemText(request: ModelRequest, parts: PromptParts): string {
  const texts = request.messages.flatMap((message) => (message.role === 'system' ? [message.text] : []));
  if (request.answerSchema !== undefined && !parts.jsonMode) {
    texts.push(
      `Answer with one JSON object that fits this JSON Schema, and nothing else: ${JSON.stringify(request.answerSchema)}`,
    );
  }
  return texts.join('\n\n');
}

function toMessages(message: ModelMessage, parts: PromptParts): LanguageModelV4Message[] {
  switch (message.role) {
    case 'system':
      return [];
    case 'user':
      return [{ role: 'user', content: [{ type: 'text', text: message.text }] }];
    case 'assistant': {
      const text = message.text === '' ? [] : [{ type: 'text' as const, text: message.text }];
      const content = [...text, ...message.calls.map((call) => toCallPart(call, parts))];
      // Providers refuse a message without content; an empty turn says nothing anyway.
      return content.length === 0 ? [] : [{ role: 'assistant', content }];
    }
    case 'tool': {
      const output = {
        type: message.isError ? ('error-text' as const) : ('text' as const),
        value: message.text,
      };
      const toolName = parts.names.out(message.name);
      return [
        { role: 'tool', content: [{ type: 'tool-result', toolCallId: message.callId, toolName, output }] },
      ];
    }
    default:
      return message satisfies never;
  }
}

function toCallPart(call: ModelToolCall, parts: PromptParts): LanguageModelV4ToolCallPart {
  const signature = parts.signatureOf(call);
  return {
    type: 'tool-call',
    toolCallId: call.id,
    toolName: parts.names.out(call.name),
    input: call.arguments,
    ...(signature !== undefined && { providerOptions: signature }),
  };
}

function toTool(tool: ModelTool, names: ToolNames): LanguageModelV4FunctionTool {
  return {
    type: 'function',
    name: names.out(tool.name),
    description: tool.description,
    inputSchema: tool.parameters,
  };
}
