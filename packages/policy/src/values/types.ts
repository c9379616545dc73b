/**
 * The types that variables of rules range over, and their fields (specification 4.2, with the additions for the
 * hub-and-spoke world); and what can be known of a value before there is a trace.
 */

/** The kinds that a value can be of, by the names that `kindOf` gives them. */
export interface Type {
  /** Null: any. */
  readonly kinds: ReadonlySet<string> | null;
  /** Of its elements, where it is a list; null: any. */
  readonly element: Type | null;
}

export const ANY: Type = { kinds: null, element: null };

const PLAIN = new Map<string, Type>();

/** The type of values of these kinds. */
export function typeOf(...kinds: readonly string[]): Type {
  const key = kinds.join(' ');
  let known = PLAIN.get(key);
  if (known === undefined) {
    known = { kinds: new Set(kinds), element: null };
    // Names of kinds are the language's own, so the table stays small.
    PLAIN.set(key, known);
  }
  return known;
}

export function listOf(element: Type): Type {
  return { kinds: LIST.kinds, element };
}

export const BOOL: Type = typeOf('bool');
export const INT: Type = typeOf('int');
export const STR: Type = typeOf('str');
export const LIST: Type = typeOf('list');
export const FUNCTION: Type = typeOf('function');
export const DICT: Type = typeOf('dict');
export const NUMBER: Type = typeOf('int', 'float');
export const TEXTS: Type = listOf(STR);
export const TEXT_OR_NONE: Type = typeOf('str', 'None');
const INT_OR_NONE = typeOf('int', 'None');

/** What is of one of two types. */
export function union(a: Type, b: Type): Type {
  if (a === b) return a;
  if (a.kinds === null || b.kinds === null) return ANY;
  const element = a.kinds.has('list')
    ? b.kinds.has('list')
      ? a.element === null || b.element === null
        ? null
        : union(a.element, b.element)
      : a.element
    : b.element;
  return { kinds: new Set([...a.kinds, ...b.kinds]), element };
}

/** Whether a value of the type can be of a kind. */
export function canBe(type: Type, ...kinds: readonly string[]): boolean {
  const own = type.kinds;
  return own === null || kinds.some((kind) => own.has(kind));
}

/** Kinds that have no name in policies, in words. */
const SPOKEN: Readonly<Record<string, string>> = {
  Contents: 'list of chunks',
  Function: "call's `function`",
  input: 'set of parameters',
};

/** `str`, `str or None`, `str, list of chunks or None`. */
export function typeName(type: Type): string {
  const kinds = [...(type.kinds ?? ['value'])].map((kind) => SPOKEN[kind] ?? kind);
  const last = kinds.pop() ?? 'value';
  return kinds.length === 0 ? last : `${kinds.join(', ')} or ${last}`;
}

/** `a str`, `an int`, `None`. */
export function withArticle(type: Type): string {
  const name = typeName(type);
  if (name === 'None') return name;
  return /^[aeioAEIO]/.test(name) ? `an ${name}` : `a ${name}`;
}

export interface ObjectType {
  /** Field to what is known of its value. */
  readonly fields: ReadonlyMap<string, Type>;
  /** Whether the seed language lacks the type. */
  readonly isAddition: boolean;
  readonly isEvent: boolean;
}

/** On every event besides its own fields. */
const EVENT_FIELDS: Readonly<Record<string, Type>> = {
  id: TEXT_OR_NONE,
  metadata: DICT,
  app: TEXT_OR_NONE,
  context: STR,
  labels: TEXTS,
};

/** What the seed language does not have: the fields that `--dialect invariant` refuses. */
export const ADDED_FIELDS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['Message', new Set(['id', 'app', 'context', 'labels'])],
  [
    'ToolCall',
    new Set([
      ...['app', 'context', 'labels', 'name', 'arguments'],
      ...[
        'irreversible',
        'off_plan',
        'plan',
        'planned',
        'read_only',
        'outward',
        'identifying',
        'identified',
        'may_leave',
        'names',
      ],
    ]),
  ],
  ['ToolOutput', new Set(['id', 'app', 'context', 'labels', 'error', 'structured'])],
  ['Tool', new Set(['id', 'app', 'context', 'labels', 'metadata'])],
]);

function event(fields: Readonly<Record<string, Type>>, isAddition = false): ObjectType {
  // Its own first: they are what a misspelt name means most often.
  return { fields: new Map(Object.entries({ ...fields, ...EVENT_FIELDS })), isAddition, isEvent: true };
}

function part(fields: Readonly<Record<string, Type>>): ObjectType {
  return { fields: new Map(Object.entries(fields)), isAddition: false, isEvent: false };
}

const EXCHANGE = { from: TEXT_OR_NONE, to: TEXT_OR_NONE, functionality: STR, message: ANY };

export const OBJECT_TYPES: ReadonlyMap<string, ObjectType> = new Map([
  [
    'Message',
    event({
      role: STR,
      content: typeOf('str', 'Contents', 'None'),
      tool_calls: listOf(typeOf('ToolCall')),
    }),
  ],
  [
    'ToolCall',
    event({
      type: STR,
      function: typeOf('Function'),
      name: STR,
      arguments: DICT,
      irreversible: BOOL,
      off_plan: BOOL,
      plan: STR,
      planned: LIST,
      read_only: BOOL,
      outward: BOOL,
      identifying: DICT,
      identified: BOOL,
      may_leave: BOOL,
      names: TEXTS,
    }),
  ],
  [
    'ToolOutput',
    event({
      role: STR,
      content: typeOf('str', 'Contents', 'dict', 'None'),
      tool_call_id: TEXT_OR_NONE,
      error: BOOL,
      structured: ANY,
    }),
  ],
  [
    'Tool',
    event({
      name: STR,
      description: STR,
      inputSchema: listOf(typeOf('ToolParameter')),
      server: TEXT_OR_NONE,
    }),
  ],
  ['AppRequest', event(EXCHANGE, true)],
  ['AppResponse', event(EXCHANGE, true)],
  ['DataRelease', event({ to: TEXT_OR_NONE, items: listOf(DICT) }, true)],
  [
    'Egress',
    event(
      { method: STR, host: STR, port: INT, path: TEXT_OR_NONE, bytes: INT_OR_NONE, own_only: BOOL },
      true,
    ),
  ],
  ['Endorsement', event({ values: listOf(DICT) }, true)],
  ['Plan', event({ steps: LIST, candidates: TEXTS, origin: STR }, true)],
  [
    'Origin',
    {
      ...part({
        kind: STR,
        match: STR,
        app: TEXT_OR_NONE,
        tool: TEXT_OR_NONE,
        context: TEXT_OR_NONE,
        labels: TEXTS,
        event: TEXT_OR_NONE,
        whole: BOOL,
        record: BOOL,
        text: TEXT_OR_NONE,
        around: TEXT_OR_NONE,
        asked: TEXTS,
        led_by_text: BOOL,
        others: TEXTS,
        beside: TEXTS,
        names: BOOL,
        place: BOOL,
      }),
      isAddition: true,
    },
  ],
  ['Function', part({ name: STR, arguments: DICT })],
  ['TextChunk', part({ type: STR, text: STR })],
  ['Image', part({ type: STR, image_url: DICT })],
  [
    'ToolParameter',
    part({
      type: STR,
      name: STR,
      description: STR,
      required: BOOL,
      properties: ANY,
      additionalProperties: ANY,
      items: ANY,
      enum: ANY,
    }),
  ],
]);

// ── names of types ────────────────────────────────────────────────────────────────────────────────────────────

/** Types of plain values that a variable can range over. */
export const PLAIN_TYPES: ReadonlySet<string> = new Set(['str', 'int', 'float', 'bool', 'list', 'dict']);

/** Names that resolve as a type and that no object of a trace has. */
export const EMPTY_TYPES: ReadonlySet<string> = new Set(['Event', 'Input', 'LLM', 'Contents']);

export function isTypeName(name: string): boolean {
  return OBJECT_TYPES.has(name) || PLAIN_TYPES.has(name) || EMPTY_TYPES.has(name);
}

/** What a variable or parameter that is declared with this name can be. */
export function declaredType(name: string): Type {
  const isKnown = OBJECT_TYPES.has(name) || PLAIN_TYPES.has(name) || name === 'Contents';
  return isKnown ? typeOf(name) : ANY;
}

/**
 * The nearest known name within two edits, to suggest it; of several the one that begins alike the longest, and then the
 * first. Null: nothing is near.
 */
export function nearest(name: string, known: Iterable<string>): string | null {
  let best: string | null = null;
  let least = 2;
  let alike = -1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) > least) continue;
    const distance = editDistance(name.slice(0, 64), candidate.slice(0, 64));
    if (distance > least || distance >= Math.max(name.length, candidate.length) / 2) continue;
    const common = commonBeginning(name, candidate);
    if (distance === least && common <= alike) continue;
    best = candidate;
    least = distance;
    alike = common;
  }
  return best;
}

function commonBeginning(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

/** Letters left out, added, changed, or changed with their neighbour. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwap ? (before[j - 2] ?? 0) + 1 : change;
      next.push(Math.min(change, swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row[b.length] ?? 0;
}
