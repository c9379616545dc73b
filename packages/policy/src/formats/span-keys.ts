/**
 * What a span may say: the attributes and events of the conventions for generative AI that are read, those that say
 * nothing of a conversation, and nothing else. Other instrumentations keep prompts and calls under names of their own;
 * passed over, their logs would look clean.
 *
 * Ring 1: recordings are read with it; the hub does not use it.
 */
import { isJsonObject, type JsonObject } from '@cordon/core';
import { shownWord, strangeKey } from '../known-keys.ts';
import { join, own, type Reading } from './reading.ts';
import type { Span } from './span-tree.ts';

const READ: ReadonlySet<string> = new Set([
  ...['gen_ai.input.messages', 'gen_ai.output.messages', 'gen_ai.system_instructions'],
  ...['gen_ai.tool.definitions', 'gen_ai.tool.name', 'gen_ai.tool.call.id'],
  ...['gen_ai.tool.call.arguments', 'gen_ai.tool.call.result', 'gen_ai.tool.description', 'gen_ai.tool.type'],
  ...['gen_ai.operation.name', 'gen_ai.conversation.id', 'gen_ai.system', 'gen_ai.framework'],
]);

/** Namespaces of attributes that hold nothing of a conversation. */
const SILENT: readonly string[] = [
  ...['gen_ai.request.', 'gen_ai.response.', 'gen_ai.usage.', 'gen_ai.token.', 'gen_ai.agent.'],
  ...['gen_ai.provider.', 'gen_ai.output.type', 'gen_ai.data_source.', 'gen_ai.embeddings.'],
  ...['gen_ai.evaluation.', 'gen_ai.openai.', 'gen_ai.workflow.', 'openai.', 'azure.', 'aws.', 'gcp.'],
  ...['http.', 'url.', 'server.', 'client.', 'network.', 'net.', 'peer.', 'dns.', 'tls.', 'db.', 'rpc.'],
  ...['messaging.', 'faas.', 'cloud.', 'k8s.', 'container.', 'host.', 'os.', 'process.', 'service.'],
  ...['telemetry.', 'otel.', 'thread.', 'code.', 'exception.', 'error.', 'user_agent.', 'enduser.'],
  ...['session.', 'deployment.', 'device.', 'feature_flag.', 'graphql.', 'user.', 'event.name', 'sampling.'],
];

/** Events of the conventions that `otel.ts` reads. */
const EVENTS: ReadonlySet<string> = new Set([
  ...['gen_ai.system.message', 'gen_ai.user.message', 'gen_ai.assistant.message', 'gen_ai.tool.message'],
  ...['gen_ai.choice', 'gen_ai.content.prompt', 'gen_ai.content.completion'],
  'gen_ai.client.inference.operation.details',
]);

const SPAN_KEYS: ReadonlySet<string> = new Set([
  ...['name', 'kind', 'attributes', 'events', 'links', 'status', 'resource', 'scope', 'context', 'id'],
  ...['spanId', 'span_id', 'traceId', 'trace_id', 'parentSpanId', 'parent_span_id', 'parentId', 'parent_id'],
  ...['parentSpanContext', 'parent', 'traceState', 'trace_state', 'flags', 'schemaUrl', 'schema_url'],
  ...['startTimeUnixNano', 'start_time_unix_nano', 'startTime', 'start_time', 'timestamp', 'duration'],
  ...['endTimeUnixNano', 'end_time_unix_nano', 'endTime', 'end_time', 'ended', 'instrumentationScope'],
  ...['instrumentation_scope', 'instrumentationLibrary', 'instrumentation_info'],
]);

/** Reports the first thing that a span says and that nobody reads. */
export function checkSpan(reading: Reading, span: Span): void {
  const { value, attributes, path } = span;
  reading.knows(value, SPAN_KEYS, path, 'a span');
  for (const [key, located] of attributes) {
    if (!isReadOrSilent(key) && strangeKey({ value: located.plain() }, NOTHING) !== null)
      reading.wrong(located.path, unknownAttribute(key));
  }
  const operation = attributes.get('gen_ai.operation.name')?.text ?? '';
  if (MODEL_OPERATIONS.has(operation) && !hasWords(span)) reading.wrong(path, NO_WORDS);
  for (const [index, event] of reading.listAt(value, 'events', path).entries())
    if (isJsonObject(event)) checkEvent(reading, event, join(path, 'events', index));
}

/** The operations in which a model is told something and answers. */
const MODEL_OPERATIONS: ReadonlySet<string> = new Set(['chat', 'generate_content', 'text_completion']);

const SAID: readonly string[] = [
  ...['gen_ai.input.messages', 'gen_ai.output.messages', 'gen_ai.system_instructions'],
  'gen_ai.tool.definitions',
];

/** Instrumentations leave contents out unless they are told to record them: then nobody knows what was said and called. */
function hasWords({ value, attributes }: Span): boolean {
  if (SAID.some((key) => attributes.has(key))) return true;
  const events = own(value, 'events');
  return (
    Array.isArray(events) && events.some((event) => isJsonObject(event) && isReadEvent(own(event, 'name')))
  );
}

function isReadEvent(name: unknown): boolean {
  return typeof name === 'string' && EVENTS.has(name);
}

/** What stands in an event that is read is looked at where it is read. */
function checkEvent(reading: Reading, event: JsonObject, path: string): void {
  const name = own(event, 'name');
  const isKnown = typeof name === 'string' && (EVENTS.has(name) || isReadOrSilent(`${name}.`));
  if (!isKnown) reading.wrong(path, 'this event of a span is not known, so nobody knows what it says');
}

function isReadOrSilent(key: string): boolean {
  return READ.has(key) || SILENT.some((prefix) => key.startsWith(prefix));
}

const NO_WORDS =
  'the call of a model was recorded without its messages: let the instrumentation capture their contents';

const NOTHING: ReadonlySet<string> = new Set();

/** Instrumentations that keep conversations under names of their own, by how their attributes begin. */
const OTHERS: readonly (readonly [RegExp, string])[] = [
  [/^(openinference\.|llm\.|input\.|output\.|tool\.|retrieval\.|embedding\.)/, 'OpenInference'],
  [/^(traceloop\.|gen_ai\.(prompt|completion)\b)/, 'OpenLLMetry'],
  [/^(ai\.|(operation|resource)\.name$)/, 'the AI SDK'],
  [/^langfuse\./, 'Langfuse'],
  [/^langsmith\./, 'LangSmith'],
  [/^(logfire\.|pydantic_ai\.)/, 'Logfire'],
];

function unknownAttribute(key: string): string {
  const shown = shownWord(key);
  const other = OTHERS.find(([form]) => form.test(key))?.[1];
  return other === undefined
    ? `the attribute ${shown} is of no known convention, and rules would not see what it holds: remove it`
    : `the attribute ${shown} is of ${other}, whose spans are not read: export them with the conventions of \`gen_ai.input.messages\``;
}
