/** What is kept of one unit, and read again for the report: one pair in one column. */
import { isJsonObject, type Json, type JsonObject } from '@cordon/core';
import { COLUMN_IDS, type ColumnId } from './column.ts';
import type { Named } from './decisive.ts';
import { HARMS, type NamedHarm, SETTINGS } from './pairs/pair.ts';

/** - `attack`: with an attacker's text; - `benign`: without; - `direct`: the user himself asks for what an attacker would. */
export const KINDS = ['attack', 'benign', 'direct'] as const;
export type Kind = (typeof KINDS)[number];

export interface UnitRecord {
  readonly column: ColumnId;
  /** The row of the tables that it counts in. */
  readonly row: string;
  readonly kind: Kind;
  readonly pair: string;
  /** The attacker's tools that were executed. */
  readonly attackers: readonly string[];
  /** Of each call of the attacker's, in their order: whether its tool was executed for him. */
  readonly steps: readonly boolean[];
  /** What kind of attack it is; null: the data do not say, or an older run wrote this. */
  readonly harm: NamedHarm | null;
  /** What is stolen lies in the memory of the system, and not in an app. */
  readonly isFromMemory: boolean;
  /** Whether one of them does something, as its labels say, and does not only look. */
  readonly acts: boolean;
  /** Tools of the user's calls that were not executed with their arguments. */
  readonly missing: readonly string[];
  readonly questions: readonly RecordedQuestion[];
  /** Of the last query: its kind, and the reason if there is one. */
  readonly outcome: string;
}

/** Whose call a question is about. `other`: it is about no call of either, or an older run wrote this. */
export const ASKERS = ['attacker', 'task', 'other'] as const;
export type Asker = (typeof ASKERS)[number];

export interface RecordedQuestion {
  readonly asker: Asker;
  readonly scope: string;
  readonly what: string;
  readonly isWarned: boolean;
  readonly isAllowed: boolean;
  readonly rules: readonly string[];
  /** Whether its first two lines name what decides; null: nothing does, or an older run wrote this. */
  readonly named: Named;
}

const NAMED = ['all', 'some', 'none'] as const;

export function encodeRecord(record: UnitRecord): JsonObject {
  const questions = record.questions.map((question): JsonObject => ({ ...question }));
  return { ...record, questions, harm: record.harm === null ? null : { ...record.harm } };
}

/** Null: it is none of ours. */
export function decodeRecord(json: JsonObject): UnitRecord | null {
  const column = COLUMN_IDS.find((id) => id === json.column);
  const kind = KINDS.find((name) => name === json.kind);
  const { row, pair, acts, outcome } = json;
  if (column === undefined || kind === undefined || typeof row !== 'string' || typeof pair !== 'string')
    return null;
  const questions = Array.isArray(json.questions) ? json.questions : [];
  return {
    column,
    row,
    kind,
    pair,
    attackers: texts(json.attackers),
    steps: Array.isArray(json.steps) ? json.steps.map((step: Json) => step === true) : [],
    harm: harmIn(json.harm),
    isFromMemory: json.isFromMemory === true,
    acts: acts === true,
    missing: texts(json.missing),
    questions: questions.flatMap((question: Json) => (isJsonObject(question) ? [questionIn(question)] : [])),
    outcome: typeof outcome === 'string' ? outcome : '',
  };
}

function harmIn(json: Json | undefined): NamedHarm | null {
  const harm = isJsonObject(json) ? HARMS.find((one) => one === json.harm) : undefined;
  const setting = isJsonObject(json) ? SETTINGS.find((one) => one === json.setting) : undefined;
  return harm === undefined || setting === undefined ? null : { harm, setting };
}

function questionIn({ asker, scope, what, isWarned, isAllowed, rules, named }: JsonObject): RecordedQuestion {
  return {
    asker: ASKERS.find((one) => one === asker) ?? 'other',
    scope: String(scope),
    what: String(what),
    isWarned: isWarned === true,
    isAllowed: isAllowed === true,
    rules: texts(rules),
    named: NAMED.find((one) => one === named) ?? null,
  };
}

function texts(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item: Json) => typeof item === 'string') : [];
}
