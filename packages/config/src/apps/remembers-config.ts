/**
 * `manifest.remembers`: values of an app's outputs that Cordon keeps as facts of that app. Of closed types only: a text
 * of an app never becomes a fact, so none can wait in memory for a model to read it.
 *
 * Ring 0; what it accepts decides what is remembered.
 */
import { closedFormats, isJsonObject, type JsonSchema, type RememberedValue } from '@cordon/core';
import { type ConfigReader, type Located, plainJson, quoted } from '../reading/config-reader.ts';

const MOST = 50;
/** As the user's own facts are named, so that both read alike. */
const FACT_NAME = /^\p{L}[\p{L}\p{N} _-]{0,40}$/u;
const TOOL_NAME = /^[\x21-\x7e]{1,128}$/;
const MOST_KEYS = 8;

export function readRemembers(reader: ConfigReader, at: Located): RememberedValue[] {
  const entries = reader.entries(at);
  if (entries.length > MOST)
    reader.reportAt(at, { code: 'CFG044', message: `more than ${MOST} values`, help: 'name fewer' });
  return entries.slice(0, MOST).flatMap(({ key, keySpan, at: inner }) => {
    if (!FACT_NAME.test(key)) {
      const help = 'use letters, digits, spaces, `_` and `-`, at most 41 of them, beginning with a letter';
      reader.report(inner.path, keySpan, {
        code: 'CFG044',
        message: `${quoted(key)} is no name for a fact`,
        help,
      });
      return [];
    }
    const value = readValue(reader, inner, key);
    return value === null ? [] : [value];
  });
}

function readValue(reader: ConfigReader, at: Located, name: string): RememberedValue | null {
  const object = reader.object(at);
  if (object === null) return null;
  const tool = object.required('tool', 'name the tool whose output has the value');
  const path = object.required('at', 'write the keys that lead to the value, like `["account", "balance"]`');
  const schema = object.required('schema', 'write the JSON Schema of the value, of a closed type');
  object.finish();
  const toolName = tool === null ? null : reader.string(tool);
  const keys = path === null ? [] : readKeys(reader, path);
  const closed = schema === null ? null : readClosed(reader, schema);
  if (tool !== null && toolName !== null && !TOOL_NAME.test(toolName)) {
    const help = 'name the tool as the app does';
    reader.reportAt(tool, { code: 'CFG044', message: `${quoted(toolName)} is no name of a tool`, help });
    return null;
  }
  return toolName === null || keys.length === 0 || closed === null
    ? null
    : { name, tool: toolName, at: keys, schema: closed };
}

function readKeys(reader: ConfigReader, at: Located): string[] {
  const items = at.node.kind === 'string' ? [at] : reader.items(at, 'a key or an array of keys');
  const keys = items.flatMap((item) => reader.string(item) ?? []);
  if (keys.length === items.length && keys.length > 0 && keys.length <= MOST_KEYS) return keys;
  const help = `write one to ${MOST_KEYS} keys of the structured output`;
  reader.reportAt(at, { code: 'CFG044', message: 'these keys lead nowhere', help });
  return [];
}

function readClosed(reader: ConfigReader, at: Located): JsonSchema | null {
  const schema = plainJson(at.node);
  if (isJsonObject(schema) && isClosedType(schema)) return schema;
  reader.reportAt(at, {
    code: 'CFG044',
    message: 'a value that may be any text is not remembered',
    help: `use a number, a boolean, an \`enum\`, or a \`format\`: ${closedFormats().join(', ')}`,
  });
  return null;
}

const CLOSED_TYPES: ReadonlySet<unknown> = new Set(['number', 'integer', 'boolean']);

function isClosedType(schema: JsonSchema): boolean {
  const { type, enum: words, format } = schema;
  return (
    CLOSED_TYPES.has(type) ||
    Array.isArray(words) ||
    schema.const !== undefined ||
    (typeof format === 'string' && closedFormats().includes(format))
  );
}
