/**
 * Which columns are sealed where the store has a key, and what each value is bound to. Writers and readers take the
 * place from here, so that the two cannot differ, and resealing walks the same list.
 *
 * INVARIANT (sealed columns): every column that can hold a word of the user, of a model or of an app is in this list;
 * a test holds it against the schema.
 *
 * Ring 0.
 */
import type { Place } from './seal.ts';

export const PLACE = {
  /** Equal names of one owner are one fact, so they are looked up. */
  factName: (owner: string): Place => ['facts.name', owner],
  factValue: (owner: string, id: string): Place => ['facts.value', owner, id],
  turn: (owner: string, id: string): Place => ['turns.text', owner, id],
  summary: (owner: string, id: string): Place => ['summaries.text', owner, id],
  event: (session: string, sequence: number): Place => ['events.event', session, sequence],
  /** A hash of a text confirms a guess of the text. */
  eventHash: (session: string, sequence: number): Place => ['events.hash', session, sequence],
  head: (session: string): Place => ['sessions.head', session],
  firstQuery: (session: string): Place => ['sessions.first_query', session],
  /** A grant is found by its whole subject. */
  subject: (): Place => ['grants.subject'],
  digest: (): Place => ['grants.digest'],
  /** Of a source and a recipient. */
  flow: (): Place => ['grant_flows.flow'],
  question: (prompt: string): Place => ['prompts.question', prompt],
  answer: (prompt: string): Place => ['prompts.answer', prompt],
  /** Of the question and its data: a question is taken up again by it. */
  fingerprint: (): Place => ['prompts.fingerprint'],
  check: (): Place => ['seal.check_value'],
} as const;

export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  readonly how: 'fresh' | 'alike' | 'bytes';
  /** SQL that reads what the place is made of, as `a` and `b`; `t` is the table. */
  readonly row: { readonly a: string; readonly b: string };
  readonly place: (a: string, b: string) => Place;
}

const SESSION_OF = '(SELECT s.id FROM sessions s WHERE s.key = t.session)';
const NONE = { a: "''", b: "''" };

export const SEALED_COLUMNS: readonly SealedColumn[] = [
  {
    table: 'facts',
    column: 'name',
    how: 'alike',
    row: { a: 't.owner', b: "''" },
    place: (a) => PLACE.factName(a),
  },
  {
    table: 'facts',
    column: 'value',
    how: 'fresh',
    row: { a: 't.owner', b: 't.id' },
    place: (a, b) => PLACE.factValue(a, b),
  },
  {
    table: 'turns',
    column: 'text',
    how: 'fresh',
    row: { a: 't.owner', b: 't.id' },
    place: (a, b) => PLACE.turn(a, b),
  },
  {
    table: 'summaries',
    column: 'text',
    how: 'fresh',
    row: { a: 't.owner', b: 't.id' },
    place: (a, b) => PLACE.summary(a, b),
  },
  {
    table: 'events',
    column: 'event',
    how: 'fresh',
    row: { a: SESSION_OF, b: 'CAST(t.sequence AS TEXT)' },
    place: (a, b) => PLACE.event(a, Number(b)),
  },
  {
    table: 'events',
    column: 'hash',
    how: 'bytes',
    row: { a: SESSION_OF, b: 'CAST(t.sequence AS TEXT)' },
    place: (a, b) => PLACE.eventHash(a, Number(b)),
  },
  {
    table: 'sessions',
    column: 'head',
    how: 'bytes',
    row: { a: 't.id', b: "''" },
    place: (a) => PLACE.head(a),
  },
  {
    table: 'sessions',
    column: 'first_query',
    how: 'fresh',
    row: { a: 't.id', b: "''" },
    place: (a) => PLACE.firstQuery(a),
  },
  { table: 'grants', column: 'subject', how: 'alike', row: NONE, place: () => PLACE.subject() },
  { table: 'grants', column: 'digest', how: 'alike', row: NONE, place: () => PLACE.digest() },
  { table: 'grant_flows', column: 'flow', how: 'alike', row: NONE, place: () => PLACE.flow() },
  {
    table: 'prompts',
    column: 'question',
    how: 'fresh',
    row: { a: 't.id', b: "''" },
    place: (a) => PLACE.question(a),
  },
  {
    table: 'prompts',
    column: 'answer',
    how: 'fresh',
    row: { a: 't.id', b: "''" },
    place: (a) => PLACE.answer(a),
  },
  { table: 'prompts', column: 'fingerprint', how: 'alike', row: NONE, place: () => PLACE.fingerprint() },
];

/** What a write with another seal than the store's is refused with. */
export const SEAL_CHANGED = 'the store has got another key';

/**
 * INVARIANT (nothing in the clear): a process that does not know of a key that the store was given meanwhile, and code
 * that forgets to seal, write nothing. Triggers of the connection, so that they also stand where a table was rebuilt.
 */
export function sealGuards(): string {
  return SEALED_COLUMNS.filter(({ how }) => how !== 'bytes')
    .flatMap(({ table, column }) =>
      ['INSERT', `UPDATE OF ${column}`].map(
        (
          change,
          index,
        ) => `CREATE TEMP TRIGGER sealed_${table}_${column}_${index} BEFORE ${change} ON main.${table}
          WHEN substr(NEW.${column}, 1, (SELECT length(mark) FROM main.seal)) <> (SELECT mark FROM main.seal)
            OR (NEW.${column} GLOB '~*' AND (SELECT mark FROM main.seal) = '')
          BEGIN SELECT RAISE(ABORT, '${SEAL_CHANGED}'); END;`,
      ),
    )
    .join('\n');
}
