/**
 * What the readers of code report: constructs that let a program reach further than its text shows, by the same kinds in
 * every language, so that one rule covers them all.
 */
import type { Finding, Stretch } from '../text/finding.ts';

/** Kinds of constructs, as rules compare them, with what each one means. */
export const CONSTRUCT_KINDS = {
  UNPARSEABLE: 'the text does not parse, so nothing is known of what it does',
  DYNAMIC_CODE: 'runs a text as code',
  DYNAMIC_IMPORT: 'loads a module by a name that is a value',
  DYNAMIC_ACCESS: 'reaches a member or variable by a name that is a value',
  INTROSPECTION: 'climbs from an object to the interpreter behind it',
  ENCODED_PAYLOAD: 'runs what it decodes first',
  PROCESS: 'starts another program',
  NATIVE_CODE: 'calls machine code past the language',
  DESERIALIZATION: 'builds objects from bytes that can carry code',
  NETWORK: 'talks to other machines',
  DOWNLOAD_AND_RUN: 'runs what it has just fetched',
  REVERSE_SHELL: 'ties a shell to a connection',
  FILE_WRITE: 'writes or moves files',
  FILE_DELETE: 'deletes files',
  DESTRUCTIVE: 'destroys a disk, a whole folder or the running system',
  SENSITIVE_FILE: 'names a file that holds credentials or runs at start',
  ENVIRONMENT: 'reads credentials from, or all of, the environment',
  PRIVILEGE: 'changes owners, rights or the user',
  PERSISTENCE: 'arranges to be run again later',
  INSTALL: 'installs software',
  DROP: 'drops or empties a table, schema or database',
  UNBOUNDED_DELETE: 'deletes every row',
  UNBOUNDED_UPDATE: 'changes every row',
  STACKED_STATEMENTS: 'holds more than one statement',
  CUTTING_COMMENT: 'cuts the rest of a statement off with a comment',
  UNION_SELECT: 'joins rows of another table to the answer',
  TAUTOLOGY: 'has a condition that is always true',
  TIME_DELAY: 'makes the server wait',
  SCHEMA_READ: 'reads the list of tables or accounts',
  SCHEMA_CHANGE: 'changes tables, functions or triggers',
  FILE_ACCESS: 'reads or writes files of the server',
  COMMAND_EXECUTION: 'runs commands on the server',
} as const;

export type ConstructKind = keyof typeof CONSTRUCT_KINDS;

/** A finding in code. `start` and `end` are those of the text that was given, also for code inside of code. */
export interface Construct extends Finding {
  readonly kind: ConstructKind;
}

/** Longer texts are not read: the rule that asks is undecided. In UTF-16 units. */
export const LONGEST_CODE = 1_048_576;

/** How deep code inside of code is followed; deeper, it counts as what does not parse. */
export const DEEPEST_CODE = 6;

/** What keeps a text from being code, and where. */
export interface Unparseable extends Stretch {
  readonly message: string;
}

/** What keeps a text from being read at all; null: nothing. */
export function unreadable(text: string, depth: number): Unparseable | null {
  const whole = { start: 0, end: text.length };
  if (text.length > LONGEST_CODE) return { ...whole, message: `more than ${LONGEST_CODE} characters` };
  return depth > DEEPEST_CODE ? { ...whole, message: 'code inside of code, too deep' } : null;
}

/** From a place to the end of a text. */
export function unparseableFrom(at: number, text: string, message: string): Unparseable {
  return { start: Math.max(0, Math.min(at, text.length - 1)), end: text.length, message };
}

/** What a reader of one language has found so far. */
export abstract class ConstructReader {
  readonly #found: Construct[] = [];

  add(kind: ConstructKind, confidence: number, { start, end }: Stretch, place: Place, reason?: string): void {
    this.#found.push({
      kind,
      confidence,
      reason: reason ?? CONSTRUCT_KINDS[kind],
      ...placed(place, start, end),
    });
  }

  /** Constructs whose stretches are those of the whole already. */
  addAll(found: readonly Construct[]): void {
    for (const construct of found) this.#found.push(construct);
  }

  protected constructs(): readonly Construct[] {
    return orderedConstructs(this.#found);
  }
}

/** One text that a reader goes through. */
export abstract class CodeText<Reader extends ConstructReader> {
  protected readonly reader: Reader;
  protected readonly place: Place;
  /** Of how many other codes it stands inside. */
  protected readonly depth: number;

  constructor(reader: Reader, place: Place, depth: number) {
    this.reader = reader;
    this.place = place;
    this.depth = depth;
  }

  add(kind: ConstructKind, confidence: number, stretch: Stretch, reason?: string): void {
    this.reader.add(kind, confidence, stretch, this.place, reason);
  }
}

/** Whether one of some places, which are in order, is in a stretch. */
export function isAnyWithin(places: readonly number[], { start, end }: Stretch): boolean {
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((places[middle] ?? 0) < start) low = middle + 1;
    else high = middle;
  }
  return (places[low] ?? Number.POSITIVE_INFINITY) < end;
}

/** Of each kind and place once, the surest, in order of their start. */
function orderedConstructs(found: Iterable<Construct>): readonly Construct[] {
  const kept = new Map<string, Construct>();
  for (const construct of found) {
    const key = `${construct.kind} ${construct.start} ${construct.end}`;
    const known = kept.get(key);
    if (known === undefined || known.confidence < construct.confidence) kept.set(key, construct);
  }
  return [...kept.values()].sort(
    (a, b) => a.start - b.start || a.end - b.end || (a.kind < b.kind ? -1 : a.kind > b.kind ? 1 : 0),
  );
}

/** Where a text inside of the code is in the whole: at an offset, or, if it was decoded, somewhere in a stretch. */
export type Place =
  | { readonly kind: 'at'; readonly offset: number }
  | ({ readonly kind: 'within' } & Stretch);

export const AT_THE_START: Place = { kind: 'at', offset: 0 };

/** The stretch of the whole that a stretch of the inner text stands for. */
export function placed(place: Place, start: number, end: number): Stretch {
  return place.kind === 'at'
    ? { start: place.offset + start, end: place.offset + end }
    : { start: place.start, end: place.end };
}

/** The place of a text inside of an inner text. */
export function inner(place: Place, start: number, end: number, isExact: boolean): Place {
  const outer = placed(place, start, end);
  return isExact && place.kind === 'at' ? { kind: 'at', offset: outer.start } : { kind: 'within', ...outer };
}
