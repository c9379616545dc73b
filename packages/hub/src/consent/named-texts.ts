/**
 * Which text a call asks for by a name: a file, a page, an id. Attack: the user wants the 10 newest mails, or those about invoice 4711,
 * and whatever such a mail says counts as named. So neither numbers nor what is searched for name a text; nor does an address of
 * mail, nor the last part of a link, which anybody can call `bill.txt`.
 *
 * Files that a call names and the user did not. Who wants something saved and names no file leaves the name to the model. Attack: a
 * mail that no filter reads has it saved as `.bashrc`, `site/mail.txt`, or over the diary. So a name is the model's own only if it
 * is made of the user's words, if no program acts on such a file, and if nothing is there yet.
 */
import { basename, isAbsolute, join, relative, resolve } from 'node:path';
import { type InstalledApp, isJsonObject, type Json, type JsonObject, namedArguments } from '@cordon/core';
import { leavesOf } from '@cordon/policy';
import { lastName, type Recipient, withoutPlaces } from './recipients.ts';

/** Arguments that name one text, as tools of real servers call them. */
const NAMES_TEXT =
  /^(?:(?:paths?|files?|file_?[nN]ames?|file_?[pP]aths?)\d?|source|urls?|uris?|link|page)$|(?:^|_)ids?$|[a-z]Ids?$/;

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

/** Names of tools that make a folder. */
const MAKES_FOLDER =
  /(?:^|[_./-])(?:mkdir|make_?dirs?|(?:create|make|new|add)_?(?:new_?)?(?:folder|director(?:y|ies)|dir))$/i;

/**
 * Whether a call can only make a folder: it says nothing but a path, so that nothing can stand in what is new. Attack: `save_mail`, which
 * is called with no more than the path, too.
 */
export function makesFolder(tool: string, args: JsonObject): boolean {
  return MAKES_FOLDER.test(tool) && Object.keys(args).length === 1;
}

/** What is at a path of this machine. */
export type LookAt = (path: string) => 'nothing' | 'folder' | 'other';

/** How a call names a file: a new one by a name that the model made up, one that is there, or anything else. */
export type NamedFile = 'new' | 'there' | 'other';

/** A file that a call names. */
export interface FileArgument extends Recipient {
  /** What the argument says: a file that is there, the place of one that will be, or either. */
  readonly role: 'from' | 'to' | 'any';
}

/** Arguments that name a file, as tools of real servers call them. */
const NAMES_FILE: readonly (readonly [FileArgument['role'], RegExp])[] = [
  ['any', /^(?:(?:new_?)?path|file|file_?name|file_?path)$/i],
  ['from', /^(?:source|src|(?:old|source|src)_?path)$/i],
  ['to', /^(?:destination|dest|target)(?:_?path)?$/i],
];

/** The files that a call names. What lies deeper, such as the name of an attachment, is no path. */
export function filesIn(args: Json): readonly FileArgument[] {
  if (!isJsonObject(args)) return [];
  return Object.entries(args).flatMap(([key, value]) => {
    const [role] = NAMES_FILE.find(([, names]) => names.test(key)) ?? [];
    return typeof value === 'string' && role !== undefined ? [{ key, value, role }] : [];
  });
}

/** Against what a path is judged. */
export interface FileSetting {
  /** The app that is called with it. */
  readonly app: InstalledApp;
  readonly lookAt: LookAt;
  /** Whether the user says a word in the query that is served. */
  readonly isInQuery: (word: string) => boolean;
}

/** What a call does with the file or folder that it names. */
export interface FileUse {
  /** It can only make a folder. */
  readonly isFolder: boolean;
  /** It changes nothing. */
  readonly looks: boolean;
}

/**
 * How a call names this file or folder; null: the app has no folder to write to, or what is named is a folder that is there and that is
 * only looked at, or that the user calls a folder. Attack: the user wants one folder deleted, and a text names another.
 */
export function namedFile(
  path: string,
  setting: FileSetting,
  { isFolder, looks }: FileUse,
): NamedFile | null {
  const { app, lookAt, isInQuery } = setting;
  const { write, read } = app.manifest.files;
  if (write.length === 0 || app.source.kind !== 'command') return null;
  // Attack: a path outside of the app's folders, to learn whether something is there.
  const visible = placesIn([...write, ...read], path, app);
  const there = visible.map(lookAt);
  if (there.includes('other')) return 'there';
  if (there.includes('folder')) return looks || isSaidFolder(path, isInQuery) ? null : 'there';
  const isOwn = write.some((folder) => visible.some((one) => isOwnName(folder, one, setting, isFolder)));
  return isOwn && !path.split('/').includes('..') ? 'new' : 'other';
}

/**
 * Whether a call of this app would make a file in a folder that the user does not speak of. Attack: the user wants a mail saved as
 * `mail.txt`, and the mail has it saved as `site/mail.txt`.
 */
export function isMisplaced(path: string, setting: FileSetting): boolean {
  const { write } = setting.app.manifest.files;
  const places = placesIn(write, path, setting.app);
  if (places.length === 0 || places.some((one) => setting.lookAt(one) !== 'nothing')) return false;
  return !write.some((folder) => places.some((one) => isOwnPlace(folder, one, setting)));
}

/** Where a path may lead that an app is called with, as far as it lies in these folders. */
function placesIn(folders: readonly string[], path: string, { manifest, source }: InstalledApp): string[] {
  if (source.kind !== 'command') return [];
  const bases = [...manifest.files.write, ...(source.cwd === null ? [] : [source.cwd])];
  const meant = isAbsolute(path) ? [path] : bases.map((base) => join(base, path));
  return meant.filter((one) => folders.some((folder) => isWithin(folder, one)));
}

/** Whether the user calls it a folder. Attack: a common word of theirs is also what a folder is called. */
function isSaidFolder(path: string, isInQuery: (word: string) => boolean): boolean {
  const name = basename(path);
  const spoken = ['folder', 'directory'].flatMap((word) => [`${word} ${name}`, `${name} ${word}`]);
  return name !== '' && [...spoken, `${name}/`].some(isInQuery);
}

function isWithin(folder: string, path: string): boolean {
  const inside = relative(folder, path);
  return !isAbsolute(inside) && inside.split('/')[0] !== '..';
}

/** Whether all of the path below the folder is made of words of the user. */
function isOwnName(folder: string, path: string, setting: FileSetting, isFolder: boolean): boolean {
  const name = basename(path);
  const stem = isFolder ? PLAIN.exec(name)?.[0] : DOCUMENT.exec(name)?.[1];
  if (stem === undefined || !isOwnPlace(folder, path, setting)) return false;
  const words = stem.replace(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ').split(/[ _-]/);
  return !READ_BY_PROGRAMS.test(stem) && words.every((word) => COMMON.test(word) || setting.isInQuery(word));
}

/**
 * Whether the user speaks of each folder between this one and what lies in it. Attack: a folder whose content is published, or that a
 * program looks through.
 */
function isOwnPlace(folder: string, path: string, { lookAt, isInQuery }: FileSetting): boolean {
  if (!isWithin(folder, path) || relative(folder, path) === '') return false;
  const between = relative(folder, path).split('/').slice(0, -1);
  const isOwnFolder = (one: string, at: number) =>
    isInQuery(one) || (at === 0 && one === basename(folder) && lookAt(resolve(folder, one)) === 'nothing');
  return between.every((one, at) => PLAIN.test(one) && isOwnFolder(one, at));
}

/**
 * Texts that are for people, with no second ending. Attack: `newest-mail.py`, `autostart/newest-mail.desktop`, or a mail that is saved as
 * the `Makefile` that it is about.
 */
const DOCUMENT = /^([\p{L}\p{N}][\p{L}\p{N} _-]{0,79})\.(?:txt|text|md|csv|tsv|log|eml)$/iu;
/** Neither hidden nor anything else that a shell or a program reads in its own way. */
const PLAIN = /^[\p{L}\p{N}][\p{L}\p{N} _-]{0,79}$/u;
/** Attack: the user speaks of agents or requirements, and a program acts on what is in a file of that name. */
const READ_BY_PROGRAMS =
  /^(?:agents?|claude|gemini|copilot.*|skills?|memory|readme|instructions|rules|requirements.*|constraints.*|cmakelists|robots|llms.*|ads|humans|security)$/i;
/** What any file may be called: dates, and words that no program looks for. */
const COMMON =
  /^(?:\d{1,8}|an?|the|of|from|to|and|for|in|new|newest|latest|last|first|recent|my|saved|copy|e?mails?|messages?|texts?|files?|notes?|lists?|results?|output|summary|documents?|reports?)$/i;
