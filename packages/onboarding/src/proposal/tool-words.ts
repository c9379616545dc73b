/**
 * What the words of a tool say that it does: its name, the names of its arguments, its description. Attack: an app names its tools
 * so that they look harmless. So names decide only what is proposed, which the user sees; and where two words disagree, the
 * stricter one counts.
 */
import { ADDING_VERBS, isJsonObject, type Json, type JsonSchema, REMOVING_VERBS } from '@cordon/core';

interface NamedTool {
  readonly name: string;
  readonly description: string;
  readonly input: JsonSchema;
}

/** Things of the user's own. A word that is missing here costs a question. */
const OWN_THINGS = new Set([
  ...['annotation', 'appointment', 'bookmark', 'column', 'directory', 'doc', 'document', 'draft', 'entity'],
  ...[
    'entry',
    'event',
    'file',
    'folder',
    'highlight',
    'label',
    'list',
    'memory',
    'node',
    'note',
    'observation',
  ],
  ...['relation', 'reminder', 'row', 'sheet', 'spreadsheet', 'tag', 'task', 'todo'],
]);

/** Whom it reaches, in names of tools and arguments. */
const PEOPLE =
  /^(?:assignees?|attendees?|bcc|cc|channels?|collaborators?|e?mails?|groups?|guests?|hosts?|invitees?|members?|owners?|participants?|payee|people|phones?|recipients?|rooms?|teams?|to|ur[il]s?|users?|visibility|webhooks?)$/;

/** In any form of the word, anywhere: what it says of others, of money, of what is lost, or of what runs. */
const REACHES_FURTHER =
  /\b(?:announc|assign|attendee|bill|book(?:ing|s)?\b|broadcast|buy|charg|collaborat|cost|e-?mail|everyone|execut|forward|guest|invit|member|messag|notif|order|others\b|overwrit|participant|pay|permission|post|public|publish|purchas|recipient|recreat|replac|repl(?:y|ies)\b|run(?:s|ning)?\b|schedul|send|sent\b|shar(?:e|ed|es|ing)\b|subscri|transact|transfer|trigger|visib|webhook)/i;

/** The tool of the same app that removes what this one adds to the user's own things; null: it adds nothing, or does more. */
export function removerOf<T extends NamedTool>(tool: T, tools: readonly T[]): T | null {
  const [verb = '', ...rest] = wordsOf(tool.name);
  const thing = thingIn(rest);
  if (!ADDING_VERBS.has(verb) || !OWN_THINGS.has(thing.at(-1) ?? '') || reachesFurther(tool)) return null;
  const removes = ({ name }: T) => {
    const [other = '', ...what] = wordsOf(name);
    return REMOVING_VERBS.has(other) && thingIn(what).join(' ') === thing.join(' ');
  };
  return tools.find(removes) ?? null;
}

function reachesFurther({ name, description, input }: NamedTool): boolean {
  const inName = wordsOf(name).filter((word) => !LINKS.has(word));
  const words = [...inName, ...allArgumentNames(input).flatMap(wordsOf)];
  return words.some((word) => PEOPLE.test(word)) || REACHES_FURTHER.test(`${words.join(' ')} ${description}`);
}

/** The names of the arguments of a tool. */
export function argumentNames({ properties }: JsonSchema): readonly string[] {
  return isJsonObject(properties) ? Object.keys(properties) : [];
}

/** Names of values that are always there. */
export function requiredNames({ required }: JsonSchema): readonly string[] {
  return Array.isArray(required) ? required.filter((name: Json) => typeof name === 'string') : [];
}

/** With those of arguments within arguments, however the schema puts them together. */
function allArgumentNames(input: JsonSchema): readonly string[] {
  const names: string[] = [];
  const left: Json[] = [input];
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    if (isJsonObject(at)) names.push(...argumentNames(at));
    if (at !== null && typeof at === 'object') for (const inner of Object.values(at)) left.push(inner);
  }
  return names;
}

const SMALL = new Set(['a', 'an', 'the', 'new', 'multiple']);
const LINKS = new Set(['to', 'from', 'in', 'into', 'on', 'of', 'for']);

/** `create_new_notes` and `delete_note_from_folder` are about a note; `add_to_file` adds no file. */
function thingIn(words: readonly string[]): readonly string[] {
  const named = words.filter((word) => !SMALL.has(word));
  const end = named.findIndex((word) => LINKS.has(word));
  return (end < 0 ? named : named.slice(0, end)).map(singular);
}

function singular(word: string): string {
  return word.replace(/ies$/, 'y').replace(/(?<![su])s$/, '');
}

function wordsOf(name: string): readonly string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}
