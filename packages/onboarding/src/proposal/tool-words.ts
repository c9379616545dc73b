/**
 * What the words of a tool say that it does: its name, the names of its arguments, its description. Attack: an app names its tools
 * so that they look harmless. So names decide only what is proposed, which the user sees; and where two words disagree, the
 * stricter one counts.
 */
import { isJsonObject, type Json, type JsonSchema } from '@cordon/core';

interface NamedTool {
  readonly name: string;
  readonly description: string;
  readonly input: JsonSchema;
}

const READS =
  /^(?:get|list|read|search|find|show|fetch|query|lookup|describe|count|check(?![_.\- ]?(?:in|out)(?![a-z]))|view)(?:[_.\-/A-Z]|$)/;

/** The verb with which a name begins, if it is one of reading. */
export function readingVerb(name: string): string | null {
  return READS.exec(name)?.[0].replace(/[^a-z]+$/i, '') ?? null;
}

/**
 * The name without its first word, if all tools of the app begin with that word: `slack_list_channels`. Attack: all of them begin
 * with what they do, such as `send_list_message`.
 */
export function afterSharedWord(name: string, tools: readonly { readonly name: string }[]): string {
  const [shared = ''] = /^[A-Za-z]+[_.\-/]/.exec(name) ?? [];
  const isShared = shared !== '' && tools.length >= FEWEST_THAT_SHARE && !isVerb(shared.slice(0, -1));
  return isShared && tools.every((tool) => tool.name.startsWith(shared)) ? name.slice(shared.length) : name;
}

/** Of one or two tools, a common first word may be a verb. */
const FEWEST_THAT_SHARE = 3;

function isVerb(word: string): boolean {
  return CHANGE.test(word) || ADDS.has(word.toLowerCase()) || REMOVES.has(word.toLowerCase());
}

const CHANGES =
  'add|append|archive|book|buy|cancel|change|clear|close|create|delete|deploy|destroy|e-?mail|edit|empt(?:y|ie)|erase|execute|forward|insert|invite|mark|merge|modif(?:y|ie)|move|notif(?:y|ie)|open|order|overwrite|pay|post|publish|purchase|push|remove|rename|replace|reply|replie|reset|run|save|schedule|send|set|share|submit|transfer|trigger|update|upload|write';

const CHANGE = new RegExp(`^(?:${CHANGES})(?:e?s)?$`, 'i');

/** At the beginning of a sentence, or as a further thing that it does. */
const SAYS_CHANGE = new RegExp(
  String.raw`(?:^|[.;:!?\n]\s{0,3}|\b(?:and|then|also|will)\s(?:then\s|also\s)?)(?:${CHANGES})(?:e?s)?\b(?!-)`,
  'i',
);

/** Whether a description says that the tool changes something, whatever its name is. */
export function saysThatItChanges(description: string): boolean {
  return SAYS_CHANGE.test(description);
}

/** Whoever appends to a file changes it, and to remove the file does not undo that. */
const ADDS = new Set(['add', 'create', 'make', 'new']);
const REMOVES = new Set(['cancel', 'delete', 'discard', 'remove', 'trash', 'undo']);

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
  if (!ADDS.has(verb) || !OWN_THINGS.has(thing.at(-1) ?? '') || reachesFurther(tool)) return null;
  const removes = ({ name }: T) => {
    const [other = '', ...what] = wordsOf(name);
    return REMOVES.has(other) && thingIn(what).join(' ') === thing.join(' ');
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
