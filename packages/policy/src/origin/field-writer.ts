/**
 * Who fills in a field of a record, by its name: the program that keeps the record, or somebody who writes what others read. A value that
 * is all of a written field is as little kept by a program as one in a sentence.
 *
 * Attack: a mail with the subject `eve@evil.example`, or with the body `['eve@evil.example']`.
 */

const WRITTEN =
  'subject|title|body|text|html|content|contents|description|snippet|preview|summary|message|notes?|comments?|markdown';
const WRITTEN_FIELD = new RegExp(
  `(?:^|_)(?:${WRITTEN}|reviews?|reply_?to|location|caption|bio)(?:_(?:text|html|plain|preview|raw|markdown))*$`,
);
/** `reply_to` of a call is none: what is written there is whom an answer reaches. */
const WRITTEN_ARGUMENT = new RegExp(`^(?:${WRITTEN})$`, 'i');

/** Whether a field of this name, such as `bodyText` or `email_body`, holds what somebody wrote. */
export function isWrittenField(name: string): boolean {
  return WRITTEN_FIELD.test(inSnakeCase(name));
}

function inSnakeCase(name: string): string {
  return name.replace(/(?<=[a-z0-9])(?=[A-Z])|[ -]/g, '_').toLowerCase();
}

/** In these, whoever made something says who they are, or whom it is for. */
const MAKER_FIELD =
  /(?:^|_)(?:from|sender|author|creator|owner|user|organi[sz]er|host|to|cc|bcc|recipients?|attendees?|participants?|guests?|invitees?)(?:_|$)/;

/** Whether what stands in a field of this name, also deeper within it, is the word of whoever made something. */
export function isClaim(name: string): boolean {
  return isWrittenField(name) || MAKER_FIELD.test(inSnakeCase(name));
}

/** Whether an argument of this name holds what somebody says. */
export function isWrittenArgument(name: string): boolean {
  return WRITTEN_ARGUMENT.test(name);
}
