/**
 * SQL code: its statements, the tables that they name, and the constructs that destroy, reach beyond the tables, or look
 * like an injected piece. Read by a reader of our own, for four servers at once; nothing is run.
 */

import type { Stretch } from '../../text/finding.ts';
import { wordList, wordSet } from '../../text/words.ts';
import {
  AT_THE_START,
  type Construct,
  type ConstructKind,
  ConstructReader,
  LONGEST_CODE,
  type Place,
} from '../construct.ts';
import { fencesOf } from '../fences.ts';
import { sensitivePath } from '../sensitive-path.ts';
import { functionDanger, isAccountTable } from './sql-dangers.ts';
import { shapeFault } from './sql-shape.ts';
import {
  DIALECTS,
  type SqlComment,
  type SqlDialect,
  type SqlFault,
  type SqlText,
  type SqlToken,
  sqlTokens,
} from './sql-tokens.ts';

export interface SqlCode {
  /** First words of the statements in capitals, in order. */
  readonly statements: readonly string[];
  /** Tables as they are named, in small letters, without quotes. */
  readonly tables: readonly string[];
  /** Why no server would take it; null: its shape is sound for at least one. */
  readonly syntaxError: string | null;
  readonly constructs: readonly Construct[];
}

export interface SqlOptions {
  /** Of the server that will get it; null: unknown, so it is read for all four and everything found counts. */
  readonly dialect?: SqlDialect | null;
}

const ALL: readonly SqlDialect[] = ['postgres', 'mysql', 'sqlite', 'mssql'];

export function isSqlDialect(name: string): name is SqlDialect {
  return Object.hasOwn(DIALECTS, name);
}

/** Reads a text as SQL, or what is in Markdown fences in it. Never throws. */
export function sqlCode(text: string, { dialect = null }: SqlOptions = {}): SqlCode {
  const reader = new SqlReader(dialect === null ? ALL : [dialect]);
  if (text.length > LONGEST_CODE) {
    reader.add('UNPARSEABLE', 1, { start: 0, end: text.length }, AT_THE_START);
    return reader.result(`more than ${LONGEST_CODE} characters`);
  }
  const fences = fencesOf(text, 'sql');
  let error: string | null = null;
  for (const { start, end } of fences.length === 0 ? [{ start: 0, end: text.length }] : fences)
    error = reader.read(text.slice(start, end), { kind: 'at', offset: start }) ?? error;
  return reader.result(error);
}

class SqlReader extends ConstructReader {
  private readonly dialects: readonly SqlDialect[];
  private readonly statements: string[] = [];
  readonly tables = new Set<string>();

  constructor(dialects: readonly SqlDialect[]) {
    super();
    this.dialects = dialects;
  }

  result(syntaxError: string | null): SqlCode {
    return {
      statements: this.statements,
      tables: [...this.tables].sort(),
      syntaxError,
      constructs: this.constructs(),
    };
  }

  /** What every server would refuse, else null. */
  read(text: string, place: Place): string | null {
    const readings = this.dialects.map((dialect) => {
      const tokens = sqlTokens(text, dialect);
      return { tokens, fault: faultOf(tokens) };
    });
    const sound = readings.filter(({ fault }) => fault === null);
    // The first is the one whose statements are listed; what any of them holds is reported.
    const [first] = sound.length > 0 ? sound : readings;
    if (first !== undefined)
      for (const tokens of first.tokens.statements) this.statements.push(verbOf(tokens));
    // Most texts are the same to all: read once.
    const seen = new Set<string>();
    for (const { tokens } of sound.length > 0 ? sound : readings) {
      const outline = outlineOf(tokens);
      if (!seen.has(outline)) new SqlFindings(this, text, tokens, place, 1).read();
      seen.add(outline);
    }
    if (sound.length > 0) return null;
    const { at, message } = first?.fault ?? { at: 0, message: 'no statement' };
    this.add(
      'UNPARSEABLE',
      1,
      { start: Math.min(at, Math.max(0, text.length - 1)), end: text.length },
      place,
    );
    this.readPiece(text, place);
    return message;
  }

  /** A piece that is meant to continue inside of a text or behind a number of someone else's statement. */
  private readPiece(text: string, place: Place): void {
    for (const quote of ["'", '"']) {
      const at = text.indexOf(quote);
      if (at < 0) continue;
      for (const dialect of this.dialects.slice(0, 2)) {
        const tokens = sqlTokens(text, dialect, at + 1);
        new SqlFindings(this, text, tokens, place, 0.85, true).read();
      }
    }
  }
}

function verbOf(tokens: readonly SqlToken[]): string {
  return tokens.find(({ kind }) => kind === 'word')?.value ?? tokens[0]?.value ?? '';
}

/** Where the tokens of a text begin and end: two readings with the same outline are the same. */
function outlineOf({ statements, comments }: SqlText): string {
  const last = statements.at(-1)?.at(-1);
  const all = statements.flat();
  const texts = all.reduce((sum, { end, kind }) => (sum * 31 + end * 7 + kind.length) | 0, 0);
  return `${statements.length} ${all.length} ${texts} ${last?.end ?? 0} ${comments.length}`;
}

function faultOf(text: SqlText): SqlFault | null {
  if (text.fault !== null) return text.fault;
  if (text.statements.length === 0) return { at: 0, message: 'no statement' };
  for (const tokens of text.statements) {
    const fault = shapeFault(tokens);
    if (fault !== null) return fault;
  }
  return null;
}

/** Words behind which a statement can begin inside of another one. */
const BEFORE_VERB = wordSet('( BEGIN THEN ELSE AS LOOP EXPLAIN ANALYZE )');

/** The end of a condition's part: what stands behind a tautology that nothing narrows. */
const ENDS = wordSet('OR LIMIT ORDER GROUP UNION RETURNING HAVING OFFSET FOR ) || XOR INTO');

/** What a statement with one of these verbs is, the first whose condition holds. */
type VerbRow = readonly [verbs: string, when: When, kind: ConstructKind, confidence: number];
/** Of the word behind the verb; or that one of these is among the first words; null: always. */
type When = RegExp | readonly string[] | null;

const VERB_ROWS: readonly VerbRow[] = [
  ['DROP TRUNCATE', null, 'DROP', 0.95],
  ['ALTER CREATE RENAME', /^(?:USER|ROLE|LOGIN|GROUP)$/, 'PRIVILEGE', 0.9],
  ['ALTER CREATE RENAME', /^(?:EXTENSION|ASSEMBLY)$/, 'COMMAND_EXECUTION', 0.8],
  ['ALTER CREATE RENAME', /^SERVER$/, 'NETWORK', 0.8],
  ['CREATE', /^FOREIGN$/, 'NETWORK', 0.8],
  ['ALTER CREATE RENAME', null, 'SCHEMA_CHANGE', 0.7],
  ['DO', null, 'DYNAMIC_CODE', 0.7],
  ['GRANT REVOKE DENY REASSIGN', null, 'PRIVILEGE', 0.9],
  ['SET', ['PASSWORD', 'AUTHORIZATION'], 'PRIVILEGE', 0.85],
  ['SET', /^ROLE$/, 'PRIVILEGE', 0.85],
  ['SET', ['GLOBAL', 'PERSIST'], 'SCHEMA_CHANGE', 0.7],
  ['SET', /^@@GLOBAL/, 'SCHEMA_CHANGE', 0.7],
  ['PRAGMA', /WRITABLE_SCHEMA|TRUSTED_SCHEMA|TEMP_STORE_DIRECTORY/, 'SCHEMA_CHANGE', 0.8],
  ['LOAD', /^(?:DATA|XML)$/, 'FILE_ACCESS', 0.9],
  ['LOAD', null, 'COMMAND_EXECUTION', 0.9],
  ['BULK BACKUP RESTORE ATTACH', null, 'FILE_ACCESS', 0.85],
  ['VACUUM', ['INTO'], 'FILE_ACCESS', 0.85],
  ['INSTALL', null, 'COMMAND_EXECUTION', 0.9],
  ['WAITFOR', null, 'TIME_DELAY', 0.9],
  ['SHUTDOWN KILL', null, 'DESTRUCTIVE', 0.85],
  ['SHOW', /^(?:TABLES|DATABASES|SCHEMAS|GRANTS|COLUMNS|CREATE|PROCESSLIST|FULL)$/, 'SCHEMA_READ', 0.6],
  ['EXEC EXECUTE', /^(?:\(|IMMEDIATE|FORMAT)$/, 'DYNAMIC_CODE', 0.85],
  ['PREPARE', ['FROM'], 'DYNAMIC_CODE', 0.75],
  ['.', /^(?:SHELL|SYSTEM|LOAD)$/, 'COMMAND_EXECUTION', 0.95],
  ['.', /^(?:OUTPUT|ONCE|IMPORT|READ|SAVE|DUMP|BACKUP|RESTORE|OPEN|LOG|EXCEL)$/, 'FILE_ACCESS', 0.8],
  ['\\', /^!$/, 'COMMAND_EXECUTION', 0.95],
  ['\\', /^(?:COPY|I|IR|O|W|G|LO_IMPORT|LO_EXPORT)$/, 'FILE_ACCESS', 0.8],
];

const BY_VERB = Map.groupBy(
  VERB_ROWS.flatMap(([verbs, when, kind, confidence]) =>
    wordList(verbs).map((verb) => ({ verb, when, kind, confidence })),
  ),
  ({ verb }) => verb,
);

/** The constructs of one reading. */
class SqlFindings {
  private readonly reader: SqlReader;
  private readonly code: string;
  private readonly text: SqlText;
  private readonly place: Place;
  private readonly share: number;
  private readonly isPiece: boolean;

  constructor(reader: SqlReader, code: string, text: SqlText, place: Place, share: number, isPiece = false) {
    this.reader = reader;
    this.code = code;
    this.text = text;
    this.place = place;
    this.share = share;
    this.isPiece = isPiece;
  }

  private add(kind: ConstructKind, confidence: number, stretch: Stretch): void {
    this.reader.add(kind, confidence * this.share, stretch, this.place);
  }

  read(): void {
    const { statements, comments } = this.text;
    const [, second] = statements;
    const [begin] = second ?? [];
    if (begin !== undefined) {
      const end = statements.at(-1)?.at(-1)?.end ?? begin.end;
      this.add('STACKED_STATEMENTS', 0.8, { start: begin.start, end });
    }
    for (const statement of statements) this.readStatement(statement);
    const last = statements.at(-1)?.at(-1);
    for (const comment of comments) this.readComment(comment, last);
  }

  private readComment({ start, end, body, isLine, isRun }: SqlComment, last: SqlToken | undefined): void {
    const stretch = { start, end };
    if (isRun) {
      this.add('CUTTING_COMMENT', 0.9, stretch);
      return;
    }
    if (!isLine) {
      const isGlue = /\w/.test(this.code.charAt(start - 1)) && /\w/.test(this.code.charAt(end));
      if (isGlue && body.length < 40) this.add('CUTTING_COMMENT', 0.85, stretch);
      return;
    }
    // A remark of the author's stands on its own line or says something; a cut ends the text.
    const isLast = last === undefined || last.end <= start;
    const lineStart = this.code.lastIndexOf('\n', start - 1) + 1;
    const before = this.code.slice(Math.max(lineStart, start - 200), start).trim();
    if (!isLast || before === '') return;
    const rest = body.trim();
    const isCut =
      rest === '' ||
      /^['")]/.test(rest) ||
      (this.isPiece && rest.length < 8) ||
      /^(?:AND|OR|LIMIT|ORDER BY|WHERE)\b/.test(rest.toUpperCase()) ||
      /^[-+#]+$/.test(rest);
    if (isCut) this.add('CUTTING_COMMENT', 0.8, stretch);
  }

  private readStatement(tokens: readonly SqlToken[]): void {
    const [first] = tokens;
    const end = tokens.at(-1)?.end;
    if (first === undefined || end === undefined) return;
    const whole = { start: first.start, end };
    const words = tokens.slice(0, 12).map(({ value }) => value);
    this.readVerb(words, whole, tokens);
    this.readRows(tokens, whole);
    for (const [index, token] of tokens.entries()) {
      this.readToken(token, index, tokens);
      this.readCondition(token, index, tokens);
    }
  }

  /** What a statement is by its first words. */
  private readVerb(words: readonly string[], whole: Stretch, tokens: readonly SqlToken[]): void {
    const [verb = '', object = ''] = words;
    const said = BY_VERB.get(verb)?.find(({ when }) => {
      if (when === null) return true;
      return when instanceof RegExp ? when.test(object) : words.some((word) => when.includes(word));
    });
    if (said !== undefined) this.add(said.kind, said.confidence, whole);
    if (['ALTER', 'CREATE', 'RENAME', 'DO'].includes(verb)) this.readLanguage(tokens, whole);
    if (verb === 'COPY') this.readCopy(tokens, whole);
  }

  /** Languages in which a function of the server can do what a program can. */
  private readLanguage(tokens: readonly SqlToken[], whole: Stretch): void {
    for (const [index, { value }] of tokens.entries()) {
      const next = tokens[index + 1];
      if (value === 'LANGUAGE' && next !== undefined)
        if (/^(?:PL(?:PYTHON[23]?U?|PERLU|SHU?|TCLU|RUBYU?|RU?|JAVAU?)|C|INTERNAL|JAVA)$/i.test(next.value))
          this.add('COMMAND_EXECUTION', 0.9, whole);
      if (value === 'SONAME') this.add('COMMAND_EXECUTION', 0.95, whole);
    }
  }

  private readCopy(tokens: readonly SqlToken[], whole: Stretch): void {
    for (const [index, { value, depth }] of tokens.entries()) {
      if (depth > 0 || (value !== 'FROM' && value !== 'TO')) continue;
      const next = tokens[index + 1];
      if (next?.value === 'PROGRAM') this.add('COMMAND_EXECUTION', 0.98, whole);
      else if (next?.kind === 'text') this.add('FILE_ACCESS', 0.9, whole);
    }
  }

  private readToken(token: SqlToken, index: number, tokens: readonly SqlToken[]): void {
    const next = tokens[index + 1];
    const before = tokens[index - 1];
    if (token.kind === 'text' && sensitivePath(token.value) !== null) this.add('SENSITIVE_FILE', 0.8, token);
    if (token.kind === 'name' || token.kind === 'word') this.readTable(token, index, tokens);
    if (token.kind !== 'word') return;
    const isCalled = next?.value === '(' && next.kind === 'sign';
    const danger = functionDanger(token.value, isCalled);
    if (danger !== null) this.add(danger.kind, danger.confidence, token);
    switch (token.value) {
      case 'UNION':
        return this.readUnion(token, index, tokens);
      case 'OUTFILE':
      case 'DUMPFILE':
        if (before?.value === 'INTO')
          this.add('FILE_ACCESS', 0.95, { start: before.start, end: next?.end ?? token.end });
        return;
      case 'DELAY':
        if (before?.value === 'WAITFOR' && index > 1)
          this.add('TIME_DELAY', 0.9, { start: before.start, end: next?.end ?? token.end });
        return;
      case 'EXEC':
      case 'EXECUTE':
        if (index > 0 && (next?.value === '(' || next?.value === 'IMMEDIATE'))
          this.add('DYNAMIC_CODE', 0.8, token);
        return;
      case 'DROP':
      case 'TRUNCATE':
        // In a block: `BEGIN DROP TABLE x; END`.
        if (index > 0 && before?.kind === 'word' && BEFORE_VERB.has(before.value))
          this.add('DROP', 0.9, token);
        return;
      default:
        return;
    }
  }

  /** Tables, and among them those that list tables and accounts. */
  private readTable(token: SqlToken, index: number, tokens: readonly SqlToken[]): void {
    const before = tokens[index - 1];
    const next = tokens[index + 1];
    if (before?.value === '.' && before.kind === 'sign') return;
    const isNamed =
      before?.kind === 'word' &&
      TABLE_WORDS.has(before.value) &&
      !(token.kind === 'word' && NOT_TABLES.has(token.value)) &&
      next?.value !== '(';
    const name = dottedName(tokens, index);
    if (isNamed || (before?.value === 'INTO' && token.kind !== 'text' && !NOT_TABLES.has(token.value)))
      this.reader.tables.add(name.text);
    if (isAccountTable(name.text)) this.add('SCHEMA_READ', 0.85, { start: token.start, end: name.end });
  }

  /** DELETE and UPDATE without a condition, or with one that everything meets; one pass, however they are nested. */
  private readRows(tokens: readonly SqlToken[], whole: Stretch): void {
    const open: RowStatement[] = [];
    for (const [index, token] of tokens.entries()) {
      while ((open.at(-1)?.depth ?? -1) > token.depth) this.closeRows(open.pop(), index - 1, tokens, whole);
      const current = open.at(-1);
      const isHere = current?.depth === token.depth && token.kind === 'word';
      if (isHere && token.value === 'WHERE' && current.where < 0) current.where = index;
      if (isHere && token.value === 'SET') current.isChanging = true;
      const isVerb = token.value === 'DELETE' || token.value === 'UPDATE';
      if (token.kind !== 'word' || !isVerb || !isVerbPlace(tokens[index - 1])) continue;
      if (current?.depth === token.depth) this.closeRows(open.pop(), index - 1, tokens, whole);
      open.push({ index, depth: token.depth, where: -1, isChanging: token.value === 'DELETE' });
    }
    for (let last = open.pop(); last !== undefined; last = open.pop())
      this.closeRows(last, tokens.length - 1, tokens, whole);
  }

  private closeRows(
    statement: RowStatement | undefined,
    last: number,
    tokens: readonly SqlToken[],
    whole: Stretch,
  ): void {
    if (statement === undefined || !statement.isChanging) return;
    const { index, depth, where } = statement;
    const [token, end] = [tokens[index], tokens[last]?.end];
    if (token === undefined || end === undefined) return;
    const truth = where < 0 ? null : truthAt(tokens, where + 1);
    const behind = truth === null ? undefined : tokens[truth.next];
    const isAll = truth !== null && (truth.next > last || behind === undefined || ENDS.has(behind.value));
    if (where >= 0 && !isAll) return;
    const kind = token.value === 'DELETE' ? 'UNBOUNDED_DELETE' : 'UNBOUNDED_UPDATE';
    this.add(kind, 0.9, depth === 0 && index === 0 ? whole : { start: token.start, end });
  }

  private readUnion(token: SqlToken, index: number, tokens: readonly SqlToken[]): void {
    let at = index + 1;
    while (['ALL', 'DISTINCT', '('].includes(tokens[at]?.value ?? '')) at++;
    if (tokens[at]?.value !== 'SELECT') return;
    let isFilled = true;
    let count = 0;
    let end = tokens[at]?.end ?? token.end;
    for (at++; at < tokens.length; at++) {
      const other = tokens[at];
      if (other === undefined || other.depth < token.depth || other.value === 'FROM') break;
      if (other.kind === 'sign' && other.value === ',') continue;
      count++;
      end = other.end;
      isFilled &&=
        other.kind === 'number' ||
        other.kind === 'text' ||
        other.value === 'NULL' ||
        other.value.startsWith('@@');
      if (count > 200) break;
    }
    const isProbe = this.isPiece || (isFilled && count > 0);
    this.add('UNION_SELECT', isProbe ? 0.9 : 0.6, { start: token.start, end: isProbe ? end : token.end });
  }

  /** `OR 1=1`, `WHERE 'a'='a'`; not `WHERE 1=1 AND …`, with which programs begin their conditions. */
  private readCondition(token: SqlToken, index: number, tokens: readonly SqlToken[]): void {
    const isOr =
      token.value === 'OR' || token.value === 'XOR' || (token.value === '||' && token.kind === 'sign');
    const isWhere = token.kind === 'word' && (token.value === 'WHERE' || token.value === 'HAVING');
    if (!isOr && !isWhere) return;
    const truth = truthAt(tokens, index + 1);
    if (truth === null) return;
    const [begin, last] = [tokens[index + 1], tokens[truth.next - 1]];
    if (begin === undefined || last === undefined) return;
    // `a || 'x'` joins texts.
    if (token.value === '||' && truth.next - index < 4) return;
    const behind = tokens[truth.next];
    if (isWhere && behind !== undefined && !ENDS.has(behind.value)) return;
    this.add('TAUTOLOGY', isOr ? 0.9 : 0.75, { start: begin.start, end: last.end });
  }
}

/** A DELETE or UPDATE whose end has not been seen. */
interface RowStatement {
  readonly index: number;
  readonly depth: number;
  where: number;
  isChanging: boolean;
}

function isVerbPlace(before: SqlToken | undefined): boolean {
  return before === undefined || BEFORE_VERB.has(before.value);
}

const TABLE_WORDS = wordSet('FROM JOIN UPDATE TABLE INTO TRUNCATE EXISTS');
const NOT_TABLES = wordSet('SELECT SET ONLY IF LATERAL UNNEST OUTFILE DUMPFILE TABLE NOT EXISTS VALUES');

function dottedName(
  tokens: readonly SqlToken[],
  index: number,
): { readonly text: string; readonly end: number } {
  let text = tokens[index]?.value.toLowerCase() ?? '';
  let end = tokens[index]?.end ?? 0;
  for (let at = index + 1; at < index + 8; at += 2) {
    const [dot, part] = [tokens[at], tokens[at + 1]];
    if (dot?.value !== '.' || dot.kind !== 'sign' || part === undefined || part.kind === 'sign') break;
    text += `.${part.value.toLowerCase()}`;
    end = part.end;
  }
  return { text, end };
}

const COMPARISONS: Readonly<Record<string, (a: number | string, b: number | string) => boolean>> = {
  '=': (a, b) => a === b,
  '<=>': (a, b) => a === b,
  LIKE: (a, b) => a === b || b === '%',
  '<>': (a, b) => a !== b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => typeof a === typeof b && a < b,
  '>': (a, b) => typeof a === typeof b && a > b,
  '<=': (a, b) => typeof a === typeof b && a <= b,
  '>=': (a, b) => typeof a === typeof b && a >= b,
  IS: (a, b) => a === b,
};

/** A condition from here on that is true whatever the rows are, and what stands behind it; null: none that shows. */
function truthAt(tokens: readonly SqlToken[], start: number): { readonly next: number } | null {
  let at = start;
  let open = 0;
  while (tokens[at]?.value === '(' && open < 16) {
    at++;
    open++;
  }
  const isNegated = tokens[at]?.value === 'NOT';
  if (isNegated) at++;
  const end = truthEnd(tokens, at, isNegated);
  if (end === null) return null;
  at = end;
  while (open > 0 && tokens[at]?.value === ')') {
    at++;
    open--;
  }
  return open === 0 ? { next: at } : null;
}

function truthEnd(tokens: readonly SqlToken[], at: number, isNegated: boolean): number | null {
  const [left, sign, right] = [tokens[at], tokens[at + 1], tokens[at + 2]];
  if (left === undefined) return null;
  const compare = sign === undefined ? undefined : COMPARISONS[sign.value];
  if (compare !== undefined && right !== undefined) {
    const [a, b] = [constantOf(left), constantOf(right)];
    const isDone = !isGoingOn(tokens[at + 3]);
    if (a !== null && b !== null) return isDone && compare(a, b) !== isNegated ? at + 3 : null;
    const isSame =
      left.kind !== 'sign' &&
      left.kind === right.kind &&
      left.value === right.value &&
      left.kind !== 'parameter';
    const isEquality = sign?.value === '=' || sign?.value === 'LIKE';
    return isSame && isEquality && !isNegated && isDone ? at + 3 : null;
  }
  if (isGoingOn(sign)) return null;
  if (left.kind === 'word' && left.value === (isNegated ? 'FALSE' : 'TRUE')) return at + 1;
  if (left.kind === 'number' && (Number(left.value) !== 0) !== isNegated) return at + 1;
  return left.kind === 'text' && /^[1-9]\d*$/.test(left.value) && !isNegated ? at + 1 : null;
}

/** Whether what stands behind a value makes it part of something longer. */
function isGoingOn(token: SqlToken | undefined): boolean {
  if (token === undefined) return false;
  if (token.kind === 'sign') return token.value !== ')' && token.value !== ',' && token.value !== '||';
  return ['LIKE', 'IN', 'IS', 'BETWEEN', 'NOT', 'REGEXP', 'COLLATE', 'ILIKE', 'DIV', 'MOD'].includes(
    token.value,
  );
}

function constantOf(token: SqlToken): number | string | null {
  if (token.kind === 'number') {
    const value = Number(token.value);
    return Number.isNaN(value) ? token.value : value;
  }
  if (token.kind !== 'text') return null;
  // Servers compare a text of digits with a number as numbers.
  return /^\d{1,15}$/.test(token.value) ? Number(token.value) : token.value;
}
