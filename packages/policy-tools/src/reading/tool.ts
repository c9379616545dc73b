/**
 * Descriptions of tools, as they were shown to the model: every provider has other names for the same three fields.
 *
 * Recordings are read with it; the hub does not use it.
 */
import { isJsonObject, type Json, type JsonObject } from '@cordon/core';
import type { EventFrame } from '@cordon/policy';
import { own } from './json.ts';
import { Frames, join, type Reading } from './reading.ts';
import { NO_DESCRIPTION, toolParameters } from './tool-parameter.ts';

/** One tool: the object at `path` holds the name, and its schema under one of the keys of `schemaKeys`. */
export function emitTool(
  reading: Reading,
  frame: EventFrame,
  tool: JsonObject,
  path: string,
  schemaKeys: readonly [string, ...string[]],
  server: string | null = null,
): void {
  // Tools of a provider have a `type` and sometimes no name.
  const nameKey = reading.keyIn(tool, 'name', 'type');
  const name = reading.nameAt(tool, nameKey, path);
  const schemaKey = reading.keyIn(tool, ...schemaKeys);
  const schema = reading.objectAt(tool, schemaKey, path);
  reading.describes(tool, path);
  const parts = {
    ...(nameKey === 'name' ? {} : { name: join(path, nameKey) }),
    ...(schema === null || schemaKey === 'inputSchema' ? {} : { inputSchema: join(path, schemaKey) }),
  };
  reading.emit({
    ...frame,
    type: 'Tool',
    path,
    ...(Object.keys(parts).length === 0 ? {} : { parts }),
    name,
    description: reading.textAt(tool, 'description', path) ?? NO_DESCRIPTION,
    inputSchema: toolParameters(schema ?? undefined, (written) => written.toLowerCase()),
    server,
  });
}

/** The tools of a list. */
export function emitTools(
  reading: Reading,
  from: JsonObject,
  key: string,
  path: string,
  schemaKeys: readonly [string, ...string[]],
  frames: Frames = Frames.none(),
  server: string | null = null,
): void {
  for (const [tool, at] of reading.objectsAt(from, key, path, 'a tool'))
    emitTool(reading, frames.next(), tool, at, schemaKeys, server);
}

/** The list `tools` of an OpenAI request: the tool itself, or (chat) under the key of its type. */
export function emitOpenaiTools(reading: Reading, request: JsonObject, path: string): void {
  for (const [tool, at] of reading.objectsAt(request, 'tools', path, 'a tool')) {
    const type = own(tool, 'type');
    const inner: Json | undefined = typeof type === 'string' ? own(tool, type) : undefined;
    if (typeof type === 'string' && isJsonObject(inner) && own(tool, 'name') === undefined) {
      emitTool(reading, {}, inner, join(at, type), ['parameters']);
    } else {
      emitTool(reading, {}, tool, at, ['parameters'], reading.textAt(tool, 'server_label', at));
    }
  }
}
