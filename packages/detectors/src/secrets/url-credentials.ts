/** Passwords in addresses: `scheme://user:password@host`. */
import { type Finding, findingOf } from '../text/finding.ts';
import { matchAt, startBefore } from '../text/match.ts';
import { isPlaceholder } from './placeholder.ts';

/** Where one may stand: looked for by this text. */
export const SCHEME_END = '://';

const DATABASES =
  /(?:^|:)(?:postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|rediss?|amqps?|mssql|sqlserver|oracle|cockroachdb|cassandra|clickhouse|couchbase|couchdb|neo4j(?:\+s)?|bolt|nats|kafka|memcached|db2|snowflake|redshift|[a-z]+\+(?:psycopg2?|asyncpg|pymysql|mysqldb|pyodbc|aiomysql))$/i;
const BEHIND = /[^\s:/@"'`<>\\]{0,128}:([^\s/@"'`<>\\]{1,256})@(?:[A-Za-z0-9_-]|\[|\$|%)/y;
const MOST_SCHEME = 32;

/** The password in the address whose `://` ends before `end`; null: it has none. */
export function urlCredentials(text: string, end: number): Finding | null {
  const match = matchAt(BEHIND, text, end);
  const password = match?.[1] ?? null;
  if (match === null || password === null || isNone(password)) return null;
  const at = end + match[0].indexOf(`:${password}@`) + 1;
  const schemeEnd = end - SCHEME_END.length;
  const scheme = text.slice(startBefore(text, schemeEnd, /[A-Za-z0-9+.:-]/, MOST_SCHEME), schemeEnd);
  const kind = DATABASES.test(scheme) ? 'CONNECTION_STRING' : 'BASIC_AUTH_URL';
  const stretch = { start: at, end: at + password.length };
  return findingOf(kind, stretch, 0.9, 'an address with a password in it');
}

function isNone(password: string): boolean {
  if (isPlaceholder(password) || /^[$%{[<]|[\]}>]$/.test(password)) return true;
  return /^(?:password|passwd|pass|pwd|passwort|secret|token|\*+|x+|\.+)$/i.test(password);
}
