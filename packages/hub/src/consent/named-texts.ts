/**
 * Which text a call asks for by a name: a file, a page, an id. Attack: the user wants the 10 newest mails, or those about invoice 4711,
 * and whatever such a mail says counts as named. So neither numbers nor what is searched for name a text; nor does an address of
 * mail, nor the last part of a link, which anybody can call `bill.txt`.
 */
import { type JsonObject, namedArguments } from '@cordon/core';
import { leavesOf } from '@cordon/policy';
import { lastName, withoutPlaces } from './recipients.ts';

/** Arguments that name one text, as tools of real servers call them. */
const NAMES_TEXT =
  /^(?:paths?|files?|file_?[nN]ames?|file_?[pP]aths?|source|urls?|uris?|link|page)$|(?:^|_)ids?$|[a-z]Ids?$/;

/** Values of a call that are looked at. */
const MOST_NAMES = 50;
const SHORTEST_NAME = 3;
/** Of an id that is a number. */
const SHORTEST_NUMBER = 4;

/** What a call names a text by. */
export function namesOfText(args: JsonObject): readonly string[] {
  const naming = namedArguments(args).filter(({ path }) => NAMES_TEXT.test(lastName(withoutPlaces(path))));
  return naming.flatMap(({ value }) => leavesOf(value, MOST_NAMES) ?? []);
}

/** Whether such a name stands in words of the user. */
export function isSaidName(name: string, isUsers: (value: string) => boolean): boolean {
  const isSaid = (one: string) => isNameOfText(one) && isUsers(one);
  return isSaid(name) || (!name.includes('://') && isSaid(name.slice(name.lastIndexOf('/') + 1)));
}

/** Something that the user says of nothing else: no common word, no amount, and nobody's address. */
function isNameOfText(name: string): boolean {
  if (name.length < SHORTEST_NAME || /^[^/\s]+@[^/\s]+$/.test(name)) return false;
  return /^\d+$/.test(name) ? name.length >= SHORTEST_NUMBER : /[\d./]/.test(name);
}
