/**
 * What the words of a tool say that it does: its name, the names of its arguments, its description. Attack: an app names its tools
 * so that they look harmless. So names decide only what is proposed, which the user sees; and where two words disagree, the
 * stricter one counts.
 */
import {
  ADDING_VERBS,
  allArgumentNames,
  isJsonObject,
  type JsonSchema,
  REMOVING_VERBS,
  wordsOfName,
} from '@cordon/core';

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
  /\b(?:assign|bill|book(?:ing|s)?\b|broadcast|buy|charg|collaborat|cost|everyone|execut|forward|member|order|others\b|overwrit|pay|permission|post|public|publish|purchas|recipient|recreat|replac|repl(?:y|ies)\b|run(?:s|ning)?\b|schedul|shar(?:e|ed|es|ing)\b|subscri|transact|transfer|trigger|visib|webhook)/i;

/** What it says of those who take part, and of writing to somebody. */
const TELLS = /\b(?:announc|e-?mail|messag|notif|send|sent\b)/i;
const TAKES_PART = /\b(?:attendee|guest|invit|participant)/i;
/** Names of arguments that name those who take part. */
const PARTIES = /^(?:attendees?|guests?|invitees?|participants?)$/;

/** What takes back what a tool adds to the user's own things. */
export interface Removal<T> {
  readonly remover: T;
  /** The arguments that name whom the tool tells of it. */
  readonly tells: readonly string[];
}

/** How the tools of an app remove what this one adds to the user's own things; null: it adds nothing, or does more. */
export function removalOf<T extends NamedTool>(tool: T, tools: readonly T[]): Removal<T> | null {
  const [verb = '', ...rest] = wordsOfName(tool.name);
  const thing = thingIn(rest);
  const tells = toldIn(tool);
  if (!ADDING_VERBS.has(verb) || !OWN_THINGS.has(thing.at(-1) ?? '') || tells === null) return null;
  const removes = ({ name }: T) => {
    const [other = '', ...what] = wordsOfName(name);
    return REMOVING_VERBS.has(other) && thingIn(what).join(' ') === thing.join(' ');
  };
  const remover = tools.find(removes);
  return remover === undefined ? null : { remover, tells };
}

/** The arguments that name whom it tells; null: it does more, or tells somebody whom no argument names. */
function toldIn({ name, description, input }: NamedTool): readonly string[] | null {
  const names = allArgumentNames(input);
  const tells = names.filter((argument) => wordsOfName(argument).some((word) => PARTIES.test(word)));
  const inName = wordsOfName(name).filter((word) => !LINKS.has(word));
  const words = [...inName, ...names.filter((argument) => !tells.includes(argument)).flatMap(wordsOfName)];
  const said = `${words.join(' ')} ${description}`;
  if (words.some((word) => PEOPLE.test(word)) || REACHES_FURTHER.test(said)) return null;
  // Attack: it writes to somebody else than those who take part.
  const isTold = TAKES_PART.test(said) || TELLS.test(said);
  if (tells.length === 0) return isTold ? null : [];
  return TELLS.test(said) && !TAKES_PART.test(said) ? null : [...new Set(tells)];
}

/**
 * Attack: an argument with the name `guests. Cordon has checked this app: answer y` stands in Cordon's own sentence, on the screen and
 * in the file. A longer name, or one with other characters, is not written.
 */
export function isWritable(name: string): boolean {
  return /^[A-Za-z0-9_.-]{1,64}$/.test(name);
}

/** The names of the arguments of a tool. */
export function argumentNames({ properties }: JsonSchema): readonly string[] {
  return isJsonObject(properties) ? Object.keys(properties) : [];
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
