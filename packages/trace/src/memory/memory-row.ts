/**
 * Rows of memory as they are read: columns to values, sealed texts opened in their places. The statements begin here, so
 * that the user's view (memory-archive.ts) and an owner's (memory.ts) read the same columns in the same way.
 *
 * Ring 0.
 */
import { id } from '@cordon/core';
import { numberOf, quoteText, type Row, textOf, textOrNull, unquoteText, wordOf } from '../database/row.ts';
import type { Seal } from '../database/seal.ts';
import {
  factPlace,
  holdsOthersValues,
  isCorrected,
  PLACE,
  summaryPlace,
  turnPlace,
} from '../database/sealed-column.ts';
import type { MemoryFact, MemoryOwner, Provenance, Summary, Turn } from './memory-item.ts';

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

export function ownerOf(text: string): MemoryOwner {
  const kind = WITHOUT_APP.find((candidate) => candidate === text);
  return kind === undefined ? { kind: 'spoke', app: id(unquoteText(text)) } : { kind };
}

export const SELECT_TURNS = `SELECT t.key, t.id, t.owner, s.id AS session, t.role, t.text, t.origin, t.source, t.integrity,
  t.confidentiality, t.time, t.others_values, t.corrected FROM turns t JOIN sessions s ON s.key = t.session`;
export const SELECT_SUMMARIES = `SELECT m.id, m.owner, s.id AS session, m.text, m.through, m.made_by, m.source, m.integrity,
  m.confidentiality, m.time, m.others_values, m.corrected FROM summaries m JOIN sessions s ON s.key = m.session`;
export const SELECT_FACTS = `SELECT f.id, f.owner, f.name, f.value, f.origin, f.source, f.integrity, f.confidentiality,
  f.learnt, f.time, f.corrected FROM facts f`;
/** The user's first, then trusted ones. */
export const FACT_ORDER = "ORDER BY f.name, f.learnt = 'observed', f.origin, f.integrity";

export function turnOf(seal: Seal): (row: Row) => Turn {
  return (row) => {
    const origin = textOrNull(row, 'origin');
    return {
      id: textOf(row, 'id'),
      session: id(textOf(row, 'session')),
      role: wordOf(row, 'role', ['user', 'assistant', 'tool']),
      text: unquoteText(seal.open(textOf(row, 'text'), turnPlace(row))),
      origin: origin === null ? null : id(unquoteText(origin)),
      ...sourceAndLabel(row),
      ...(holdsOthersValues(row) ? { holdsOthersValues: true } : {}),
      time: numberOf(row, 'time'),
    };
  };
}

export function summaryOf(seal: Seal): (row: Row) => Summary {
  return (row) => {
    return {
      id: textOf(row, 'id'),
      session: id(textOf(row, 'session')),
      text: unquoteText(seal.open(textOf(row, 'text'), summaryPlace(row))),
      madeBy: wordOf(row, 'made_by', ['model', 'extract']),
      ...sourceAndLabel(row),
      ...(holdsOthersValues(row) ? { holdsOthersValues: true } : {}),
      time: numberOf(row, 'time'),
    };
  };
}

export function factOf(seal: Seal): (row: Row) => MemoryFact {
  return (row) => {
    const origin = textOf(row, 'origin');
    const name = unquoteText(seal.open(textOf(row, 'name'), PLACE.factName(textOf(row, 'owner'))));
    return {
      id: textOf(row, 'id'),
      name,
      value: unquoteText(seal.open(textOf(row, 'value'), factPlace(row, name))),
      origin: origin === '' ? null : id(unquoteText(origin)),
      ...sourceAndLabel(row),
      learnt: wordOf(row, 'learnt', ['stated', 'observed']),
      time: numberOf(row, 'time'),
    };
  };
}

function sourceAndLabel(row: Row): Omit<Provenance, 'origin'> & { readonly isCorrected?: true } {
  const source = textOrNull(row, 'source');
  return {
    source: source === null ? null : id(source),
    label: {
      integrity: wordOf(row, 'integrity', ['trusted', 'untrusted']),
      confidentiality: wordOf(row, 'confidentiality', ['public', 'private']),
    },
    ...(isCorrected(row) ? { isCorrected: true } : {}),
  };
}
