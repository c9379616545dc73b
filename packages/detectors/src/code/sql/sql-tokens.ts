/**
 * SQL text to tokens and statements, as one of four servers would cut it. The same letters can be a text to one server
 * and code to another, so who does not know which server it is reads for all of them.
 */

import type { Stretch } from '../../text/finding.ts';
import { matchAt } from '../../text/match.ts';

export type SqlDialect = 'postgres' | 'mysql' | 'sqlite' | 'mssql';

/** What differs in how a server cuts a text. */
type Feature =
  /** `\'` does not end a text. */
  | 'backslashes'
  /** `#` begins a comment, and `--` only with a space behind it. */
  | 'hash comments'
  /** `/* /* *\/ *\/` is one comment. */
  | 'nested comments'
  /** `/*! … *\/` is run. */
  | 'run comments'
  /** `$tag$ … $tag$` */
  | 'dollar texts'
  /** `[name]` */
  | 'brackets'
  /** "…" is a text, not a name. */
  | 'quoted texts';

export const DIALECTS: Readonly<Record<SqlDialect, ReadonlySet<Feature>>> = {
  postgres: new Set(['nested comments', 'dollar texts']),
  mysql: new Set(['backslashes', 'hash comments', 'run comments', 'quoted texts']),
  sqlite: new Set(['brackets']),
  mssql: new Set(['nested comments', 'brackets']),
};

export type SqlTokenKind = 'word' | 'name' | 'text' | 'number' | 'parameter' | 'sign';

export interface SqlToken extends Stretch {
  readonly kind: SqlTokenKind;
  /** Words in capitals; names and texts without their quotes; signs as they are. */
  readonly value: string;
  /** How many parentheses are open around it; a parenthesis has the depth outside of it. */
  readonly depth: number;
}

export interface SqlComment extends Stretch {
  readonly body: string;
  readonly isLine: boolean;
  /** Whether it is a comment to some readers and code to the server. */
  readonly isRun: boolean;
}

export interface SqlFault {
  readonly at: number;
  readonly message: string;
}

export interface SqlText {
  /** The tokens of each. */
  readonly statements: readonly (readonly SqlToken[])[];
  readonly comments: readonly SqlComment[];
  /** Where and why no server would take it; null: its shape is sound as far as tokens go. */
  readonly fault: SqlFault | null;
}

const SPACE = /\s/;
const WORD = /[\p{L}\p{N}_$#@]/u;
const RUN_OPENING = /\/\*M?!\d{0,6}/y;
const DOLLAR_TAG = /\$(?:[A-Za-z_][A-Za-z0-9_]{0,62})?\$/y;
const PARAMETER = /\?\d*|:[A-Za-z_]\w*|%s|%\(\w+\)s|\$\d+/y;
const SIGN = /<=>|->>|#>>|::|\|\||&&|<>|!=|<=|>=|:=|->|#>|@>|<@|!~|~\*|[\s\S]/y;

/** Linear in the text: no token is looked at twice. */
export function sqlTokens(text: string, dialect: SqlDialect, from = 0): SqlText {
  const features = DIALECTS[dialect];
  const statements: (readonly SqlToken[])[] = [];
  const comments: SqlComment[] = [];
  let tokens: SqlToken[] = [];
  let fault: SqlFault | null = null;
  let depth = 0;
  /** Inside of a comment that is run. */
  let runFrom = -1;
  const fail = (at: number, message: string) => {
    fault ??= { at, message };
  };
  const push = (kind: SqlTokenKind, value: string, start: number, end: number) => {
    tokens.push({ kind, value, start, end, depth });
  };
  const finish = () => {
    if (tokens.length > 0) statements.push(tokens);
    tokens = [];
  };
  let at = from;
  while (at < text.length) {
    const char = text.charAt(at);
    const next = text.charAt(at + 1);
    if (SPACE.test(char)) {
      at++;
      continue;
    }
    const isDash = char === '-' && next === '-';
    const isMysqlDash = isDash && features.has('hash comments') && !/[\s]|^$/.test(text.charAt(at + 2));
    if ((isDash && !isMysqlDash) || (char === '#' && features.has('hash comments'))) {
      const newline = text.indexOf('\n', at);
      const end = newline < 0 ? text.length : newline;
      const body = text.slice(at + (isDash ? 2 : 1), end);
      comments.push({ start: at, end, body, isLine: true, isRun: false });
      at = end;
      continue;
    }
    if (char === '/' && next === '*') {
      if (features.has('run comments') && /[!M]/.test(text.charAt(at + 2)) && runFrom < 0) {
        const opening = matchAt(RUN_OPENING, text, at);
        if (opening !== null) {
          runFrom = at;
          at += opening[0].length;
          continue;
        }
      }
      const end = commentEnd(text, at, features.has('nested comments'));
      if (end < 0) fail(at, 'a comment that does not end');
      const stop = end < 0 ? text.length : end;
      const body = text.slice(at + 2, Math.max(at + 2, stop - 2));
      comments.push({ start: at, end: stop, body, isLine: false, isRun: false });
      at = stop;
      continue;
    }
    if (runFrom >= 0 && char === '*' && next === '/') {
      comments.push({ start: runFrom, end: at + 2, body: '', isLine: false, isRun: true });
      runFrom = -1;
      at += 2;
      continue;
    }
    if (char === "'" || char === '"' || char === '`' || (char === '[' && features.has('brackets'))) {
      const close = char === '[' ? ']' : char;
      const isText = char === "'" || (char === '"' && features.has('quoted texts'));
      const before = tokens.at(-1);
      const isEscaping = before?.kind === 'word' && before.end === at && before.value === 'E';
      const end = quotedEnd(text, at, close, isText && (features.has('backslashes') || isEscaping));
      if (end < 0) fail(at, 'a quote that does not end');
      const stop = end < 0 ? text.length : end;
      // `N'…'`, `E'…'`, `x'…'`: one text with its prefix.
      const isPrefixed =
        char === "'" &&
        before?.kind === 'word' &&
        before.end === at &&
        /^(?:N|E|B|X|U&|_UTF8)$/.test(before.value);
      if (isPrefixed) tokens.pop();
      const start = isPrefixed ? (before?.start ?? at) : at;
      push(isText ? 'text' : 'name', text.slice(at + 1, Math.max(at + 1, stop - 1)), start, stop);
      at = stop;
      continue;
    }
    if (char === '$' && features.has('dollar texts')) {
      const mark = matchAt(DOLLAR_TAG, text, at)?.[0];
      if (mark !== undefined) {
        const close = text.indexOf(mark, at + mark.length);
        if (close < 0) fail(at, 'a dollar quote that does not end');
        const stop = close < 0 ? text.length : close + mark.length;
        push('text', text.slice(at + mark.length, close < 0 ? stop : close), at, stop);
        at = stop;
        continue;
      }
    }
    if (
      char === '?' ||
      ((char === ':' || char === '%') && /[A-Za-z_(]/.test(next)) ||
      (char === '$' && /\d/.test(next))
    ) {
      const parameter = matchAt(PARAMETER, text, at)?.[0];
      if (parameter !== undefined && text.charAt(at - 1) !== ':') {
        push('parameter', parameter, at, at + parameter.length);
        at += parameter.length;
        continue;
      }
    }
    if (/[0-9]/.test(char) || (char === '.' && /[0-9]/.test(next))) {
      let end = at + 1;
      while (end < text.length && /[0-9A-Za-z_.]/.test(text.charAt(end))) end++;
      push('number', text.slice(at, end), at, end);
      at = end;
      continue;
    }
    if (WORD.test(char) || char.charCodeAt(0) > 0xd7ff) {
      let end = at + 1;
      while (end < text.length && (WORD.test(text.charAt(end)) || text.charCodeAt(end) > 0xd7ff)) end++;
      push('word', text.slice(at, end).toUpperCase(), at, end);
      at = end;
      continue;
    }
    if (char === ';' || char === '\0') {
      if (char === '\0') fail(at, 'a null byte');
      else if (depth > 0) fail(at, 'a parenthesis that does not end');
      depth = 0;
      finish();
      at++;
      continue;
    }
    if (char === ')') {
      if (depth === 0) fail(at, 'a parenthesis that does not begin');
      depth = Math.max(0, depth - 1);
    }
    const value = matchAt(SIGN, text, at)?.[0] ?? char;
    push('sign', value, at, at + value.length);
    if (char === '(') depth++;
    at += value.length;
  }
  if (depth > 0) fail(text.length, 'a parenthesis that does not end');
  if (runFrom >= 0) fail(runFrom, 'a comment that does not end');
  finish();
  return { statements, comments, fault };
}

function commentEnd(text: string, start: number, isNested: boolean): number {
  if (!isNested) {
    const end = text.indexOf('*/', start + 2);
    return end < 0 ? -1 : end + 2;
  }
  const mark = /\/\*|\*\//g;
  mark.lastIndex = start + 2;
  let open = 1;
  for (let found = mark.exec(text); found !== null; found = mark.exec(text)) {
    open += found[0] === '/*' ? 1 : -1;
    if (open === 0) return found.index + 2;
  }
  return -1;
}

/** Behind the closing quote; a doubled one stands for itself. -1: it never ends. */
function quotedEnd(text: string, start: number, close: string, hasBackslashes: boolean): number {
  for (let at = start + 1; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === '\\' && hasBackslashes) at++;
    else if (char === close) {
      if (text.charAt(at + 1) !== close || close === ']') return at + 1;
      at++;
    }
  }
  return -1;
}
