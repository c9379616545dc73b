/**
 * Rows of memory: columns to values, sealed texts opened in their places. The statements begin here, so
 * that the user's view (memory-archive.ts) and an owner's (memory.ts) read the same columns in the same way.
 */
import { id } from '@cordon/core';
import type { Database } from '../database/database.ts';
import { numberOf, quoteText, type Row, textOf, textOrNull, unquoteText, wordOf } from '../database/row.ts';
import type { Seal } from '../database/seal.ts';
import { factNameOf, isSet, placeOf } from '../database/sealed-column.ts';
import type { Kept, MemoryFact, MemoryOwner, Provenance, Summary, Turn } from './memory-item.ts';

const WITHOUT_APP = ['system', 'vanilla', 'shared'] as const;

/** An app's is quoted, so no name of an app is one of the words. */
export function ownerText(owner: MemoryOwner): string {
  switch (owner.kind) {
    case 'system':
    case 'vanilla':
    case 'shared':
      return owner.kind;
    case 'spoke':
      return quoteText(owner.app);
  }
}

export function ownerOf(row: Row): MemoryOwner {
  const text = textOf(row, 'owner');
  const kind = WITHOUT_APP.find((candidate) => candidate === text);
  return kind === undefined ? { kind: 'spoke', app: id(unquoteText(text)) } : { kind };
}

export const SELECT_TURNS = `SELECT t.key, t.id, t.owner, s.id AS session, t.role, t.text, t.origin, t.source, t.integrity,
  t.confidentiality, t.time, t.others_values, t.corrected FROM turns t JOIN sessions s ON s.key = t.session`;
export const SELECT_SUMMARIES = `SELECT t.id, t.owner, s.id AS session, t.text, t.through, t.made_by, t.source, t.integrity,
  t.confidentiality, t.time, t.others_values, t.corrected FROM summaries t JOIN sessions s ON s.key = t.session`;
export const SELECT_FACTS = `SELECT t.id, t.owner, t.name, t.value, t.origin, t.source, t.integrity, t.confidentiality,
  t.learnt, t.time, t.corrected FROM facts t`;
/** The user's first, then trusted ones. */
export const FACT_ORDER = "ORDER BY t.name, t.learnt = 'observed', t.origin, t.integrity";

export function turnOf(seal: Seal): (row: Row) => Turn {
  return (row) => {
    const origin = textOrNull(row, 'origin');
    return {
      id: textOf(row, 'id'),
      session: id(textOf(row, 'session')),
      role: wordOf(row, 'role', ['user', 'assistant', 'tool']),
      text: unquoteText(seal.open(textOf(row, 'text'), placeOf('turns.text', row))),
      origin: origin === null ? null : id(unquoteText(origin)),
      ...sourceAndLabel(row),
      ...(isSet(row, 'others_values') ? { holdsOthersValues: true } : {}),
      time: numberOf(row, 'time'),
    };
  };
}

export function summaryOf(seal: Seal): (row: Row) => Summary {
  return (row) => ({
    id: textOf(row, 'id'),
    session: id(textOf(row, 'session')),
    text: unquoteText(seal.open(textOf(row, 'text'), placeOf('summaries.text', row))),
    madeBy: wordOf(row, 'made_by', ['model', 'extract']),
    ...sourceAndLabel(row),
    ...(isSet(row, 'others_values') ? { holdsOthersValues: true } : {}),
    time: numberOf(row, 'time'),
  });
}

export function factOf(seal: Seal): (row: Row) => MemoryFact {
  return (row) => {
    const origin = textOf(row, 'origin');
    const name = factNameOf(row, seal);
    return {
      id: textOf(row, 'id'),
      name,
      value: unquoteText(seal.open(textOf(row, 'value'), placeOf('facts.value', { ...row, name }))),
      origin: origin === '' ? null : id(unquoteText(origin)),
      ...sourceAndLabel(row),
      learnt: wordOf(row, 'learnt', ['stated', 'observed']),
      time: numberOf(row, 'time'),
    };
  };
}

/** Sealed names have no order of their own; the sort is stable, so that of one name it stays as it is. */
export function byName<F extends MemoryFact>(facts: readonly F[]): readonly F[] {
  return [...facts].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** A fact that is to be kept, by the names of its columns. Its name is in the clear. */
export type FactRow = Readonly<
  Record<'id' | 'owner' | 'name' | 'origin' | 'integrity' | 'confidentiality' | 'learnt', string> & {
    source: string | null;
    time: number;
    corrected: number;
  }
>;

/** Inside `write`: a fact goes that is known under the same name, of the same kind, origin and integrity. */
export function replaceFact(database: Database, row: FactRow, value: string): void {
  const { seal } = database;
  const name = seal.closeAlike(quoteText(row.name), placeOf('facts.name', row));
  database.run(
    'DELETE FROM facts WHERE owner = ? AND name = ? AND learnt = ? AND origin = ? AND integrity = ?',
    ...[row.owner, name, row.learnt, row.origin, row.integrity],
  );
  const sealed = seal.close(quoteText(value), placeOf('facts.value', row));
  database.insert('facts', { ...row, name, value: sealed });
}

function sourceAndLabel(row: Row): Omit<Provenance, 'origin'> & Kept {
  const source = textOrNull(row, 'source');
  return {
    source: source === null ? null : id(source),
    label: {
      integrity: wordOf(row, 'integrity', ['trusted', 'untrusted']),
      confidentiality: wordOf(row, 'confidentiality', ['public', 'private']),
    },
    ...(isSet(row, 'corrected') ? { isCorrected: true } : {}),
  };
}
