/**
 * What the name and the description of a tool say that it does. Attack: an app names its tools so that they look harmless. So words
 * alone decide nothing, and where two of them disagree, the stricter one counts.
 */

import { isJsonObject, type Json, type JsonSchema } from '../json/json.ts';

interface WordedTool {
  readonly name: string;
  readonly title: string | null;
  readonly description: string | null;
  readonly input: JsonSchema;
}

/**
 * Whether the words of a tool say that it only looks. `tools`: all tools of its app. Attack: an honest `list_delete` lets a text have
 * lists deleted unasked. So one word of changing, in any form and anywhere, is enough against it, and so is silence.
 */
export function saysThatItLooks(
  { name, title, description, input }: WordedTool,
  tools: readonly WordedTool[],
): boolean {
  const said = [title ?? '', description ?? ''].join('\n');
  if ((description ?? '').trim() === '' || namesChange(wordsOfName(name))) return false;
  if (saysThatItChanges(said) || MENTIONS_CHANGE.test(said) || SAYS_CHANGE_WITHIN.test(said)) return false;
  if (RUNS.test([name, said, JSON.stringify(input)].join('\n')) || argumentsAct(input)) return false;
  // `query` may run whatever it is given.
  return [name, afterSharedWord(name, tools)].some((one) => (readingVerb(one) ?? 'query') !== 'query');
}

/** Whether words of a name say that it changes something, also as a further thing that it does. */
function namesChange(words: readonly string[]): boolean {
  return words.some((word, at) => {
    if (ALSO.test(words[at - 1] ?? '') && isVerb(word)) return true;
    return (
      MENTIONS_CHANGE.test(word) || NAMES_CHANGE.test(word) || (word === 'for' && words[at + 1] === 'sale')
    );
  });
}

const ALSO = /^(?:and|or|then)$/;

/** Whether a name of an argument, however deep, says that it changes something, or holds what is run. */
function argumentsAct(schema: Json): boolean {
  if (Array.isArray(schema)) return schema.some(argumentsAct);
  if (!isJsonObject(schema)) return false;
  const names = isJsonObject(schema.properties) ? Object.keys(schema.properties) : [];
  // `order` and `post` are things, too.
  const acts = (word: string) => ARGUMENT_ACTS.test(word) || (!THINGS.test(word) && isVerb(word));
  if (names.some((name) => wordsOfName(name).some(acts))) return true;
  return Object.values(schema).some(argumentsAct);
}

const ARGUMENT_ACTS =
  /^(?:sql|cypher|graphql|sparql|code|commands?|cmd|scripts?|expressions?|statements?|mutations?|drop|sell|save|register|refund)$/;
/** Verbs that are names of things in arguments: with a final `s` all are. */
const NOUNS = 'book|changed?|e?mail|open|order|post|reply|run|schedule|set|share';
const THINGS = new RegExp(`s$|^(?:${NOUNS})$`);
/** What it is given is a program. The words may stand anywhere in what the app says of it. */
const RUNS = /(?:sql|cypher|graphql|sparql)(?![a-z])|\bquery language\b/i;

/** The names of the arguments of a tool, with those of arguments within arguments, however the schema puts them together. */
export function allArgumentNames(input: JsonSchema): readonly string[] {
  const names: string[] = [];
  const left: Json[] = [input];
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    // Attack: more names than a call can have arguments.
    if (isJsonObject(at) && isJsonObject(at.properties))
      for (const name of Object.keys(at.properties)) names.push(name);
    if (at !== null && typeof at === 'object') for (const inner of Object.values(at)) left.push(inner);
  }
  return names;
}

/** The words of a name such as `create_newNote`, in lower case. */
export function wordsOfName(name: string): readonly string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}

const READS =
  /^(?:get|list|read|search|find|show|fetch|query|lookup|describe|count|check(?![_.\- ]?(?:in|out)(?![a-z]))|view)(?:[_.\-/A-Z]|$)/;

/** The verb with which a name begins, if it is one of reading. */
export function readingVerb(name: string): string | null {
  return READS.exec(name)?.[0].replace(/[^a-z]+$/i, '') ?? null;
}

/**
 * Whether a name begins with a verb of reading and also has one of changing. Attack: an honest `find_and_replace` or
 * `get_or_create_channel` is taken for one that reads.
 */
export function readsAndActs(name: string): boolean {
  const [, ...words] = wordsOfName(name);
  const [link = '', verb = ''] = words;
  // No list of verbs is complete: what follows `find_and` is one.
  if (ALSO.test(link) && readingVerb(verb) === null) return true;
  return words.some((word, at) => isVerb(word) && (ALSO.test(words[at - 1] ?? '') || !DESCRIBES.test(word)));
}

/** Verbs that are also names of things, or say of which kind they are: with a final `s` all are. */
const DESCRIBES = new RegExp(`s$|^(?:${NOUNS}|clear|close|new)$`);

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
  return CHANGE.test(word) || ADDING_VERBS.has(word.toLowerCase()) || REMOVING_VERBS.has(word.toLowerCase());
}

const CHANGES =
  'add|append|archive|book|buy|cancel|change|clear|close|create|delete|deploy|destroy|e-?mail|edit|empt(?:y|ie)|erase|execute|forward|insert|invite|mark|merge|modif(?:y|ie)|move|notif(?:y|ie)|open|order|overwrite|pay|post|publish|purchase|push|remove|rename|replace|reply|replie|reset|run|save|schedule|send|set|share|submit|transfer|trigger|update|upload|write';

const CHANGE = new RegExp(`^(?:${CHANGES})(?:e?s)?$`, 'i');

/** At the beginning of a sentence, or as a further thing that it does. */
const SAYS_CHANGE = new RegExp(
  String.raw`(?:^|[.;:!?\n]\s{0,3}|\b(?:and|then|also|will)\s(?:then\s|also\s)?)(?:${CHANGES})(?:e?s)?\b(?!-)`,
  'i',
);

/**
 * Verbs that are hardly ever the name of a thing, in every form. `order`, `post`, `run` and `message` are things, too.
 */
const MENTIONS_CHANGE = new RegExp(
  `(?<![a-z])(?:${[
    '(?:add|append|clear|destroy|edit|insert|publish|refund|register|reset|sell|send|upload)(?:e?s|ed|ing)?',
    '(?:archiv|creat|delet|eras|execut|invit|merg|mov|overwrit|purchas|remov|renam|replac|sav|updat|writ)(?:e[ds]?|ing)',
    '(?:cancell?|dropp?|resett|submitt?|transferr?)(?:s|ed|ing)?',
    '(?:modif|notif)(?:y|ie[ds]|ying|ications?)',
    'pa(?:ys?|ying|yments?|id)',
    '(?:cancell|creat|delet|execut|insert|invit|registr)ations?|(?:creat|delet|execut|insert)ions?|erasure|removals?|replacements?|submissions?',
    'overwr(?:itten|ote)|wr(?:itten|ote)|sent|sold|b(?:uy(?:s|ing)?|ought)|discard(?:s|ed|ing)?|undo(?:es|ing|ne)?|(?:up|for)\\ssale',
  ].join('|')})(?![a-z])`,
  'i',
);

/** In names, further verbs as they stand. */
const NAMES_CHANGE = /^(?:change|close|deploy|empty|forward|make|mark|push)$/;

/** Further verbs behind `this`, `it` or an adverb. */
const SAYS_CHANGE_WITHIN = new RegExp(
  String.raw`\b(?:this|it|which|tool(?:\sto)?|[a-z]{1,20}ly)\s(?:${CHANGES})(?:e?s)?\b(?!-)`,
  'i',
);

/** Whether a description says that the tool changes something, whatever its name is. */
export function saysThatItChanges(description: string): boolean {
  return SAYS_CHANGE.test(description);
}

/** Whoever appends to a file changes it, and to remove the file does not undo that. */
export const ADDING_VERBS: ReadonlySet<string> = new Set(['add', 'create', 'make', 'new']);
export const REMOVING_VERBS: ReadonlySet<string> = new Set([
  'cancel',
  'delete',
  'discard',
  'remove',
  'trash',
  'undo',
]);
