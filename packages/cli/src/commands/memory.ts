/** `cordon memory`: what is remembered, by whom it is kept; correcting, deleting and exporting it. Ring 1. */
import { type Fault, fault, id, type SessionId } from '@cordon/core';
import { type Deleted, type MemoryItem, openStore, type Store } from '@cordon/trace';
import { EXIT, type ExitCode } from '../exit.ts';
import { deletedInWords, itemHeading, itemRecord, itemText, ownerName, ownerNamed } from '../memory-text.ts';
import { readStoreKey } from '../store-key.ts';
import { minuteOf, renderTable } from '../table.ts';
import { rankedByWords, type SearchText } from '../text-search.ts';
import { BrokenRows } from './broken-rows.ts';
import { confirmed } from './confirmation.ts';
import { mayOpen, usingStore, withStore } from './opened-store.ts';
import type { Surroundings } from './surroundings.ts';

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

export function listMemory(surroundings: Surroundings): Promise<ExitCode> {
  return withStore(surroundings, ({ memories, isSealed }) => {
    const broken = new BrokenRows('the memory of');
    const owners = memories.overview(broken.tell);
    if (surroundings.wantsJson) {
      for (const { owner, ...rest } of owners)
        surroundings.json({ kind: 'memory.owner', owner: ownerName(owner), ...rest });
      return broken.told(surroundings);
    }
    if (owners.length === 0 && broken.isEmpty) surroundings.output.say('', 'nothing is remembered');
    else
      renderTable(
        surroundings.output,
        ['owner', 'turns', 'sessions', 'summaries', 'facts', 'bytes', 'last'],
        owners.map(({ owner, turns, sessions, summaries, facts, bytes, lastAt }) => [
          ownerName(owner),
          ...[turns, sessions, summaries, facts, bytes].map(String),
          lastAt === null ? '' : minuteOf(lastAt),
        ]),
      );
    const how = isSealed ? 'encrypted' : 'in the clear';
    surroundings.notes.say('', `kept ${how}; the journal is apart: \`cordon sessions\``, 'dim');
    return broken.told(surroundings);
  });
}

export function showMemory(surroundings: Surroundings, selection: Selection): Promise<ExitCode> {
  return withStore(surroundings, ({ memories }) => {
    const broken = new BrokenRows('the item');
    const items = memories.items(filterOf(selection), broken.tell);
    if (surroundings.wantsJson) for (const item of items) surroundings.json(itemRecord(item));
    else if (items.length === 0 && broken.isEmpty) surroundings.output.say('', 'nothing is remembered there');
    else showItems(surroundings, items);
    return broken.told(surroundings);
  });
}

/** Always lines of JSON: what was read once can be read again. */
export function exportMemory(surroundings: Surroundings, selection: Selection): Promise<ExitCode> {
  return withStore(surroundings, ({ memories }) => {
    const broken = new BrokenRows('the item');
    for (const item of memories.items(filterOf(selection), broken.tell)) surroundings.json(itemRecord(item));
    return broken.told(surroundings);
  });
}

export function searchMemory(
  surroundings: Surroundings,
  words: readonly string[],
  { owner }: Selection,
): Promise<ExitCode> {
  return withStore(surroundings, ({ memories }) => {
    const of = owner === undefined ? null : ownerNamed(owner);
    const items = memories.items(of === null ? {} : { owner: of });
    const hits = rankedByWords(items.map(searchable), words.join(' '), MOST_HITS);
    if (surroundings.wantsJson)
      for (const { item, excerpt } of hits) surroundings.json({ ...itemRecord(item), excerpt });
    else if (hits.length === 0) surroundings.output.say('', 'no item contains these words');
    else
      for (const { item, excerpt } of hits) {
        surroundings.output.say('- ', `${ownerName(item.owner)}  ${itemHeading(item)}`, 'bold');
        surroundings.output.quote(excerpt, 3);
      }
    return EXIT.done;
  });
}

function searchable(item: MemoryItem): SearchText<MemoryItem> {
  return { item, text: item.kind === 'fact' ? `${item.name}: ${item.value}` : item.text };
}

export function correctMemory(surroundings: Surroundings, item: string, text: string): Promise<ExitCode> {
  return withStore(surroundings, (store) => {
    const corrected = store.memories.correct(item, text);
    if (!corrected.ok) return tell(surroundings, corrected.fault);
    const isScrubbed = store.scrub();
    if (surroundings.wantsJson) surroundings.json({ ...itemRecord(corrected.value), scrubbed: isScrubbed });
    else {
      surroundings.output.say('- ', itemHeading(corrected.value), 'bold');
      surroundings.output.quote(itemText(corrected.value), MOST_LINES);
      noteScrub(surroundings, isScrubbed);
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
  surroundings: Surroundings,
  items: readonly string[],
  { owner, session, everything = false, yes = false }: Deletion,
): Promise<ExitCode> {
  const named = [items.length > 0, owner !== undefined, session !== undefined, everything];
  if (named.filter(Boolean).length !== 1) return tell(surroundings, WHAT_TO_DELETE);
  const what =
    owner !== undefined
      ? `all that ${ownerName(ownerNamed(owner))} remembers`
      : session !== undefined
        ? `what is remembered of session ${session}`
        : everything
          ? 'everything that is remembered'
          : `${items.length} remembered ${items.length === 1 ? 'item' : 'items'}`;
  const configuration = surroundings.configuration();
  if (configuration === null) return EXIT.failed;
  if (!(await confirmed(surroundings, `Delete ${what}?`, yes))) return EXIT.refused;
  return usingStore(surroundings, configuration, (store) => {
    const { memories } = store;
    if (items.length > 0) return deleteItems(surroundings, store, items);
    const deleted =
      owner !== undefined
        ? memories.deleteOwner(ownerNamed(owner))
        : session !== undefined
          ? memories.deleteSession(id(session))
          : memories.deleteEverything();
    return tellDeleted(surroundings, store, deleted);
  });
}

/** All or none: a mistyped id leaves everything as it was. */
function deleteItems(surroundings: Surroundings, store: Store, items: readonly string[]): ExitCode {
  const found = items.map((item) => store.memories.find(item));
  for (const result of found) if (!result.ok) return tell(surroundings, result.fault);
  const sum = { turns: 0, summaries: 0, facts: 0 };
  for (const result of found) {
    // A fact may have gone with a copy of it that was named as well.
    const deleted = result.ok ? store.memories.deleteItem(result.value.id) : result;
    if (!deleted.ok) continue;
    sum.turns += deleted.value.turns;
    sum.summaries += deleted.value.summaries;
    sum.facts += deleted.value.facts;
  }
  return tellDeleted(surroundings, store, sum);
}

export interface PruneOptions {
  readonly days?: number | undefined;
  readonly mib?: number | undefined;
}

/** By the configuration's limits, or by those that are given. */
export async function pruneMemory(
  surroundings: Surroundings,
  { days, mib }: PruneOptions,
): Promise<ExitCode> {
  const configuration = surroundings.configuration();
  if (configuration === null) return EXIT.failed;
  const { retention } = configuration.memory;
  const age = days === undefined ? retention.age : days * DAY_MS;
  const bytes = mib === undefined ? retention.bytes : mib * MIB;
  if (age === null && bytes === null) return tell(surroundings, NO_LIMITS);
  // What is deleted for good is said by the user, or by a file that the user agreed to.
  const isFilesWord = days === undefined && mib === undefined;
  if (isFilesWord && !(await surroundings.agrees(configuration))) return EXIT.failed;
  return usingStore(surroundings, configuration, (store) =>
    tellDeleted(surroundings, store, store.memories.prune({ age, bytes })),
  );
}

export interface RekeyOptions {
  /** Of the new key; absent: the configured key is the new one. */
  readonly newKeyFile?: string | undefined;
  readonly none?: boolean | undefined;
}

/** Encrypts an existing store with the configured key, gives it another one, or takes it away. */
export async function rekeyMemory(
  surroundings: Surroundings,
  { newKeyFile, none = false }: RekeyOptions,
): Promise<ExitCode> {
  const configuration = surroundings.configuration();
  if (configuration === null || !(await mayOpen(surroundings, configuration))) return EXIT.failed;
  const configured = configuration.readKey();
  if (!configured.ok) return tell(surroundings, configured.fault);
  if (none && newKeyFile !== undefined) return tell(surroundings, ONE_KEY);
  const wanted =
    newKeyFile === undefined
      ? null
      : readStoreKey({ kind: 'file', path: newKeyFile }, surroundings.environment);
  if (wanted !== null && !wanted.ok) return tell(surroundings, wanted.fault);
  const next = none ? null : (wanted?.value ?? configured.value);
  if (!none && next === null) return tell(surroundings, NO_KEY);

  // A store in the clear is opened without the key that it is to get.
  const unsealed = openStore(configuration.dataFolder, Date.now);
  const opened = unsealed.ok
    ? unsealed
    : openStore(configuration.dataFolder, Date.now, { key: configured.value });
  if (!opened.ok)
    return tell(surroundings, fault('journal-unavailable', opened.fault.message, opened.fault.help));
  const store = opened.value;
  try {
    if (store.sessions.list().some(({ status }) => status === 'running')) return tell(surroundings, IN_USE);
    store.reseal(next);
    const isScrubbed = store.scrub();
    if (surroundings.wantsJson)
      surroundings.json({ kind: 'memory.rekeyed', encrypted: store.isSealed, scrubbed: isScrubbed });
    else {
      const how = store.isSealed ? 'encrypted with the new key' : 'in the clear';
      surroundings.output.say('', `all texts of ${store.file} are ${how}`);
      noteScrub(surroundings, isScrubbed);
    }
    return EXIT.done;
  } finally {
    store.close();
  }
}

function showItems(surroundings: Surroundings, items: readonly MemoryItem[]): void {
  const { output } = surroundings;
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

function tellDeleted(surroundings: Surroundings, store: Store, deleted: Deleted): ExitCode {
  const isScrubbed = store.scrub();
  if (surroundings.wantsJson) {
    surroundings.json({ kind: 'memory.deleted', ...deleted, scrubbed: isScrubbed });
    return EXIT.done;
  }
  surroundings.output.say('', `deleted: ${deletedInWords(deleted)}`);
  noteScrub(surroundings, isScrubbed);
  surroundings.notes.say(
    '',
    'the journal still contains what was said in each session; `cordon sessions delete` deletes that',
    'dim',
  );
  return EXIT.done;
}

function noteScrub(surroundings: Surroundings, isScrubbed: boolean): void {
  if (!isScrubbed)
    surroundings.notes.say(
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

function tell(surroundings: Surroundings, { message, help }: Pick<Fault, 'message' | 'help'>): ExitCode {
  surroundings.tellFault(fault('journal-unavailable', message, help));
  return EXIT.failed;
}

const WHAT_TO_DELETE: Fault = fault(
  'journal-unavailable',
  'nothing was named to delete',
  'name ids of items, or one of `--owner`, `--session` and `--everything`',
);
const NO_LIMITS: Fault = fault(
  'journal-unavailable',
  'no limit for age or size is set',
  'give `--days` or `--mib`, or set `memory.keepDays` or `memory.keepMiB` in the configuration',
);
const NO_KEY: Fault = fault(
  'journal-unavailable',
  'there is no key to encrypt with',
  'set `CORDON_KEY`, `CORDON_KEY_FILE` or `memory.key`; `openssl rand -base64 32` makes one',
);
const ONE_KEY: Fault = fault(
  'journal-unavailable',
  '`--new-key-file` and `--none` cannot be combined',
  'give only one of them',
);
const IN_USE: Fault = fault(
  'journal-unavailable',
  'a session is running, and its process does not know the new key',
  'end it first; `cordon sessions` lists those that run',
);
