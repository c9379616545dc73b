/**
 * Spans of an export, as a forest, and the order of their beginnings and ends.
 *
 * Recordings are read with it; the hub does not use it.
 */
import { isJsonObject, type Json, type JsonObject } from '@cordon/core';
import { isList, own } from '../reading/json.ts';
import { elementKeys } from '../reading/known-keys.ts';
import { join, type Reading } from '../reading/reading.ts';
import { attributesOf } from './located.ts';
import type { Span } from './span.ts';
import { checkWriter } from './span-keys.ts';

/** The beginning or the end of a span. */
export interface Moment {
  readonly span: Span;
  readonly isEnd: boolean;
}

/** A span as it was written, before its place is known. */
interface RawSpan {
  readonly value: JsonObject;
  readonly path: string;
  readonly id: string | null;
  readonly parentId: string | null;
  readonly start: bigint | null;
  readonly end: bigint | null;
  readonly index: number;
}

/** All beginnings and ends in the order of time; where times are equal or missing, in the order of the forest. */
export function momentsOf(reading: Reading, input: Json): readonly Moment[] {
  const raw = collect(reading, input).map(({ value, path }, index) => rawSpan(reading, value, path, index));
  if (reading.fault !== null) return [];
  const timed: { readonly moment: Moment; readonly time: bigint; readonly order: number }[] = [];
  walkForest(raw, (span, start, end) => {
    timed.push({ moment: { span, isEnd: false }, time: start, order: span.begun });
    timed.push({ moment: { span, isEnd: true }, time: end, order: span.ended });
  });
  timed.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : a.order - b.order));
  return timed.map(({ moment }) => moment);
}

// ── where spans stand ─────────────────────────────────────────────────────────────────────────────────────────

interface Placed {
  readonly value: Json;
  readonly path: string;
}

const RESOURCES = ['resourceSpans', 'resource_spans'] as const;
const WRITERS = ['resource', 'scope', 'instrumentationLibrary'] as const;
const SCOPES = ['scopeSpans', 'scope_spans', 'instrumentationLibrarySpans'] as const;

/** What stands around spans. Attack: calls in the log records of an export (`resourceLogs`), which no reader reads. */
const AROUND = elementKeys([...RESOURCES, ...SCOPES, ...WRITERS, 'spans'], {
  mark: ['traceId', 'schemaUrl', 'schema_url'],
  data: ['resourceMetrics', 'resource_metrics'],
});

function checkAround(reading: Reading, holder: JsonObject, path: string): void {
  reading.knows(holder, AROUND, path, 'an export of spans');
  for (const key of WRITERS) checkWriter(reading, holder, key, path);
}

function collect(reading: Reading, input: Json): readonly Placed[] {
  const found: Placed[] = [];
  const elements = isList(input) ? placedItems(input, '') : [{ value: input, path: '' }];
  for (const { value, path } of elements) {
    const holder = reading.object(value, path, 'a span');
    const resources = listsIn(reading, holder, path, RESOURCES);
    const isAround = !isList(input) || resources !== null || SCOPES.some((key) => Object.hasOwn(holder, key));
    if (isAround) checkAround(reading, holder, path);
    if (resources !== null) for (const resource of resources) fromResource(reading, resource, found);
    else if (listsIn(reading, holder, path, SCOPES) !== null) fromResource(reading, { value, path }, found);
    else if (!isList(input))
      for (const span of listsIn(reading, holder, path, ['spans']) ?? []) found.push(span);
    else found.push({ value, path });
    if (reading.fault !== null) break;
  }
  return found;
}

function fromResource(reading: Reading, { value, path }: Placed, found: Placed[]): void {
  const resource = reading.object(value, path, 'a resource');
  checkAround(reading, resource, path);
  for (const scope of listsIn(reading, resource, path, SCOPES) ?? []) {
    const spans = reading.object(scope.value, scope.path, 'a scope');
    checkAround(reading, spans, scope.path);
    for (const span of listsIn(reading, spans, scope.path, ['spans']) ?? []) found.push(span);
  }
}

/** The elements of the lists under `keys`; null: none of the keys is there. */
function listsIn(
  reading: Reading,
  from: JsonObject,
  path: string,
  keys: readonly string[],
): readonly Placed[] | null {
  const present = keys.filter((key) => own(from, key) !== undefined);
  if (present.length === 0) return null;
  return present.flatMap((key) => placedItems(reading.listAt(from, key, path), join(path, key)));
}

function placedItems(list: readonly Json[], path: string): readonly Placed[] {
  return list.map((value, index) => ({ value, path: join(path, index) }));
}

// ── what a span says ──────────────────────────────────────────────────────────────────────────────────────────

function rawSpan(reading: Reading, value: Json, path: string, index: number): RawSpan {
  const span = reading.object(value, path, 'a span');
  if (!SPAN_KEYS.some((key) => Object.hasOwn(span, key)))
    reading.wrong(path, 'a span has an id, or attributes');
  const context = own(span, 'context');
  const ids = isJsonObject(context) ? context : span;
  const parentContext = own(span, 'parentSpanContext');
  const parent = isJsonObject(parentContext) ? firstText(parentContext, SPAN_ID) : null;
  return {
    value: span,
    path,
    index,
    id: firstText(ids, SPAN_ID) ?? firstText(span, SPAN_ID),
    parentId: parent ?? firstText(span, ['parentSpanId', 'parent_span_id', 'parentId', 'parent_id']),
    start: timeOf(span, ['startTimeUnixNano', 'start_time_unix_nano', 'startTime', 'start_time']),
    end: timeOf(span, ['endTimeUnixNano', 'end_time_unix_nano', 'endTime', 'end_time']),
  };
}

const SPAN_KEYS = ['spanId', 'span_id', 'traceId', 'trace_id', 'context', 'attributes'] as const;

const SPAN_ID = ['spanId', 'span_id'] as const;

function firstText(from: JsonObject, keys: readonly string[]): string | null {
  for (const key of keys) {
    const text = own(from, key);
    // Exporters write the root's missing parent in many ways, and ids of one byte order with a prefix.
    if (typeof text === 'string' && text !== '' && !/^(0x)?0+$/.test(text)) return text.replace(/^0x/, '');
  }
  return null;
}

/** Nanoseconds, digits in a text or a number; a date with a fraction; or a pair of seconds and nanoseconds. */
function timeOf(span: JsonObject, keys: readonly string[]): bigint | null {
  for (const key of keys) {
    const value = own(span, key) ?? null;
    if (typeof value === 'number' && Number.isFinite(value)) return BigInt(Math.round(value));
    if (typeof value === 'string') {
      if (/^\d{1,20}$/.test(value)) return BigInt(value);
      return dateOf(value);
    }
    if (isList(value)) {
      const [seconds, nanos] = value;
      if (Number.isSafeInteger(seconds) && Number.isSafeInteger(nanos))
        return BigInt(Number(seconds)) * 1_000_000_000n + BigInt(Number(nanos));
    }
  }
  return null;
}

function dateOf(text: string): bigint | null {
  const [, fraction = ''] = /\.(\d{1,9})/.exec(text.slice(0, 40)) ?? [];
  const seconds = Date.parse(text.slice(0, 40).replace(/\.\d+/, ''));
  if (Number.isNaN(seconds)) return null;
  return BigInt(seconds) * 1_000_000n + BigInt(fraction.padEnd(9, '0'));
}

function linksOf(span: JsonObject): readonly string[] {
  const links = own(span, 'links');
  if (!isList(links)) return [];
  return links.flatMap((link) => {
    if (!isJsonObject(link)) return [];
    const context = own(link, 'context');
    const id = firstText(isJsonObject(context) ? context : link, SPAN_ID);
    return id === null ? [] : [id];
  });
}

// ── the forest ────────────────────────────────────────────────────────────────────────────────────────────────

/** Children by time, parents before them. Spans whose parents form a circle begin a tree where they stand first. */
function walkForest(raw: readonly RawSpan[], visit: (span: Span, start: bigint, end: bigint) => void): void {
  const byId = new Map<string, RawSpan>();
  for (const span of raw) if (span.id !== null && !byId.has(span.id)) byId.set(span.id, span);
  const children = Map.groupBy(raw, (span) => {
    const parent = span.parentId === null ? undefined : byId.get(span.parentId);
    return parent === span ? undefined : parent;
  });
  const visited = new Set<RawSpan>();
  let counter = 0;
  const visitTree = (root: RawSpan): void => {
    const open: Open[] = [opened(root, null, 0n, counter++)];
    visited.add(root);
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      top.children ??= byTime(children.get(top.raw) ?? []);
      const next = top.children[top.next++];
      if (next === undefined) {
        open.pop();
        top.ended = counter++;
        visit(top, top.start, top.raw.end !== null && top.raw.end > top.start ? top.raw.end : top.start);
      } else if (!visited.has(next)) {
        visited.add(next);
        open.push(opened(next, top, top.start, counter++));
      }
    }
  };
  for (const root of byTime(children.get(undefined) ?? [])) visitTree(root);
  for (const span of raw) if (!visited.has(span)) visitTree(span);
}

function byTime(spans: readonly RawSpan[]): readonly RawSpan[] {
  const time = ({ start }: RawSpan) => start ?? 0n;
  return [...spans].sort((a, b) => (time(a) < time(b) ? -1 : time(a) > time(b) ? 1 : a.index - b.index));
}

/** A span whose children are being visited. */
interface Open extends Span {
  readonly raw: RawSpan;
  readonly start: bigint;
  children: readonly RawSpan[] | null;
  next: number;
  ended: number;
}

function opened(raw: RawSpan, parent: Span | null, usualStart: bigint, begun: number): Open {
  const { value, path, id, index: _ } = raw;
  const name = own(value, 'name');
  const context = own(value, 'context');
  const ids = isJsonObject(context) ? context : value;
  return {
    raw,
    id,
    traceId: firstText(ids, ['traceId', 'trace_id']),
    parent,
    name: typeof name === 'string' ? name : '',
    attributes: attributesOf(value, path),
    value,
    path,
    links: linksOf(value),
    begun,
    ended: begun,
    start: raw.start ?? usualStart,
    children: null,
    next: 0,
  };
}
