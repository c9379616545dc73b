import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SqlOptions, sqlCode } from '../../src/code/sql/sql.ts';

function found(code: string, options?: SqlOptions): readonly string[] {
  return sqlCode(code, options).constructs.map(({ kind, start, end }) => `${kind} ${code.slice(start, end)}`);
}

test('statements and tables are listed by their names', () => {
  const { statements, tables } = sqlCode(
    'SELECT a.x FROM "Shop".orders a JOIN items i ON i.id = a.id; insert into `log` values (1); update t set a = 1 where b',
  );
  assert.deepEqual(statements, ['SELECT', 'INSERT', 'UPDATE']);
  assert.deepEqual(tables, ['items', 'log', 'shop.orders', 't']);
});

for (const [code, expected] of [
  ['DROP TABLE users', ['DROP DROP TABLE users']],
  ['truncate table a', ['DROP truncate table a']],
  ['DELETE FROM users', ['UNBOUNDED_DELETE DELETE FROM users']],
  ['DELETE FROM users WHERE 1=1', ['UNBOUNDED_DELETE DELETE FROM users WHERE 1=1', 'TAUTOLOGY 1=1']],
  ['UPDATE users SET admin = true', ['UNBOUNDED_UPDATE UPDATE users SET admin = true']],
  ['WITH d AS (DELETE FROM t RETURNING *) SELECT * FROM d', ['UNBOUNDED_DELETE DELETE FROM t RETURNING *']],
  ['SELECT 1; DROP TABLE t', ['DROP DROP TABLE t', 'STACKED_STATEMENTS DROP TABLE t']],
  [
    "SELECT * FROM u WHERE n = 'x' OR 1=1 -- ' AND p = 'y'",
    ['TAUTOLOGY 1=1', "CUTTING_COMMENT -- ' AND p = 'y'"],
  ],
  ["SELECT * FROM u WHERE n = 'x' OR 'a' = 'a'", ["TAUTOLOGY 'a' = 'a'"]],
  ['SELECT * FROM u WHERE id = 1 OR TRUE', ['TAUTOLOGY TRUE']],
  [
    'SELECT a FROM t UNION ALL SELECT NULL, 1, @@version',
    ['UNION_SELECT UNION ALL SELECT NULL, 1, @@version'],
  ],
  [
    'SELECT a FROM t UNION SELECT tbl_name FROM sqlite_master',
    ['UNION_SELECT UNION', 'SCHEMA_READ sqlite_master'],
  ],
  ['SELECT a/**/FROM/**/t', ['CUTTING_COMMENT /**/', 'CUTTING_COMMENT /**/']],
  ['SELECT /*!50000 a */ FROM t', ['CUTTING_COMMENT /*!50000 a */']],
  ["COPY t TO PROGRAM 'sh'", ["COMMAND_EXECUTION COPY t TO PROGRAM 'sh'"]],
  ["COPY t FROM '/a'", ["FILE_ACCESS COPY t FROM '/a'"]],
  ["SELECT pg_read_file('a')", ['FILE_ACCESS pg_read_file']],
  ["SELECT LOAD_FILE('/etc/passwd')", ['FILE_ACCESS LOAD_FILE', "SENSITIVE_FILE '/etc/passwd'"]],
  ["SELECT a INTO OUTFILE '/x' FROM t", ["FILE_ACCESS INTO OUTFILE '/x'"]],
  ["EXEC xp_cmdshell 'dir'", ['COMMAND_EXECUTION xp_cmdshell']],
  ["SELECT load_extension('a')", ['COMMAND_EXECUTION load_extension']],
  ["ATTACH DATABASE 'a' AS b", ["FILE_ACCESS ATTACH DATABASE 'a' AS b"]],
  ['SELECT pg_sleep(9)', ['TIME_DELAY pg_sleep']],
  ["EXEC('DROP TABLE a')", ["DYNAMIC_CODE EXEC('DROP TABLE a')"]],
  ['GRANT ALL ON a TO b', ['PRIVILEGE GRANT ALL ON a TO b']],
  ["CREATE USER a PASSWORD 'b'", ["PRIVILEGE CREATE USER a PASSWORD 'b'"]],
  ['ALTER TABLE a DROP COLUMN b', ['SCHEMA_CHANGE ALTER TABLE a DROP COLUMN b']],
  ["SELECT * FROM dblink('a', 'b') AS t(c int)", ['NETWORK dblink']],
  ['.shell ls', ['COMMAND_EXECUTION .shell ls']],
] as const)
  test(`is dangerous: ${JSON.stringify(code)}`, () => {
    assert.deepEqual(found(code), expected);
    assert.equal(sqlCode(code).syntaxError, null);
  });

for (const code of [
  'SELECT id, name FROM users WHERE id = 1',
  "SELECT 'DROP TABLE x; --' AS warning FROM notes",
  'DELETE FROM users WHERE id = $1',
  "UPDATE t SET a = a + 1, b = 'it''s' WHERE c IN (SELECT c FROM u)",
  'SELECT * FROM t WHERE 1 = 1 AND a = ?',
  'SELECT a -- the name\nFROM t -- all of them',
  '/* nightly */ SELECT count(*) FROM t',
  "INSERT INTO t (a) VALUES ('x') ON CONFLICT (a) DO UPDATE SET a = EXCLUDED.a",
  'SELECT a FROM t FOR UPDATE',
  'SELECT "update", [delete] FROM "drop"',
  'SELECT a OR b FROM t WHERE a = b',
  "SELECT first || ' ' || last FROM t",
  'SELECT sleep FROM nights',
  'CREATE_TIME_SELECT'.slice(12),
])
  test(`holds nothing dangerous: ${JSON.stringify(code)}`, () => {
    const kinds = found(code).filter((one) => !one.startsWith('UNPARSEABLE'));
    assert.deepEqual(kinds, []);
  });

for (const code of [
  '',
  'SELECT a FROM',
  'SELECT * FORM t',
  'SELECT a FROM WHERE b',
  "SELECT 'a",
  'SELECT (a',
  'hello there',
  'SELECT a,',
  '1 OR 1=1',
])
  test(`does not parse: ${JSON.stringify(code)}`, () => {
    assert.notEqual(sqlCode(code).syntaxError, null);
    assert.ok(found(code).some((one) => one.startsWith('UNPARSEABLE')));
  });

test('a piece that is meant to go on inside of somebody’s text is read as such', () => {
  assert.deepEqual(
    found("x' OR 'a'='a' --").filter((one) => !one.startsWith('UNPARSEABLE')),
    ["TAUTOLOGY 'a'='a'", 'CUTTING_COMMENT --'],
  );
  assert.ok(found("'; DROP TABLE users; --").includes('DROP DROP TABLE users'));
});

test('what one server takes for a text another one runs, and who does not say which gets both', () => {
  const code = "SELECT '\\' OR 1=1 -- ' FROM t";
  assert.ok(found(code).includes('TAUTOLOGY 1=1'));
  assert.ok(!found(code, { dialect: 'mysql' }).includes('TAUTOLOGY 1=1'));
});

test('code in Markdown is read at its place', () => {
  assert.deepEqual(found('So:\n```sql\nDROP TABLE a\n```\nDone.'), ['DROP DROP TABLE a']);
});
