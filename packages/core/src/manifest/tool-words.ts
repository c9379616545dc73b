/**
 * What the name and the description of a tool say that it does. Attack: an app names its tools so that they look harmless. So words
 * alone decide nothing, and where two of them disagree, the stricter one counts.
 */

interface WordedTool {
  readonly name: string;
  readonly description: string;
}

/** Whether the words of a tool say that it only looks. `tools`: all tools of its app. */
export function saysThatItLooks(tool: WordedTool, tools: readonly WordedTool[]): boolean {
  if (saysThatItChanges(tool.description)) return false;
  return readingVerb(tool.name) !== null || readingVerb(afterSharedWord(tool.name, tools)) !== null;
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
