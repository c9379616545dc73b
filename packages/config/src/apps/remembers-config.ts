/**
 * `manifest.remembers`: values of an app's outputs that Cordon keeps as facts of that app. Of closed types only: a text
 * of an app never becomes a fact, so none can wait in memory for a model to read it.
 *
 * What it accepts decides what is remembered.
 */
import { closedFormats, isJsonObject, type JsonSchema, type RememberedValue } from '@cordon/core';
import { type Located, plainJson, quoted } from '../reading/config-reader.ts';

const MOST = 50;
/** As the user's own facts are named, so that both read alike. */
const FACT_NAME = /^\p{L}[\p{L}\p{N} _-]{0,40}$/u;
const TOOL_NAME = /^[\x21-\x7e]{1,128}$/;
const MOST_KEYS = 8;

export function readRemembers(at: Located): RememberedValue[] {
  if (at.entries().length > MOST)
    at.report({ code: 'CFG044', message: `more than ${MOST} values`, help: 'name fewer' });
  return at.mapped(factNameProblem, (name, inner) => readValue(inner, name)).slice(0, MOST);
}

function factNameProblem(name: string) {
  if (FACT_NAME.test(name)) return null;
  const help = 'use letters, digits, spaces, `_` and `-`, at most 41 of them, beginning with a letter';
  return { code: 'CFG044', message: `${quoted(name)} is no name for a fact`, help };
}

function readValue(at: Located, name: string): RememberedValue | null {
  const object = at.object();
  if (object === null) return null;
  const tool = object.required('tool', 'name the tool whose output has the value');
  const path = object.required('at', 'write the keys that lead to the value, like `["account", "balance"]`');
  const schema = object.required('schema', 'write the JSON Schema of the value, of a closed type');
  object.finish();
  const toolName = tool?.checked(toolProblem) ?? null;
  const keys = path === null ? null : readKeys(path);
  const closed = schema === null ? null : readClosed(schema);
  return toolName === null || keys === null || closed === null
    ? null
    : { name, tool: toolName, at: keys, schema: closed };
}

function toolProblem(name: string) {
  if (TOOL_NAME.test(name)) return null;
  const help = 'name the tool as the app does';
  return { code: 'CFG044', message: `${quoted(name)} is no name of a tool`, help };
}

function readKeys(at: Located): string[] | null {
  const items = at.node.kind === 'string' ? [at] : at.items('a key or an array of keys');
  const keys = items.flatMap((item) => item.string() ?? []);
  if (keys.length === items.length && keys.length > 0 && keys.length <= MOST_KEYS) return keys;
  const help = `write one to ${MOST_KEYS} keys of the structured output`;
  return at.report({ code: 'CFG044', message: 'these keys lead nowhere', help });
}

function readClosed(at: Located): JsonSchema | null {
  const schema = plainJson(at.node);
  if (isJsonObject(schema) && isClosedType(schema)) return schema;
  return at.report({
    code: 'CFG044',
    message: 'a value that may be any text is not remembered',
    help: `use a number, a boolean, an \`enum\`, or a \`format\`: ${closedFormats().join(', ')}`,
  });
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
