/**
 * Which columns are sealed where the store has a key, and what each value is bound to. Writers and readers take the
 * place from here, so that the two cannot differ, and resealing walks the same list.
 *
 * INVARIANT (sealed columns): every column that can hold a word of the user, of a model or of an app is in this list;
 * a test holds it against the schema.
 *
 * Ring 0.
 */
import { numberOf, type Row, textOf, textOrNull, unquoteText } from './row.ts';
import type { Place, Seal } from './seal.ts';

/** What the text of a row of memory says besides: somebody who could change it would change what the text may do. */
export interface TurnColumns extends LabelColumns {
  readonly holdsOthersValues: boolean;
  readonly session: string;
  readonly role: string;
  readonly origin: string | null;
}

export interface SummaryColumns extends LabelColumns {
  readonly holdsOthersValues: boolean;
  readonly session: string;
  readonly madeBy: string;
  /** Up to which turn it goes. */
  readonly through: number;
}

export interface FactColumns extends LabelColumns {
  readonly name: string;
  readonly learnt: string;
  readonly origin: string;
}

interface LabelColumns {
  /** By the user; absent: no. */
  readonly isCorrected?: boolean;
  readonly source: string | null;
  readonly integrity: string;
  readonly confidentiality: string;
  readonly time: number;
}

export const PLACE = {
  /** Equal names of one owner are one fact, so they are looked up. */
  factName: (owner: string): Place => ['facts.name', owner],
  factValue: (owner: string, id: string, fact: FactColumns): Place => [
    'facts.value',
    owner,
    id,
    fact.name,
    fact.learnt,
    fact.origin,
    ...labelled(fact),
  ],
  turn: (owner: string, id: string, turn: TurnColumns): Place => [
    'turns.text',
    owner,
    id,
    turn.session,
    turn.role,
    turn.origin ?? '',
    ...labelled(turn),
    ...(turn.holdsOthersValues ? [OTHERS_VALUES] : []),
  ],
  summary: (owner: string, id: string, summary: SummaryColumns): Place => [
    'summaries.text',
    owner,
    id,
    summary.session,
    summary.madeBy,
    summary.through,
    ...labelled(summary),
    ...(summary.holdsOthersValues ? [OTHERS_VALUES] : []),
  ],
  event: (session: string, sequence: number): Place => ['events.event', session, sequence],
  /** A hash of a text confirms a guess of the text. */
  eventHash: (session: string, sequence: number): Place => ['events.hash', session, sequence],
  /** `isAcknowledged`: nobody takes the file of acknowledged events away and says that there was none. */
  head: (session: string, isAcknowledged: boolean): Place =>
    isAcknowledged ? ['sessions.head', session, 'acknowledged'] : ['sessions.head', session],
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
  check: (binding: Binding): Place =>
    binding === OWNER_ONLY ? ['seal.check_value'] : ['seal.check_value', binding],
} as const;

const OTHERS_VALUES = 'values of others';
const CORRECTED = 'corrected';

/** Of a row of turns, summaries or facts: the user has put another text there. */
export function isCorrected(row: Row): boolean {
  return numberOf(row, 'corrected') !== 0;
}

/** Of a row of turns or summaries. */
export function holdsOthersValues(row: Row): boolean {
  return numberOf(row, 'others_values') !== 0;
}

/** Of a row of sessions. */
export function isAcknowledged(row: Row): boolean {
  return numberOf(row, 'acknowledged') !== 0;
}

function labelled(columns: LabelColumns): readonly (string | number)[] {
  const { source, integrity, confidentiality, time, isCorrected = false } = columns;
  return [source ?? '', integrity, confidentiality, time, ...(isCorrected ? [CORRECTED] : [])];
}

/**
 * What texts of memory are bound to besides column and row: in a store that was sealed by an earlier version the owner only.
 * The check value is bound to the number, so that nobody can say that a store is such a one.
 */
export const OWNER_ONLY = 1;
export const WHOLE_ROW = 2;
export type Binding = typeof OWNER_ONLY | typeof WHOLE_ROW;

/** Places of rows as they are read, with the names that the columns have in the statements of memory-row.ts. */
export function turnPlace(row: Row): Place {
  return PLACE.turn(textOf(row, 'owner'), textOf(row, 'id'), {
    session: textOf(row, 'session'),
    role: textOf(row, 'role'),
    origin: textOrNull(row, 'origin'),
    holdsOthersValues: holdsOthersValues(row),
    ...labelColumns(row),
  });
}

export function summaryPlace(row: Row): Place {
  return PLACE.summary(textOf(row, 'owner'), textOf(row, 'id'), {
    session: textOf(row, 'session'),
    madeBy: textOf(row, 'made_by'),
    through: numberOf(row, 'through'),
    holdsOthersValues: holdsOthersValues(row),
    ...labelColumns(row),
  });
}

/** @param name in the clear */
export function factPlace(row: Row, name: string): Place {
  return PLACE.factValue(textOf(row, 'owner'), textOf(row, 'id'), {
    name,
    learnt: textOf(row, 'learnt'),
    origin: textOf(row, 'origin'),
    ...labelColumns(row),
  });
}

function labelColumns(row: Row): LabelColumns {
  return {
    source: textOrNull(row, 'source'),
    integrity: textOf(row, 'integrity'),
    confidentiality: textOf(row, 'confidentiality'),
    time: numberOf(row, 'time'),
    isCorrected: isCorrected(row),
  };
}

export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  readonly how: 'fresh' | 'alike' | 'bytes';
  /** SQL that reads what the place is made of; `t` is the table. */
  readonly row: string;
  /** `seal`: with which other columns of the row are closed at this moment. */
  readonly place: (row: Row, seal: Seal) => Place;
  /** Where it stood in a store of the first binding, if elsewhere. */
  readonly firstPlace?: (row: Row) => Place;
}

const SESSION_OF = '(SELECT s.id FROM sessions s WHERE s.key = t.session)';
const LABEL = 't.source, t.integrity, t.confidentiality, t.time, t.corrected';

/** A column that a place of others is made of comes after them: when they are sealed anew it is not yet. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  {
    table: 'facts',
    column: 'value',
    how: 'fresh',
    row: `t.owner, t.id, t.name, t.learnt, t.origin, ${LABEL}`,
    place: (row, seal) =>
      factPlace(row, unquoteText(seal.open(textOf(row, 'name'), PLACE.factName(textOf(row, 'owner'))))),
    firstPlace: (row) => ['facts.value', textOf(row, 'owner'), textOf(row, 'id')],
  },
  {
    table: 'facts',
    column: 'name',
    how: 'alike',
    row: 't.owner',
    place: (row) => PLACE.factName(textOf(row, 'owner')),
  },
  {
    table: 'turns',
    column: 'text',
    how: 'fresh',
    row: `t.owner, t.id, ${SESSION_OF} AS session, t.role, t.origin, t.others_values, ${LABEL}`,
    place: turnPlace,
    firstPlace: (row) => ['turns.text', textOf(row, 'owner'), textOf(row, 'id')],
  },
  {
    table: 'summaries',
    column: 'text',
    how: 'fresh',
    row: `t.owner, t.id, ${SESSION_OF} AS session, t.made_by, t.through, t.others_values, ${LABEL}`,
    place: summaryPlace,
    firstPlace: (row) => ['summaries.text', textOf(row, 'owner'), textOf(row, 'id')],
  },
  {
    table: 'events',
    column: 'event',
    how: 'fresh',
    row: `${SESSION_OF} AS session, t.sequence`,
    place: (row) => PLACE.event(textOf(row, 'session'), numberOf(row, 'sequence')),
  },
  {
    table: 'events',
    column: 'hash',
    how: 'bytes',
    row: `${SESSION_OF} AS session, t.sequence`,
    place: (row) => PLACE.eventHash(textOf(row, 'session'), numberOf(row, 'sequence')),
  },
  {
    table: 'sessions',
    column: 'head',
    how: 'bytes',
    row: 't.id, t.acknowledged',
    place: (row) => PLACE.head(textOf(row, 'id'), isAcknowledged(row)),
  },
  {
    table: 'sessions',
    column: 'first_query',
    how: 'fresh',
    row: 't.id',
    place: (row) => PLACE.firstQuery(textOf(row, 'id')),
  },
  { table: 'grants', column: 'subject', how: 'alike', row: 't.key', place: PLACE.subject },
  { table: 'grants', column: 'digest', how: 'alike', row: 't.key', place: PLACE.digest },
  { table: 'grant_flows', column: 'flow', how: 'alike', row: 't.granted', place: PLACE.flow },
  {
    table: 'prompts',
    column: 'question',
    how: 'fresh',
    row: 't.id',
    place: (row) => PLACE.question(textOf(row, 'id')),
  },
  {
    table: 'prompts',
    column: 'answer',
    how: 'fresh',
    row: 't.id',
    place: (row) => PLACE.answer(textOf(row, 'id')),
  },
  { table: 'prompts', column: 'fingerprint', how: 'alike', row: 't.key', place: PLACE.fingerprint },
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
