/**
 * What a span may say: the attributes and events of the conventions for generative AI that are read, those that say
 * nothing of a conversation, and nothing else. Other instrumentations keep prompts and calls under other names;
 * passed over, their logs would look clean.
 *
 * Recordings are read with it; the hub does not use it.
 */
import { isJsonObject, type JsonObject } from '@cordon/core';
import { own } from '../reading/json.ts';
import { saysSomething, shownWord } from '../reading/known-keys.ts';
import { knownKeys, misfit, type NoteShape } from '../reading/note-shape.ts';
import { join, type Reading } from '../reading/reading.ts';
import { holdsConversation } from '../reading/spoken.ts';
import { attributesOf, type Located } from './located.ts';
import type { Span } from './span.ts';

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

/** What a model was told, and what it said. */
const OF_MODELS: ReadonlySet<string> = new Set([
  ...['gen_ai.input.messages', 'gen_ai.output.messages', 'gen_ai.system_instructions'],
  'gen_ai.tool.definitions',
]);

/** An event that holds what attributes of a span can hold. */
export const DETAILS = 'gen_ai.client.inference.operation.details';

/** What is read of an event that holds lists of messages. */
export const LISTS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['gen_ai.content.prompt', new Set(['gen_ai.prompt'])],
  ['gen_ai.content.completion', new Set(['gen_ai.completion'])],
  [DETAILS, OF_MODELS],
]);

/** Events that are a message, each with its role. */
export const ROLES: ReadonlyMap<string, string> = new Map([
  ['gen_ai.system.message', 'system'],
  ['gen_ai.user.message', 'user'],
  ['gen_ai.assistant.message', 'assistant'],
  ['gen_ai.tool.message', 'tool'],
]);

/** Events of the conventions that `otel.ts` reads. */
const EVENTS: ReadonlySet<string> = new Set([...ROLES.keys(), 'gen_ai.choice', ...LISTS.keys()]);

const SPAN_KEYS = knownKeys(
  ['name', 'attributes', 'events', 'links', 'resource', 'scope', 'instrumentationScope', 'status'],
  {
    notes: [
      ...['kind', 'context', 'id', 'spanId', 'span_id', 'traceId', 'trace_id'],
      ...['parentSpanId', 'parent_span_id', 'parentId', 'parent_id', 'parentSpanContext', 'parent'],
      ...['traceState', 'trace_state', 'flags'],
      ...['schemaUrl', 'schema_url', 'startTimeUnixNano', 'start_time_unix_nano', 'startTime', 'start_time'],
      ...['timestamp', 'duration', 'endTimeUnixNano', 'end_time_unix_nano', 'endTime', 'end_time', 'ended'],
      ...['instrumentation_scope', 'instrumentationLibrary', 'instrumentation_info'],
    ],
  },
);

const EVENT_KEYS = knownKeys(['name', 'attributes', 'body'], {
  notes: ['time', 'timestamp', 'timeUnixNano', 'time_unix_nano', 'id'],
});
const LINK_KEYS = knownKeys(['attributes'], {
  notes: ['context', 'spanId', 'span_id', 'traceId', 'trace_id', 'traceState', 'trace_state', 'flags'],
});
const STATUS_KEYS = knownKeys([], {
  notes: ['code', 'status_code'],
  failure: ['message', 'description'],
});

/** Who wrote a span. */
const WRITER_KEYS = knownKeys(['attributes'], { notes: ['name', 'version', 'schemaUrl', 'schema_url'] });

/** Reports the first thing that a span says and no reader reads. */
export function checkSpan(reading: Reading, span: Span): void {
  const { value, attributes, path } = span;
  reading.knows(value, SPAN_KEYS, path, 'a span');
  checkAttributes(reading, attributes, isReadOrSilent);
  const isTool = isToolSpan(span);
  for (const [key, located] of attributes) {
    const isOfOther = isTool ? OF_MODELS.has(key) : OF_TOOLS.has(key);
    if (isOfOther && saysSomething(located.plain())) reading.wrong(located.path, OTHER_KIND);
  }
  const operation = attributes.get('gen_ai.operation.name')?.text ?? '';
  if (MODEL_OPERATIONS.has(operation) && !hasWords(span)) reading.wrong(path, NO_WORDS);
  for (const [index, event] of reading.listAt(value, 'events', path).entries()) {
    if (!isJsonObject(event)) continue;
    const at = join(path, 'events', index);
    if (isTool && isReadEvent(own(event, 'name'))) reading.wrong(at, OTHER_KIND);
    checkEvent(reading, event, at);
  }
  for (const [index, link] of reading.listAt(value, 'links', path).entries())
    if (isJsonObject(link))
      checkWithAttributes(reading, link, LINK_KEYS, join(path, 'links', index), 'a link');
  const status = own(value, 'status');
  if (isJsonObject(status)) reading.knows(status, STATUS_KEYS, join(path, 'status'), 'the status of a span');
  else if (misfit('mark', status, 'status') !== null)
    reading.wrong(join(path, 'status'), 'the status of a span is a code and a message');
  for (const key of ['resource', 'scope', 'instrumentationScope']) checkWriter(reading, value, key, path);
}

/** `resource`, `scope` and their like around or in a span. */
export function checkWriter(reading: Reading, holder: JsonObject, key: string, path: string): void {
  const writer = own(holder, key) ?? null;
  const at = join(path, key);
  if (isJsonObject(writer)) checkWithAttributes(reading, writer, WRITER_KEYS, at, `\`${key}\``);
  else if (misfit('mark', writer, key) !== null) reading.wrong(at, `\`${key}\` is an object`);
}

function checkWithAttributes(
  reading: Reading,
  holder: JsonObject,
  known: typeof LINK_KEYS,
  path: string,
  what: string,
): void {
  reading.knows(holder, known, path, what);
  checkAttributes(reading, attributesOf(holder, path), isSilent);
}

/** Attributes that are known to be silent still hold no call. */
function checkAttributes(
  reading: Reading,
  attributes: ReadonlyMap<string, Located>,
  isKnown: (key: string) => boolean,
): void {
  for (const [key, located] of attributes) {
    const value = located.plain();
    if (!saysSomething(value)) continue;
    if (!isKnown(key)) reading.wrong(located.path, unknownAttribute(key));
    else if (isSilent(key) && !isSilentValue(key, located))
      reading.wrong(located.path, `${shownWord(key)} holds more than such an attribute says: remove it`);
  }
}

/** Whether an attribute is one that says nothing, and says nothing. */
export function isSilentValue(key: string, located: Located): boolean {
  const value = located.plain();
  if (!saysSomething(value)) return true;
  if (key === 'gen_ai.system' || key === 'gen_ai.framework') return misfit('mark', value, key) === null;
  if (!isSilent(key) || holdsConversation(key, located.opened().plain())) return false;
  return misfit(shapeOf(key), value, lastWord(key)) === null;
}

/** Prose, statements and stack traces, of which other conventions have many; but no bodies of requests. */
function shapeOf(key: string): NoteShape {
  if (/(^|\.)(body|payload|content|message_content)$/.test(key)) return 'mark';
  if (PROSE.has(key)) return 'line';
  if (key === 'gen_ai.request.stop_sequences') return 'short';
  return /^(gen_ai|openai|azure|aws|gcp)\./.test(key) ? 'notes' : 'data';
}

const PROSE: ReadonlySet<string> = new Set(['gen_ai.agent.description', 'gen_ai.evaluation.explanation']);

function lastWord(key: string): string {
  return key.slice(key.lastIndexOf('.') + 1);
}

const OF_TOOLS: ReadonlySet<string> = new Set(['gen_ai.tool.call.arguments', 'gen_ai.tool.call.result']);

const OTHER_KIND =
  'a span of a tool has no messages, and a span of a model has no arguments, so no rule would read this';

/** Whether a tool was executed; else a model or an agent was asked. */
export function isToolSpan({ attributes }: Span): boolean {
  const operation = attributes.get('gen_ai.operation.name')?.text ?? null;
  return operation === 'execute_tool' || (operation === null && attributes.has('gen_ai.tool.name'));
}

/** The operations in which a model gets a prompt and answers. */
const MODEL_OPERATIONS: ReadonlySet<string> = new Set(['chat', 'generate_content', 'text_completion']);

/** Instrumentations leave contents out unless configured to record them: then what was said and called is unknown. */
function hasWords({ value, attributes }: Span): boolean {
  if ([...OF_MODELS].some((key) => attributes.has(key))) return true;
  const events = own(value, 'events');
  return (
    Array.isArray(events) && events.some((event) => isJsonObject(event) && isReadEvent(own(event, 'name')))
  );
}

function isReadEvent(name: unknown): boolean {
  return typeof name === 'string' && EVENTS.has(name);
}

/** What is in an event that is read is looked at where it is read. */
function checkEvent(reading: Reading, event: JsonObject, path: string): void {
  const name = own(event, 'name');
  const isRead = isReadEvent(name);
  const isKnown = typeof name === 'string' && (isRead || isReadOrSilent(`${name}.`));
  if (!isKnown) reading.wrong(path, 'this event of a span is not known, so nobody knows what it says');
  reading.knows(event, EVENT_KEYS, path, 'an event of a span');
  if (isRead) return;
  checkAttributes(reading, attributesOf(event, path), isReadOrSilent);
  if (saysSomething(own(event, 'body')))
    reading.wrong(join(path, 'body'), 'no rule reads the body of this event');
}

function isReadOrSilent(key: string): boolean {
  return READ.has(key) || isSilent(key);
}

function isSilent(key: string): boolean {
  return SILENT.some((prefix) => key.startsWith(prefix));
}

const NO_WORDS =
  'the call of a model was recorded without its messages: let the instrumentation capture their contents';

/** Instrumentations that keep conversations under other names, by how their attributes begin. */
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
