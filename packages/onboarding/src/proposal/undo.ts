/** The label `undo` of a tool that adds what another one removes, and how labels stand in a file. */
import type { Json, JsonObject, JsonSchema, ToolLabels, ToolUndo, UndoValue } from '@cordon/core';
import { isWritable } from './tool-words.ts';

/** What is read of a tool. */
interface Described {
  readonly name: string;
  readonly input: JsonSchema;
  /** Absent: the app does not say what it returns. */
  readonly output?: JsonSchema;
}

/** With values of the same names, of the call or of what it returns. Null: not all that the remover needs has one. */
export function undoBy(remover: Described, { input, output }: Described): ToolUndo | null {
  const needed = requiredNames(remover.input);
  const [given, returned] = [requiredNames(input), output === undefined ? [] : requiredNames(output)];
  const values = needed.flatMap((name): [string, UndoValue][] => {
    if (given.includes(name)) return [[name, { of: 'arguments', at: [name] }]];
    return returned.includes(name) ? [[name, { of: 'output', at: [name] }]] : [];
  });
  const isWhole = needed.length > 0 && values.length === needed.length;
  // A key with a dot cannot be written as a path.
  if (!isWhole || !needed.every((name) => isWritable(name) && !name.includes('.'))) return null;
  return { tool: remover.name, with: Object.fromEntries(values) };
}

/** Labels as they stand in a file. */
export function writtenLabels({ undo, ...says }: Partial<ToolLabels>): JsonObject {
  if (undo === undefined) return { ...says };
  const paths = Object.entries(undo.with).map(([name, { of, at }]) => [name, [of, ...at].join('.')]);
  return { ...says, undo: { tool: undo.tool, with: Object.fromEntries(paths) } };
}

/** Names of values that are always there. */
function requiredNames({ required }: JsonSchema): readonly string[] {
  return Array.isArray(required) ? required.filter((name: Json) => typeof name === 'string') : [];
}
