/** Functions, procedures and tables of SQL servers that reach beyond the data, by name. */
import { wordSet } from '../../text/words.ts';
import { type Danger, dangersByName } from '../danger-table.ts';

/** Only with a parenthesis behind them, because a column may have such a name. */
const CALLED = dangersByName([
  ['FILE_ACCESS', 0.95, 'PG_READ_FILE PG_READ_BINARY_FILE PG_LS_DIR PG_STAT_FILE PG_LS_LOGDIR PG_LS_WALDIR'],
  ['FILE_ACCESS', 0.95, 'LO_IMPORT LO_EXPORT LO_FROM_BYTEA LO_PUT PG_FILE_WRITE PG_FILE_UNLINK'],
  ['FILE_ACCESS', 0.95, 'PG_FILE_RENAME LOAD_FILE READFILE WRITEFILE FSDIR EDIT FTS3_TOKENIZER ZIPFILE'],
  ['FILE_ACCESS', 0.85, 'XMLTABLE_FILE HTTPURITYPE BFILENAME'],
  ['NETWORK', 0.95, 'DBLINK DBLINK_CONNECT DBLINK_EXEC DBLINK_SEND_QUERY HTTP_GET HTTP_POST HTTP_PUT'],
  ['NETWORK', 0.9, 'OPENROWSET OPENDATASOURCE OPENQUERY OPENXML'],
  ['COMMAND_EXECUTION', 0.95, 'SYS_EXEC SYS_EVAL SYS_GET SYS_SET LOAD_EXTENSION PG_RELOAD_CONF'],
  ['DYNAMIC_CODE', 0.8, 'QUERY_TO_XML DATABASE_TO_XML TABLE_TO_XML CURSOR_TO_XML EXTRACTVALUE UPDATEXML'],
  ['TIME_DELAY', 0.9, 'PG_SLEEP PG_SLEEP_FOR PG_SLEEP_UNTIL SLEEP BENCHMARK'],
]);

const NAMED = dangersByName([
  ['COMMAND_EXECUTION', 0.98, 'XP_CMDSHELL SP_OACREATE SP_OAMETHOD XP_REGWRITE XP_REGREAD XP_REGDELETEKEY'],
  ['COMMAND_EXECUTION', 0.9, 'SP_EXECUTE_EXTERNAL_SCRIPT SP_ADD_JOB SP_ADD_JOBSTEP SP_START_JOB'],
  ['COMMAND_EXECUTION', 0.9, 'DBMS_SCHEDULER DBMS_JAVA DBMS_JOB DBMS_XMLQUERY SP_ADDEXTENDEDPROC'],
  ['FILE_ACCESS', 0.9, 'XP_DIRTREE XP_FILEEXIST XP_SUBDIRS XP_CREATE_SUBDIR XP_DELETE_FILE UTL_FILE'],
  ['NETWORK', 0.9, 'UTL_HTTP UTL_TCP UTL_SMTP UTL_INADDR DBMS_LDAP SP_SEND_DBMAIL SP_ADDLINKEDSERVER'],
  ['DYNAMIC_CODE', 0.85, 'SP_EXECUTESQL DBMS_SQL'],
  ['PRIVILEGE', 0.9, 'SP_ADDSRVROLEMEMBER SP_ADDROLEMEMBER SP_ADDLOGIN SP_PASSWORD SP_CONFIGURE'],
  ['PRIVILEGE', 0.9, 'XP_GRANTLOGIN'],
  ['TIME_DELAY', 0.85, 'DBMS_LOCK DBMS_SESSION DBMS_PIPE'],
]);

/** What a name in capitals is known for; null: nothing. */
export function functionDanger(name: string, isCalled: boolean): Danger | null {
  return NAMED.get(name) ?? (isCalled ? CALLED.get(name) : null) ?? null;
}

const CATALOGUES = wordSet(`
  sqlite_master sqlite_schema sqlite_temp_master pg_shadow pg_authid pg_user pg_roles pg_class pg_tables
  pg_database pg_settings pg_attribute pg_proc pg_namespace pg_stat_activity pg_largeobject sysobjects
  syscolumns sysdatabases syslogins sysusers mysql.user mysql.db all_tables user_tables all_tab_columns
  dba_users dba_tables all_users v$version sys.tables sys.objects sys.databases sys.columns sys.sql_logins
  sys.server_principals sys.syslogins sys.schemas sys.configurations master.sys.databases
  master.dbo.sysdatabases master.dbo.sysobjects
`);

/** Tables that list tables, columns or accounts. */
export function isAccountTable(name: string): boolean {
  return CATALOGUES.has(name) || name.startsWith('information_schema.') || /^pg_catalog\.pg_/.test(name);
}
