/**
 * Which columns are sealed where the store has a key, and what each value is bound to. Writers and readers take the
 * place from here, so that the two cannot differ, and resealing walks the same list.
 *
 * INVARIANT (sealed columns): every column that can hold a word of the user, of a model or of an app is in this list;
 * a test holds it against the schema.
 */
import { MalformedRow, numberOf, type Row, textOf, unquoteText } from './row.ts';
import type { Place, Seal } from './seal.ts';

interface Sealing {
  readonly how: 'fresh' | 'alike' | 'bytes';
  /** Columns of the same row; `session` is the id of the session, and a flag counts where it is set. */
  readonly boundTo: readonly string[];
}

/** What the text of a row of memory says besides: somebody who could change it would change what the text may do. */
const LABEL = ['source', 'integrity', 'confidentiality', 'time', 'corrected'];

/** A column to which others are bound comes after them: when they are sealed anew it is not yet. */
const SEALINGS = {
  'facts.value': { how: 'fresh', boundTo: ['owner', 'id', 'name', 'learnt', 'origin', ...LABEL] },
  /** Equal names of one owner are one fact, so they are looked up. */
  'facts.name': { how: 'alike', boundTo: ['owner'] },
  'turns.text': {
    how: 'fresh',
    boundTo: ['owner', 'id', 'session', 'role', 'origin', ...LABEL, 'others_values'],
  },
  'summaries.text': {
    how: 'fresh',
    boundTo: ['owner', 'id', 'session', 'made_by', 'through', ...LABEL, 'others_values'],
  },
  'events.event': { how: 'fresh', boundTo: ['session', 'sequence'] },
  /** A hash of a text confirms a guess of the text. */
  'events.hash': { how: 'bytes', boundTo: ['session', 'sequence'] },
  /** `acknowledged`: nobody takes the file of acknowledged events away and says that there was none. */
  'sessions.head': { how: 'bytes', boundTo: ['id', 'acknowledged'] },
  'sessions.first_query': { how: 'fresh', boundTo: ['id'] },
  /** A grant is found by its whole subject. */
  'grants.subject': { how: 'alike', boundTo: [] },
  'grants.digest': { how: 'alike', boundTo: [] },
  /** Of a source and a recipient. */
  'grant_flows.flow': { how: 'alike', boundTo: [] },
  'prompts.question': { how: 'fresh', boundTo: ['id'] },
  'prompts.answer': { how: 'fresh', boundTo: ['id'] },
  /** Of the question and its data: a question is taken up again by it. */
  'prompts.fingerprint': { how: 'alike', boundTo: [] },
  'logins.secret': { how: 'fresh', boundTo: ['place', 'app'] },
} as const satisfies Readonly<Record<string, Sealing>>;

type SealedName = keyof typeof SEALINGS;

export interface SealedColumn extends Sealing {
  readonly name: SealedName;
  readonly table: string;
  readonly column: string;
}

export const SEALED_COLUMNS: readonly SealedColumn[] = Object.entries(SEALINGS).map(([name, sealing]) => {
  const [table = '', column = ''] = name.split('.');
  return { name: name as SealedName, table, column, ...sealing };
});

/**
 * What texts of memory are bound to besides column and row: in a store that was sealed by an earlier version the owner only.
 * The check value is bound to the number, so that nobody can say that a store is such a one.
 */
export const OWNER_ONLY = 1;
export const WHOLE_ROW = 2;
export type Binding = typeof OWNER_ONLY | typeof WHOLE_ROW;

/** The columns of a row that name its owner and itself; the first binding knew no others. */
const NAMES_OF_ROW = 2;

/** @param row a fact's has its name in the clear */
export function placeOf(name: SealedName, row: Row, binding: Binding = WHOLE_ROW): Place {
  const { boundTo }: Sealing = SEALINGS[name];
  const place: [string, ...(string | number)[]] = [name];
  for (const column of binding === OWNER_ONLY ? boundTo.slice(0, NAMES_OF_ROW) : boundTo) {
    const value = boundValue(row, column);
    if (value !== null) place.push(value);
  }
  return place;
}

/** Flags of a row in the words of a place. */
const FLAGS: ReadonlyMap<string, string> = new Map([
  ['corrected', 'corrected'],
  ['others_values', 'values of others'],
  ['acknowledged', 'acknowledged'],
]);

/** Columns that may be empty. A row in which any other is has lost its session, or was damaged. */
const MAY_BE_NULL: ReadonlySet<string> = new Set(['origin', 'source']);

/** Null: a flag that is not set. */
function boundValue(row: Row, column: string): string | number | null {
  const flag = FLAGS.get(column);
  if (flag !== undefined) return isSet(row, column) ? flag : null;
  const value = row[column] === null && MAY_BE_NULL.has(column) ? '' : row[column];
  if (typeof value !== 'string' && typeof value !== 'number')
    throw new MalformedRow(`column \`${column}\` is neither text nor a number`);
  return value;
}

/** Of a column that is 0 or 1. */
export function isSet(row: Row, flag: string): boolean {
  return numberOf(row, flag) !== 0;
}

const SESSION_OF = '(SELECT s.id FROM sessions s WHERE s.key = t.session) AS session';

/** SQL for the columns to which a value is bound, and for the value; `t` is the table. */
export function boundColumns({ column, boundTo }: SealedColumn): string {
  const bound = boundTo.map((name) => (name === 'session' ? SESSION_OF : `t.${name}`));
  return [...bound, 't.rowid AS sealed_at', `t.${column} AS sealed_value`].join(', ');
}

/** A row that was read with them, as `placeOf` takes it. `seal`: with which its other columns are closed. */
export function boundRow({ name }: SealedColumn, row: Row, seal: Seal): Row {
  return name === 'facts.value' ? { ...row, name: factNameOf(row, seal) } : row;
}

export function factNameOf(row: Row, seal: Seal): string {
  return unquoteText(seal.open(textOf(row, 'name'), placeOf('facts.name', row)));
}

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
