/**
 * The parts of a trace that a finding is about, as paths into the original input (specification 11): `2`,
 * `0.content`, `0.content:7-8`. Offsets count code points.
 *
 * It shows findings, and decides nothing.
 */
import {
  type Binding,
  EventObject,
  type Evidence,
  type Finding,
  isDictionary,
  type Located,
  type Path,
  partAt,
  type Span,
  type Value,
} from '@cordon/policy';

interface Part {
  readonly event: EventObject;
  readonly path: Path;
  /** Characters of a text; null: the whole. */
  readonly text: string | null;
  readonly span: Span;
}

/** A rule that matches every character of a megabyte says nothing more after these. */
const MAX_RANGES = 10_000;

/** In the order of the trace: an object before its parts, at one place what was noticed first. */
export function rangesOf({ evidence, bound, assigned }: Finding): readonly string[] {
  const parts: Part[] = [];
  for (const noticed of evidence) addNoticed(parts, noticed);
  for (const found of bound) {
    const part = whole(found);
    if (part !== null) parts.push(part);
  }
  for (const located of assigned) if ('event' in located) parts.push(wholeAt(located));
  if (parts.length > MAX_RANGES) parts.length = MAX_RANGES;
  if (parts.length > 1) parts.sort(byPlace);
  const offsets = new Offsets();
  const paths = parts.map(({ event, path, text, span }) => {
    const place = pathOf(event, path);
    return text === null ? place : `${place}:${offsets.of(text, span.start)}-${offsets.of(text, span.end)}`;
  });
  return paths.length > 1 ? [...new Set(paths)] : paths;
}

function addNoticed(parts: Part[], evidence: Evidence): void {
  if (evidence.kind === 'count')
    for (const found of evidence.counted().slice(0, MAX_RANGES)) {
      const part = whole(found);
      if (part !== null) parts.push(part);
    }
  if (evidence.kind !== 'range') return;
  const { event, path, text } = evidence;
  let left = MAX_RANGES;
  for (const span of evidence.spans()) {
    if (span.end <= span.start) continue;
    if (left-- === 0) return;
    parts.push({ event, path, text, span });
  }
}

const NO_SPAN: Span = { start: 0, end: 0 };
const NO_PATH: Path = [];

function whole({ entry, path, value, at }: Binding): Part | null {
  if (at != null && 'event' in at) return wholeAt(at);
  if (entry !== null) return wholeAt({ event: entry, path });
  return value instanceof EventObject ? wholeAt({ event: value, path: NO_PATH }) : null;
}

function wholeAt({ event, path }: Extract<Located, { event: EventObject }>): Part {
  return { event, path, text: null, span: NO_SPAN };
}

/** Where a part of an event stood in the input. */
function pathOf(event: EventObject, path: Path): string {
  if (path.length === 0) return event.reference;
  const [first, ...rest] = throughSchema(event, withoutTarget(event, path));
  // Other formats keep name and arguments beside each other.
  const isSpread = first === 'function' && event.event.parts !== undefined;
  if (first === undefined || isSpread) return event.reference;
  const own = event.event.parts?.[first] ?? chunkPath(event, first, rest);
  if (own !== null)
    return [own, ...(event.event.parts?.[first] === undefined ? rest.slice(1) : rest)].join('.');
  const isOfTarget = event.type === 'ToolCall' && (first === 'arguments' || first === 'name');
  return [event.reference, ...(isOfTarget ? ['function'] : []), first, ...rest].join('.');
}

/** `call.function.arguments` and `call.arguments` are one place, and what is chosen out of them stands there. */
function withoutTarget(event: EventObject, path: Path): Path {
  if (event.type !== 'ToolCall') return path;
  const [first, ...rest] = path;
  if (first === 'function' && rest.length > 0) return rest;
  if (first === 'identifying') return ['arguments', ...rest];
  return first === 'names' ? ['arguments'] : path;
}

/** A parameter of a tool is in its schema by its name. */
function throughSchema({ event }: EventObject, path: Path): Path {
  const [first, index, ...rest] = path;
  if (event.type !== 'Tool' || first !== 'inputSchema' || typeof index !== 'number') return path;
  return [first, 'properties', event.inputSchema[index]?.name ?? index, ...rest];
}

function chunkPath(event: EventObject, first: string | number, rest: Path): string | null {
  const content = 'content' in event.event ? event.event.content : null;
  const [index] = rest;
  if (first !== 'content' || typeof index !== 'number' || !Array.isArray(content)) return null;
  return content[index]?.path ?? null;
}

// ── the order of the walk ─────────────────────────────────────────────────────────────────────────────────────

/** The order of specification 4.2, after what every event has. */
const FIELD_ORDER = [
  ...['metadata', 'server', 'role', 'content', 'tool_call_id', 'id', 'type', 'function', 'name'],
  'arguments',
];

function byPlace(a: Part, b: Part): number {
  if (a.event !== b.event) return a.event.sequence - b.event.sequence;
  const [left, right] = [withoutTarget(a.event, a.path), withoutTarget(b.event, b.path)];
  let container: Value = a.event;
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const [x, y] = [left[index] ?? '', right[index] ?? ''];
    if (x !== y) return rank(container, x) - rank(container, y);
    container = partAt(container, x);
  }
  return left.length - right.length;
}

function rank(container: Value, key: string | number): number {
  if (typeof key === 'number') return key;
  const keys = isDictionary(container) ? Object.keys(container) : FIELD_ORDER;
  const found = keys.indexOf(key);
  return found < 0 ? keys.length : found;
}

/** UTF-16 offsets as code points; what was counted for a text is counted once. */
class Offsets {
  #text = '';
  /** Most texts have no pairs, and there both counts are one. */
  #isPlain = true;
  #unit = 0;
  #points = 0;

  of(text: string, unit: number): number {
    if (text !== this.#text) {
      this.#text = text;
      this.#isPlain = !/[\ud800-\udbff]/.test(text);
      this.#unit = 0;
      this.#points = 0;
    }
    if (this.#isPlain) return unit;
    if (unit < this.#unit) {
      this.#unit = 0;
      this.#points = 0;
    }
    while (this.#unit < unit) {
      this.#unit += (text.codePointAt(this.#unit) ?? 0) > 0xffff ? 2 : 1;
      this.#points++;
    }
    return this.#points;
  }
}
