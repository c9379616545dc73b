/**
 * Whether tokens have the shape of a statement. Not the grammar of a server: that differs between four of them and their
 * versions. A text that passes and that no server would take does no harm, because constructs are found by tokens,
 * whatever the shape.
 */

import { wordSet } from '../../text/words.ts';
import type { SqlFault, SqlToken } from './sql-tokens.ts';

/** Verbs that begin a statement with one of the four servers. */
const VERBS = wordSet(`
  SELECT INSERT UPDATE DELETE WITH VALUES MERGE REPLACE TABLE CREATE ALTER DROP TRUNCATE RENAME COMMENT
  GRANT REVOKE BEGIN START COMMIT ROLLBACK SAVEPOINT RELEASE END ABORT SET RESET SHOW USE DESCRIBE DESC
  EXPLAIN ANALYZE ANALYSE VACUUM REINDEX CLUSTER COPY CALL DO EXEC EXECUTE PREPARE DEALLOCATE DECLARE FETCH
  CLOSE OPEN MOVE LOCK UNLOCK LISTEN NOTIFY UNLISTEN ATTACH DETACH PRAGMA LOAD HANDLER OPTIMIZE CHECK
  CHECKSUM REPAIR FLUSH KILL PURGE INSTALL UNINSTALL IMPORT REFRESH REASSIGN SECURITY DISCARD IF WHILE PRINT
  RAISERROR THROW GO WAITFOR BULK BACKUP RESTORE DBCC DENY RETURN GOTO LOOP CASE SHUTDOWN RECONFIGURE SAVE
  CHECKPOINT DELIMITER SIGNAL RESIGNAL XA CACHE BINLOG CHANGE
`);

const CLAUSES = wordSet(`
  SELECT FROM WHERE GROUP ORDER HAVING LIMIT OFFSET UNION INTERSECT EXCEPT SET VALUES RETURNING ON USING
  JOIN INTO BY WINDOW FETCH
`);

/** Words that stand between two values. */
const BETWEEN = wordSet(`
  AND OR XOR LIKE ILIKE IN IS BETWEEN REGEXP RLIKE GLOB MATCH SIMILAR ESCAPE COLLATE AS DIV MOD OVERLAPS
  WHEN THEN ELSE
`);

/** Words that may follow a value without being one: they say more about it. */
const FILLING = wordSet(`
  NOT NULL DISTINCT ALL ANY SOME EXISTS ASC DESC NULLS FIRST LAST CASE END TOP PERCENT TIES ONLY ROW ROWS
  NEXT INNER LEFT RIGHT FULL OUTER CROSS NATURAL LATERAL APPLY STRAIGHT_JOIN OVER PARTITION RANGE GROUPS
  UNBOUNDED PRECEDING FOLLOWING CURRENT FILTER WITHIN FOR UPDATE SHARE NOWAIT SKIP LOCKED OF WITH RECURSIVE
  MATERIALIZED DEFAULT CONFLICT NOTHING DO DUPLICATE KEY IGNORE LOW_PRIORITY HIGH_PRIORITY DELAYED QUICK
  SQL_NO_CACHE SQL_CALC_FOUND_ROWS OUTFILE DUMPFILE INTERVAL DATE TIME TIMESTAMP ZONE AT YEAR MONTH DAY HOUR
  MINUTE SECOND DOUBLE PRECISION VARYING CHARACTER SET UNSIGNED SIGNED TRUE FALSE UNKNOWN ARRAY ROLLUP CUBE
  GROUPING SETS SYSTEM TABLESAMPLE BERNOULLI OPTION NOLOCK INDEX USE FORCE PIVOT UNPIVOT OUTPUT INSERTED
  DELETED TO BINARY SEPARATOR ORDINALITY VALUE OVERRIDING RETURNING SYMMETRIC BOTH LEADING TRAILING UESCAPE
  ISNULL NOTNULL INDEXED PERIOD XML PATH
`);

/** Statements whose inside is checked: those that carry data. */
const CHECKED: ReadonlySet<string> = new Set(['SELECT', 'UPDATE', 'DELETE', 'INSERT', 'WITH', 'VALUES']);

/** Where and why tokens are no statement; null: they may be one. */
export function shapeFault(tokens: readonly SqlToken[]): SqlFault | null {
  const first = tokens.find(({ value }) => value !== '(');
  if (first === undefined) return null;
  const isCommand = first.kind === 'sign' && (first.value === '\\' || first.value === '.');
  if (isCommand) return null;
  // `name: statement` labels and `@x = …` of procedures begin otherwise.
  if (first.kind !== 'word' || !VERBS.has(first.value))
    return { at: first.start, message: 'no statement begins like this' };
  return CHECKED.has(first.value) ? orderFault(tokens) : null;
}

/** Values and what stands between them have to alternate, as far as that is the same everywhere. */
function orderFault(tokens: readonly SqlToken[]): SqlFault | null {
  let values = 0;
  for (const [index, token] of tokens.entries()) {
    const before = tokens[index - 1];
    const after = tokens[index + 1];
    const wrong = { at: token.start, message: `unexpected ${token.kind}` };
    if (token.kind === 'sign') {
      const isStar = token.value === '*' && isOpening(before);
      if (isStar) values = 1;
      else if (token.value === ')') values = 1;
      else if (token.value === '(') values = 0;
      else {
        if (token.value === ',' && (before === undefined || isDangling(before))) return wrong;
        if (after === undefined && token.value !== '*') return { ...wrong, message: 'unexpected end' };
        values = 0;
      }
      continue;
    }
    if (token.kind === 'word' && CLAUSES.has(token.value)) {
      if (isBareClause(before, token.value)) return wrong;
      if (after === undefined && !['UPDATE', 'VALUES'].includes(token.value))
        return { ...wrong, message: 'unexpected end' };
      values = 0;
    } else if (token.kind === 'word' && BETWEEN.has(token.value)) {
      if (after === undefined && token.value !== 'IS') return { ...wrong, message: 'unexpected end' };
      values = 0;
    } else if (token.kind === 'word' && (FILLING.has(token.value) || VERBS.has(token.value))) values = 0;
    else {
      values++;
      if (values > 2) return wrong;
    }
  }
  return null;
}

function isOpening(before: SqlToken | undefined): boolean {
  if (before === undefined) return true;
  if (before.kind === 'sign') return before.value === '(' || before.value === ',' || before.value === '.';
  return before.kind === 'word' && (CLAUSES.has(before.value) || FILLING.has(before.value));
}

/** A comma or a clause cannot stand behind these. */
function isDangling({ kind, value }: SqlToken): boolean {
  if (kind === 'sign') return value === ',' || value === '(' || value === '=';
  return kind === 'word' && (value === 'WHERE' || value === 'FROM' || value === 'SELECT' || value === 'AND');
}

const NEVER_ADJACENT: Readonly<Record<string, readonly string[]>> = {
  SELECT: ['WHERE', 'GROUP', 'ORDER', 'HAVING', 'LIMIT', 'SET', 'VALUES', 'JOIN'],
  FROM: ['WHERE', 'GROUP', 'ORDER', 'HAVING', 'LIMIT', 'FROM', 'SET', 'JOIN'],
  WHERE: ['WHERE', 'FROM', 'GROUP', 'ORDER', 'HAVING', 'LIMIT', 'SELECT', 'SET'],
  HAVING: ['ORDER', 'LIMIT', 'WHERE', 'GROUP'],
  SET: ['WHERE', 'FROM'],
  INTO: ['VALUES', 'SELECT'],
  GROUP: ['WHERE', 'ORDER', 'HAVING', 'LIMIT'],
  ORDER: ['WHERE', 'GROUP', 'HAVING', 'LIMIT'],
  BY: ['WHERE', 'LIMIT', 'FROM', 'HAVING', 'ORDER', 'GROUP'],
};

function isBareClause(before: SqlToken | undefined, clause: string): boolean {
  if (before === undefined) return false;
  if (before.kind === 'sign')
    return before.value === ',' && clause !== 'SELECT' && clause !== 'VALUES' && clause !== 'SET';
  return before.kind === 'word' && (NEVER_ADJACENT[before.value]?.includes(clause) ?? false);
}
