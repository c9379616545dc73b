/** Looks up the paths of events in the input they were read from, as a reader of a report would. */
import { isJsonObject, type Json } from '@cordon/core';
import type { TraceEvent } from '@cordon/policy';

/** The value at `path`; undefined: there is none. Keys may hold dots, and texts may hold JSON. */
export function valueAt(input: Json, path: string): Json | undefined {
  for (const root of rootsOf(input)) {
    const found = within(root, path === '' ? [] : path.split('.'));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Paths begin at the input, or at the list that an object wraps. */
function rootsOf(input: Json): readonly Json[] {
  const wrapped = (value: Json): readonly Json[] =>
    isJsonObject(value)
      ? ['messages', 'contents', 'input'].flatMap((key) => (value[key] === undefined ? [] : [value[key]]))
      : [];
  const request = isJsonObject(input) && input.request !== undefined ? wrapped(input.request) : [];
  return [input, ...wrapped(input), ...request];
}

function within(value: Json, keys: readonly string[]): Json | undefined {
  if (keys.length === 0) return value;
  if (typeof value === 'string') {
    try {
      const parsed: Json = JSON.parse(value);
      return typeof parsed === 'string' ? undefined : within(parsed, keys);
    } catch {
      return undefined;
    }
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const entries: ReadonlyMap<string, Json> = new Map(Object.entries(value));
  for (let length = 1; length <= keys.length; length++) {
    const inner = entries.get(keys.slice(0, length).join('.'));
    const found = inner === undefined ? undefined : within(inner, keys.slice(length));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What is wrong with the paths of an event; empty: nothing. */
export function misplaced(input: Json, event: TraceEvent): readonly string[] {
  const wrong: string[] = [];
  const expects = (path: string, text: string | null): void => {
    const found = valueAt(input, path);
    if (found === undefined) wrong.push(`${path} is nowhere`);
    else if (text !== null && typeof found === 'string' && found !== text)
      wrong.push(`${path} is another text`);
    // What was joined from the chunks of a stream stands nowhere as a whole; its path leads to the first of them.
    else if (text !== null && typeof found !== 'string' && !/(^|\.)choices\.\d+\.delta(\.|$)/.test(path))
      wrong.push(`${path} is no text`);
  };
  const path = event.path ?? '';
  expects(path, null);
  for (const part of Object.values(event.parts ?? {})) expects(part, null);
  if (event.type === 'Message' || event.type === 'ToolOutput') {
    const { content } = event;
    if (typeof content === 'string') expects(event.parts?.content ?? `${path}.content`, content);
    if (Array.isArray(content)) {
      for (const [index, chunk] of content.entries()) {
        const place = chunk.path ?? `${path}.content.${index}`;
        if (chunk.type === 'text') expects(`${place}.text`, chunk.text);
        else expects(place, null);
      }
    }
  }
  if (event.type === 'ToolCall') {
    // The name of a provider's own tool is made from the kind of its element, that of a span from the
    // span's, that of an answer without its request from nothing.
    const name = event.parts?.name ?? `${path}.function.name`;
    const isMade =
      event.kind === 'server' || name === path || (event.kind === 'mcp' && event.name === 'response');
    expects(name, isMade ? null : event.name);
    for (const [key, value] of Object.entries(event.arguments)) {
      const place = event.parts?.arguments ?? `${path}.function.arguments`;
      const isJoined = /(^|\.)delta(\.|$)/.test(place);
      if (typeof value === 'string' && !isJoined) expects(`${place}.${key}`, value);
    }
  }
  if (event.type === 'Tool') expects(event.parts?.name ?? `${path}.name`, event.name);
  if (event.type === 'Message') for (const call of event.toolCalls) wrong.push(...misplaced(input, call));
  return wrong;
}
