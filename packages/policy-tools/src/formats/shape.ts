/**
 * Which format a trace has, by a few keys: of an object its own, of a list those of the first element that decides.
 * An element that could belong to several formats (`{"role": "user", "content": "…"}`) decides nothing; where
 * nothing decides, it is a chat log. What decides wrongly is refused by the format's reader, never read as less.
 *
 * Recordings are read with it; the hub does not use it.
 */
import { isJsonObject, type Json, type JsonObject } from '@cordon/core';
import { isList, own } from '../reading/json.ts';
import { isMessage, wrappedMessage } from './mcp.ts';

/** The forms of a trace that can be read. */
export const TRACE_FORMATS = [
  ...(['openai-chat', 'openai-responses', 'anthropic', 'gemini', 'mcp', 'otel', 'cordon-journal'] as const),
] as const;

export type TraceFormat = (typeof TRACE_FORMATS)[number];

/** Null: none of them. */
export function formatOf(input: Json): TraceFormat | null {
  if (isJsonObject(input)) return formatOfObject(input);
  if (!isList(input)) return null;
  let isConversation = input.length === 0;
  for (const element of input) {
    const found = formatOfElement(element);
    if (found === null) return null;
    if (found !== 'any') return found;
    isConversation = true;
  }
  return isConversation ? 'openai-chat' : null;
}

function has(object: JsonObject, ...keys: readonly string[]): boolean {
  return keys.some((key) => Object.hasOwn(object, key));
}

/** A log of one request, one response, both, or an export of spans. */
function formatOfObject(log: JsonObject): TraceFormat | null {
  if (has(log, 'resourceSpans', 'resource_spans', 'scopeSpans', 'spans')) return 'otel';
  if (has(log, 'contents', 'candidates')) return 'gemini';
  if (has(log, 'choices')) return 'openai-chat';
  if (has(log, 'messages')) return formatOfMessages(log);
  if (has(log, 'input', 'output')) return 'openai-responses';
  if (has(log, 'role', 'content') && has(log, 'stop_reason', 'stop_sequence')) return 'anthropic';
  return formatOfPair(log);
}

/** `{request, response}`: what either says. */
function formatOfPair(pair: JsonObject): TraceFormat | null {
  const request = own(pair, 'request');
  const response = own(pair, 'response');
  const asked = isJsonObject(request) ? formatOfObject(request) : null;
  const answer = isList(response) ? response[0] : response;
  const answered = isJsonObject(answer) ? formatOfObject(answer) : null;
  // Requests of OpenAI and Anthropic can be alike; their responses never are.
  return answered ?? asked;
}

/** `messages`: OpenAI's or Anthropic's. */
function formatOfMessages(log: JsonObject): TraceFormat | null {
  if (has(log, 'system', 'anthropic_version', 'stop_sequences')) return 'anthropic';
  const tools = own(log, 'tools');
  const tool = isList(tools) ? tools[0] : undefined;
  if (isJsonObject(tool) && has(tool, 'input_schema')) return 'anthropic';
  const messages = own(log, 'messages');
  const found = messages === undefined ? null : formatOf(messages);
  return found === 'openai-chat' || found === 'anthropic' ? found : null;
}

/** `any`: it belongs to more than one. */
function formatOfElement(element: Json): TraceFormat | 'any' | null {
  if (isList(element)) return isMessage(element[0] ?? null) ? 'mcp' : null;
  if (!isJsonObject(element)) return null;
  // The commonest first: a chat log is looked at and done with.
  if (typeof own(element, 'role') === 'string') return formatOfRole(element);
  if (isMessage(element)) return 'mcp';
  if (has(element, 'kind') && has(element, 'session', 'sequence')) return 'cordon-journal';
  if (isSpan(element)) return 'otel';
  if (has(element, 'tools') && !has(element, 'type', 'messages', 'contents', 'input', 'output'))
    return 'openai-chat';
  const wrapped = wrappedMessage(element);
  if (wrapped !== null) return 'mcp';
  if (has(element, 'parts')) return 'gemini';
  const type = own(element, 'type');
  if (typeof type === 'string') return has(element, 'function') ? 'openai-chat' : 'openai-responses';
  return formatOfObject(element);
}

function isSpan(element: JsonObject): boolean {
  if (has(element, 'resourceSpans', 'resource_spans', 'scopeSpans')) return true;
  return (
    has(element, 'spanId', 'span_id', 'traceId', 'trace_id') ||
    (has(element, 'attributes') && has(element, 'name'))
  );
}

const CHAT_KEYS = ['tool_calls', 'tool_call_id', 'function_call', 'refusal', 'reasoning_content'] as const;

function formatOfRole(message: JsonObject): TraceFormat | 'any' {
  const role = own(message, 'role');
  if (role === 'tool' || role === 'function' || has(message, ...CHAT_KEYS)) {
    return has(message, 'parts') ? 'gemini' : 'openai-chat';
  }
  if (has(message, 'parts')) return 'gemini';
  if (has(message, 'stop_reason')) return 'anthropic';
  const content = own(message, 'content');
  const blocks = isList(content) ? content : isJsonObject(content) ? [content] : [];
  for (const block of blocks) {
    const found = isJsonObject(block) ? formatOfBlock(block) : 'any';
    if (found !== 'any') return found;
  }
  return own(message, 'type') === 'message' ? 'openai-responses' : 'any';
}

function formatOfBlock(block: JsonObject): TraceFormat | 'any' {
  const type = own(block, 'type');
  if (typeof type !== 'string') return 'any';
  if (RESPONSES_BLOCKS.has(type)) return 'openai-responses';
  if (CHAT_BLOCKS.has(type)) return 'openai-chat';
  if (ANTHROPIC_BLOCKS.has(type) || type.endsWith('tool_result')) return 'anthropic';
  return 'any';
}

const RESPONSES_BLOCKS: ReadonlySet<string> = new Set([
  'input_text',
  'output_text',
  'input_image',
  'input_file',
  'summary_text',
]);

const CHAT_BLOCKS: ReadonlySet<string> = new Set(['image_url', 'input_audio', 'file']);

const ANTHROPIC_BLOCKS: ReadonlySet<string> = new Set([
  ...['tool_use', 'server_tool_use', 'mcp_tool_use', 'thinking', 'redacted_thinking', 'document', 'image'],
  ...['search_result', 'container_upload'],
]);
