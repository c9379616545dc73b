/** `cordon memory`: what is remembered, by whom it is kept; correcting, deleting and exporting it. */

import { minuteOf } from '@cordon/config';
import { readStoreKey } from '@cordon/config/keys';
import { type Fault, fault, id, type SessionId } from '@cordon/core';
import { renderTable } from '@cordon/print';
import { type Deleted, type MemoryItem, openStore, type Store } from '@cordon/trace';
import { BrokenRows } from '../../context/broken-rows.ts';
import type { CommandContext } from '../../context/command-context.ts';
import { confirmed } from '../../context/confirmation.ts';
import { EXIT, type ExitCode } from '../../context/exit.ts';
import { mayOpen, usingStore, withStore } from '../../context/opened-store.ts';
import {
  deletedInWords,
  itemHeading,
  itemRecord,
  itemText,
  ownerName,
  ownerNamed,
} from '../../print/memory-text.ts';
import { rankedByWords, type SearchText } from './text-search.ts';
/** What of memory is meant. */
export interface Selection {
  readonly owner?: string | undefined;
  readonly session?: string | undefined;
  readonly kind?: MemoryItem['kind'] | undefined;
}

const MOST_LINES = 12;
const MOST_HITS = 20;
const DAY_MS = 86_400_000;
const MIB = 1024 * 1024;

export function listMemory(context: CommandContext): Promise<ExitCode> {
  return withStore(context, ({ memories, isSealed }) => {
    const broken = new BrokenRows('the memory of');
    const owners = memories.overview(broken.collect);
    if (context.wantsJson) {
      for (const { owner, ...rest } of owners)
        context.json({ kind: 'memory.owner', owner: ownerName(owner), ...rest });
      return broken.report(context);
    }
    if (owners.length === 0 && broken.isEmpty) context.output.say('', 'nothing is remembered');
    else
      renderTable(
        context.output,
        ['owner', 'turns', 'sessions', 'summaries', 'facts', 'bytes', 'last'],
        owners.map(({ owner, turns, sessions, summaries, facts, bytes, lastAt }) => [
          ownerName(owner),
          ...[turns, sessions, summaries, facts, bytes].map(String),
          lastAt === null ? '' : minuteOf(lastAt),
        ]),
      );
    const how = isSealed ? 'encrypted' : 'in the clear';
    context.notes.say('', `kept ${how}; the journal is apart: \`cordon sessions\``, 'dim');
    return broken.report(context);
  });
}

export function showMemory(
  context: CommandContext,
  owner: string | undefined,
  options: Selection,
): Promise<ExitCode> {
  return withStore(context, ({ memories }) => {
    const broken = new BrokenRows('the item');
    const items = memories.items(filterOf({ ...options, owner }), broken.collect);
    if (context.wantsJson) for (const item of items) context.json(itemRecord(item));
    else if (items.length === 0 && broken.isEmpty) context.output.say('', 'nothing is remembered there');
    else showItems(context, items);
    return broken.report(context);
  });
}

/** Always lines of JSON: what was read once can be read again. */
export function exportMemory(context: CommandContext, selection: Selection): Promise<ExitCode> {
  return withStore(context, ({ memories }) => {
    const broken = new BrokenRows('the item');
    for (const item of memories.items(filterOf(selection), broken.collect)) context.json(itemRecord(item));
    return broken.report(context);
  });
}

export function searchMemory(
  context: CommandContext,
  words: readonly string[],
  { owner }: Selection,
): Promise<ExitCode> {
  return withStore(context, ({ memories }) => {
    const of = owner === undefined ? null : ownerNamed(owner);
    const items = memories.items(of === null ? {} : { owner: of });
    const hits = rankedByWords(items.map(searchable), words.join(' '), MOST_HITS);
    if (context.wantsJson)
      for (const { item, excerpt } of hits) context.json({ ...itemRecord(item), excerpt });
    else if (hits.length === 0) context.output.say('', 'no item contains these words');
    else
      for (const { item, excerpt } of hits) {
        context.output.say('- ', `${ownerName(item.owner)}  ${itemHeading(item)}`, 'bold');
        context.output.quote(excerpt, 3);
      }
    return EXIT.done;
  });
}

function searchable(item: MemoryItem): SearchText<MemoryItem> {
  return { item, text: item.kind === 'fact' ? `${item.name}: ${item.value}` : item.text };
}

export function correctMemory(context: CommandContext, item: string, text: string): Promise<ExitCode> {
  return withStore(context, (store) => {
    const corrected = store.memories.correct(item, text);
    if (!corrected.ok) return storeFailed(context, corrected.fault);
    const isScrubbed = store.scrub();
    if (context.wantsJson) context.json({ ...itemRecord(corrected.value), scrubbed: isScrubbed });
    else {
      context.output.say('- ', itemHeading(corrected.value), 'bold');
      context.output.quote(itemText(corrected.value), MOST_LINES);
      noteScrub(context, isScrubbed);
    }
    return EXIT.done;
  });
}

export interface Deletion extends Selection {
  readonly everything?: boolean | undefined;
  readonly yes?: boolean | undefined;
}

/** Items by their ids, or all of a session, of an owner, or of everybody; one of these and not several. */
export async function deleteMemory(
  context: CommandContext,
  items: readonly string[],
  { owner, session, everything = false, yes = false }: Deletion,
): Promise<ExitCode> {
  const named = [items.length > 0, owner !== undefined, session !== undefined, everything];
  if (named.filter(Boolean).length !== 1) return context.reportFault(WHAT_TO_DELETE);
  const what =
    owner !== undefined
      ? `all that ${ownerName(ownerNamed(owner))} remembers`
      : session !== undefined
        ? `what is remembered of session ${session}`
        : everything
          ? 'everything that is remembered'
          : `${items.length} remembered ${items.length === 1 ? 'item' : 'items'}`;
  const configuration = context.configuration();
  if (configuration === null) return EXIT.failed;
  if (!(await confirmed(context, `Delete ${what}?`, yes))) return EXIT.refused;
  return usingStore(context, configuration, (store) => {
    const { memories } = store;
    if (items.length > 0) return deleteItems(context, store, items);
    const deleted =
      owner !== undefined
        ? memories.deleteOwner(ownerNamed(owner))
        : session !== undefined
          ? memories.deleteSession(id(session))
          : memories.deleteEverything();
    return printDeleted(context, store, deleted);
  });
}

/** All or none: a mistyped id leaves everything as it was. */
function deleteItems(context: CommandContext, store: Store, items: readonly string[]): ExitCode {
  const found = items.map((item) => store.memories.find(item));
  for (const result of found) if (!result.ok) return storeFailed(context, result.fault);
  const sum = { turns: 0, summaries: 0, facts: 0 };
  for (const result of found) {
    // A fact may have gone with a copy of it that was named as well.
    const deleted = result.ok ? store.memories.deleteItem(result.value.id) : result;
    if (!deleted.ok) continue;
    sum.turns += deleted.value.turns;
    sum.summaries += deleted.value.summaries;
    sum.facts += deleted.value.facts;
  }
  return printDeleted(context, store, sum);
}

export interface PruneOptions {
  readonly days?: number | undefined;
  readonly mib?: number | undefined;
}

/** By the configuration's limits, or by those that are given. */
export async function pruneMemory(context: CommandContext, { days, mib }: PruneOptions): Promise<ExitCode> {
  const configuration = context.configuration();
  if (configuration === null) return EXIT.failed;
  const { retention } = configuration.memory;
  const age = days === undefined ? retention.age : days * DAY_MS;
  const bytes = mib === undefined ? retention.bytes : mib * MIB;
  if (age === null && bytes === null) return context.reportFault(NO_LIMITS);
  // The user, or a file that the user agreed to, says what is deleted for good.
  const isFilesWord = days === undefined && mib === undefined;
  if (isFilesWord && !(await context.agrees(configuration))) return EXIT.failed;
  return usingStore(context, configuration, (store) =>
    printDeleted(context, store, store.memories.prune({ age, bytes })),
  );
}

export interface RekeyOptions {
  /** Of the new key; absent: the configured key is the new one. */
  readonly newKeyFile?: string | undefined;
  readonly none?: boolean | undefined;
}

/** Encrypts an existing store with the configured key, gives it another one, or takes it away. */
export async function rekeyMemory(
  context: CommandContext,
  { newKeyFile, none = false }: RekeyOptions,
): Promise<ExitCode> {
  const configuration = context.configuration();
  if (configuration === null || !(await mayOpen(context, configuration))) return EXIT.failed;
  const configured = configuration.readKey();
  if (!configured.ok) return context.reportFault(configured.fault);
  if (none && newKeyFile !== undefined) return context.reportFault(ONE_KEY);
  const wanted =
    newKeyFile === undefined ? null : readStoreKey({ kind: 'file', path: newKeyFile }, context.environment);
  if (wanted !== null && !wanted.ok) return context.reportFault(wanted.fault);
  const next = none ? null : (wanted?.value ?? configured.value);
  if (!none && next === null) return context.reportFault(NO_KEY);

  // A store in the clear is opened without the key that it is to get.
  const unsealed = openStore(configuration.dataFolder, Date.now);
  const opened = unsealed.ok
    ? unsealed
    : openStore(configuration.dataFolder, Date.now, { key: configured.value });
  if (!opened.ok) return storeFailed(context, opened.fault);
  const store = opened.value;
  try {
    if (store.sessions.list().some(({ status }) => status === 'running')) return context.reportFault(IN_USE);
    const [login] = store.logins.list();
    if (next === null && login !== undefined) return context.reportFault(loggedIn(login.app));
    store.reseal(next);
    const isScrubbed = store.scrub();
    if (context.wantsJson)
      context.json({ kind: 'memory.rekeyed', encrypted: store.isSealed, scrubbed: isScrubbed });
    else {
      const how = store.isSealed ? 'encrypted with the new key' : 'in the clear';
      context.output.say('', `all texts of ${store.file} are ${how}`);
      noteScrub(context, isScrubbed);
    }
    return EXIT.done;
  } finally {
    store.close();
  }
}

/** Tokens are kept encrypted, or not at all. */
function loggedIn(app: string): Fault {
  const help = `\`cordon apps logout ${app}\` revokes and deletes them`;
  return fault('usage', `the store holds tokens of \`${app}\`, which it keeps only encrypted`, help);
}

function showItems(context: CommandContext, items: readonly MemoryItem[]): void {
  const { output } = context;
  let owner: string | null = null;
  for (const item of items) {
    const name = ownerName(item.owner);
    if (name !== owner) output.say('', name, 'bold');
    owner = name;
    output.say('  ', `${minuteOf(item.time)}  ${itemHeading(item)}`);
    const left = output.quote(itemText(item), MOST_LINES);
    if (left !== null) output.say('    ', `${left} more lines: \`--json\` has them`, 'dim');
  }
}

function printDeleted(context: CommandContext, store: Store, deleted: Deleted): ExitCode {
  const isScrubbed = store.scrub();
  if (context.wantsJson) {
    context.json({ kind: 'memory.deleted', ...deleted, scrubbed: isScrubbed });
    return EXIT.done;
  }
  context.output.say('', `deleted: ${deletedInWords(deleted)}`);
  noteScrub(context, isScrubbed);
  context.notes.say(
    '',
    'the journal still contains what was said in each session; `cordon sessions delete` deletes that',
    'dim',
  );
  return EXIT.done;
}

function noteScrub(context: CommandContext, isScrubbed: boolean): void {
  if (!isScrubbed)
    context.notes.say(
      '!! ',
      'another process uses the store: the next command of this kind removes the deleted texts from the file',
      'warn',
    );
}

function filterOf({ owner, session, kind }: Selection) {
  return {
    owner: owner === undefined ? undefined : ownerNamed(owner),
    session: session === undefined ? undefined : (id<'session'>(session) satisfies SessionId),
    kind,
  };
}

function storeFailed(context: CommandContext, { message, help }: Pick<Fault, 'message' | 'help'>): ExitCode {
  return context.reportFault(fault('journal-unavailable', message, help));
}

const WHAT_TO_DELETE: Fault = fault(
  'usage',
  'nothing was named to delete',
  'name ids of items, or one of `--owner`, `--session` and `--everything`',
);
const NO_LIMITS: Fault = fault(
  'usage',
  'no limit for age or size is set',
  'give `--days` or `--mib`, or set `memory.keepDays` or `memory.keepMiB` in the configuration',
);
const NO_KEY: Fault = fault(
  'usage',
  'there is no key to encrypt with',
  'set `CORDON_KEY`, `CORDON_KEY_FILE` or `memory.key`; `openssl rand -base64 32` makes one',
);
const ONE_KEY: Fault = fault(
  'usage',
  '`--new-key-file` and `--none` cannot be combined',
  'give only one of them',
);
const IN_USE: Fault = fault(
  'journal-unavailable',
  'a session is running, and its process does not know the new key',
  'end it first; `cordon sessions` lists those that run',
);
