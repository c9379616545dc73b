/**
 * Whether the first two lines of a question name what a person decides by: whom the call reaches, how much, which file. The
 * names of arguments come from the tools of the sets. The list is apart from the hub's, because it measures the hub's.
 */
import { drawPermission, textOfDrawing } from '@cordon/console';
import {
  isJsonObject,
  type JsonObject,
  namedArguments,
  type PermissionPrompt,
  parseJson,
} from '@cordon/core';

/** `none`: no such fact stands in the first two lines; null: the call has none. */
export type Named = 'all' | 'some' | 'none' | null;

/** Whom a call reaches; only where it names nobody, how much, or what it is about. */
const KINDS = [
  /(?:^|_)(?:to|cc|bcc|recipients?|payees?|payee_name|participants?|users?|guests?|members?|e?mails?|phone|phone_number|channel|url|address|account|account_number)$/i,
  /(?:^|_)(?:amount|price|total|path|file_?path|file_?name|file|folder|ids?)$/i,
];
/** A longer value hides data behind whom the call reaches: its first word must be visible, and a yes waits for the rest. */
const LONGEST_FACT = 40;
const WIDTH = 80;
const FIRST_LINES = 2;

export function namedInFirstLines(prompt: PermissionPrompt): Named {
  const facts = prompt.data.flatMap(({ value, identifying }) => {
    const parsed = identifying === undefined ? null : parseJson(value);
    return parsed?.ok && isJsonObject(parsed.value) ? factsOf(parsed.value) : [];
  });
  if (facts.length === 0) return null;
  const drawn = textOfDrawing(drawPermission(prompt, { width: WIDTH, number: null }));
  const first = plain(drawn.split('\n').slice(0, FIRST_LINES).join(''));
  const found = facts.filter((fact) => first.includes(decisive(fact)));
  if (found.length === 0) return 'none';
  return found.length === facts.length ? 'all' : 'some';
}

function factsOf(args: JsonObject): readonly string[] {
  const facts = KINDS.map((kind) =>
    namedArguments(args).flatMap(({ path, value, text }) => {
      const name = path.replace(/\[\d+\]/g, '');
      if (!kind.test(name.slice(name.lastIndexOf('.') + 1)) || value === null || text.trim() === '')
        return [];
      return Array.isArray(value) ? value.map(String) : [text];
    }),
  );
  return facts.find(({ length }) => length > 0) ?? [];
}

function decisive(fact: string): string {
  const [word = ''] = fact.length > LONGEST_FACT ? fact.trim().split(/\s/, 1) : [fact];
  return plain(word);
}

function plain(text: string): string {
  return text.replace(/\s+/g, '');
}
