/**
 * The types that variables of rules range over, and their fields (specification 4.2, with the additions for the
 * hub-and-spoke world).
 *
 * Ring 0.
 */

export interface ObjectType {
  /** Field to the kind of its value; null: several kinds are possible. */
  readonly fields: ReadonlyMap<string, string | null>;
  /** Whether the seed language lacks the type. */
  readonly isAddition: boolean;
  readonly isEvent: boolean;
}

/** On every event besides its own fields. */
const EVENT_FIELDS: Readonly<Record<string, string | null>> = {
  id: null,
  metadata: 'dict',
  app: null,
  context: 'str',
  labels: 'list',
};

/** What the seed language does not have: the fields that `--dialect invariant` refuses. */
export const ADDED_FIELDS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['Message', new Set(['id', 'app', 'context', 'labels'])],
  ['ToolCall', new Set(['app', 'context', 'labels', 'name', 'arguments', 'irreversible'])],
  ['ToolOutput', new Set(['id', 'app', 'context', 'labels', 'error', 'structured'])],
  ['Tool', new Set(['id', 'app', 'context', 'labels', 'metadata'])],
]);

function event(fields: Readonly<Record<string, string | null>>, isAddition = false): ObjectType {
  return { fields: new Map(Object.entries({ ...EVENT_FIELDS, ...fields })), isAddition, isEvent: true };
}

function part(fields: Readonly<Record<string, string | null>>): ObjectType {
  return { fields: new Map(Object.entries(fields)), isAddition: false, isEvent: false };
}

const EXCHANGE = { from: null, to: null, functionality: 'str', message: null };

export const OBJECT_TYPES: ReadonlyMap<string, ObjectType> = new Map([
  ['Message', event({ role: 'str', content: null, tool_calls: 'list' })],
  [
    'ToolCall',
    event({ type: 'str', function: 'Function', name: 'str', arguments: 'dict', irreversible: 'bool' }),
  ],
  ['ToolOutput', event({ role: 'str', content: null, tool_call_id: null, error: 'bool', structured: null })],
  ['Tool', event({ name: 'str', description: 'str', inputSchema: 'list', server: null })],
  ['AppRequest', event(EXCHANGE, true)],
  ['AppResponse', event(EXCHANGE, true)],
  ['DataRelease', event({ to: null, items: 'list' }, true)],
  ['Egress', event({ method: 'str', host: 'str', port: 'int', path: null }, true)],
  ['Plan', event({ steps: 'list', candidates: 'list', origin: 'str' }, true)],
  ['Function', part({ name: 'str', arguments: 'dict' })],
  ['TextChunk', part({ type: 'str', text: 'str' })],
  ['Image', part({ type: 'str', image_url: 'dict' })],
  [
    'ToolParameter',
    part({
      type: 'str',
      name: 'str',
      description: 'str',
      required: 'bool',
      properties: null,
      additionalProperties: null,
      items: null,
      enum: null,
    }),
  ],
]);

/** Types of plain values that a variable can range over. */
export const PLAIN_TYPES: ReadonlySet<string> = new Set(['str', 'int', 'float', 'bool', 'list', 'dict']);

/** Names that resolve as a type and that no object of a trace has. */
const EMPTY_TYPES: ReadonlySet<string> = new Set(['Event', 'Input', 'LLM', 'Contents']);

export function isTypeName(name: string): boolean {
  return OBJECT_TYPES.has(name) || PLAIN_TYPES.has(name) || EMPTY_TYPES.has(name);
}

/** The nearest known name within two edits, to suggest it; null: nothing is near. */
export function nearest(name: string, known: Iterable<string>): string | null {
  let best: string | null = null;
  let least = 3;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= least) continue;
    const distance = editDistance(name.slice(0, 64), candidate.slice(0, 64));
    if (distance < least && distance < Math.max(name.length, candidate.length) / 2) {
      best = candidate;
      least = distance;
    }
  }
  return best;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
