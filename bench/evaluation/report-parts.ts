/**
 * What the reports of all benchmarks are made of: fields of records, shares and means, and the sections that show them.
 */
import { isJsonObject, type Json, type JsonObject } from '@cordon/core';
import type { Axis, Section } from './suite.ts';

type Of<Kind extends Section['kind']> = Extract<Section, { kind: Kind }>;

/** Where there is nothing to show. */
export const NONE = '–';

// Sections.

/** @param columns their heads in one text: `task | tokens in | tokens out` */
export function table(
  title: string,
  columns: string,
  rows: Of<'table'>['rows'],
  note: string | null = null,
): Section {
  return { kind: 'table', title, columns: columns.split('|').map((head) => head.trim()), rows, note };
}

export function bars(
  title: string,
  unit: string,
  series: Of<'bars'>['series'],
  of: Of<'bars'>['bars'],
): Section {
  return { kind: 'bars', title, unit, series, bars: of };
}

/** Named axes of one scale. */
export function lines(
  title: string,
  scale: Axis['scale'],
  [x, y]: readonly [x: string, y: string],
  of: Of<'lines'>['lines'],
): Section {
  return { kind: 'lines', title, x: { name: x, scale }, y: { name: y, scale }, lines: of };
}

// Shares and means.

export interface Share {
  readonly count: number;
  readonly of: number;
}

export function shareOf<Item>(items: readonly Item[], counts: (item: Item) => boolean): Share {
  return { count: items.filter(counts).length, of: items.length };
}

/** Null: a share of nothing. */
export function ratioOf({ count, of }: Share): number | null {
  return of === 0 ? null : count / of;
}

/** `98.4 %`. */
export function percent(share: Share): string {
  return asPercent(ratioOf(share));
}

export function asPercent(value: number | null): string {
  return value === null || Number.isNaN(value) ? NONE : `${(100 * value).toFixed(1)} %`;
}

/** Zero: of nothing. */
export function meanOf(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The items by their cause, the most frequent first. */
export function causesOf<Item>(
  items: readonly Item[],
  causeOf: (item: Item) => string,
): readonly (readonly [cause: string, items: readonly Item[]])[] {
  return [...Map.groupBy(items, causeOf)].sort(
    ([a, some], [b, others]) => others.length - some.length || (a < b ? -1 : 1),
  );
}

// Fields of records, which other versions may have written; null and undefined: there is no such record.

type Fields = JsonObject | null | undefined;

export function objectAt(record: Fields, key: string): JsonObject | null {
  const value = record?.[key];
  return value !== undefined && isJsonObject(value) ? value : null;
}

export function listAt(record: Fields, key: string): readonly Json[] {
  const value = record?.[key];
  return Array.isArray(value) ? value : [];
}

export function textAt(record: Fields, key: string): string {
  const value = record?.[key];
  return typeof value === 'string' ? value : '';
}

/** What is not known is no number. */
export function numberAt(record: Fields, key: string): number {
  const value = record?.[key];
  return typeof value === 'number' ? value : Number.NaN;
}

/** Zero: nothing was counted. */
export function countAt(record: Fields, key: string): number {
  return numberAt(record, key) || 0;
}
