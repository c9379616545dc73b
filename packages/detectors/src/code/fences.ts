/**
 * Code blocks of Markdown: a model answers with prose around the code, and what runs the answer cuts the code out.
 */

import type { Stretch } from '../text/finding.ts';
import { wordList } from '../text/words.ts';

/** The place of the code, without its fences. */
export interface Fence extends Stretch {
  /** The first word behind the opening fence in small letters; empty if there is none. */
  readonly language: string;
}

/** Every fenced block of a text, in order. A block that is never closed reaches to the end, as CommonMark has it. */
function fencesIn(text: string): readonly Fence[] {
  const fences: Fence[] = [];
  let open: { mark: string; language: string; start: number } | null = null;
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf('\n', at);
    const next = newline < 0 ? text.length : newline + 1;
    // A longer line can hold a fence only at its beginning.
    const line = text.slice(at, Math.min(next, at + 200));
    const fence = /^[ \t>]{0,12}(`{3,}|~{3,})[ \t]*([^\s`]*)([^`\n]*)/.exec(line);
    const mark = fence?.[1] ?? '';
    if (open === null) {
      if (fence !== null) open = { mark, language: languageOf(fence[2] ?? ''), start: next };
    } else if (
      mark.startsWith(open.mark) &&
      line
        .slice(line.indexOf(mark) + mark.length)
        .replace(/`+/g, '')
        .trim() === ''
    ) {
      fences.push({ language: open.language, start: open.start, end: Math.max(open.start, at) });
      open = null;
    }
    at = next;
  }
  if (open !== null) fences.push({ language: open.language, start: open.start, end: text.length });
  return fences;
}

function languageOf(info: string): string {
  return info
    .replace(/^\{?\.?/, '')
    .replace(/[},:].*$/, '')
    .toLowerCase();
}

/** Languages by the names that fences give them. */
const NAMES = {
  python: wordList('python py python3 python2 ipython pycon jupyter sage'),
  javascript: wordList('javascript js node nodejs mjs cjs jsx typescript ts tsx'),
  shell: wordList('bash sh shell zsh console shell-session shellsession terminal ksh dash'),
  sql: wordList('sql postgres postgresql mysql sqlite tsql mssql plsql psql mariadb'),
  other: wordList(`
    json yaml yml toml xml html css scss markdown md csv diff ini java c cpp c++ csharp cs go rust rs ruby rb php
    swift kotlin dockerfile makefile graphql r scala lua perl powershell ps1 mermaid tex
  `),
};

export type FencedLanguage = Exclude<keyof typeof NAMES, 'other'>;

/**
 * The blocks that can hold code of a language: those that say so, and those that say nothing or something unknown,
 * because what cuts code out of an answer seldom looks at the name.
 */
export function fencesOf(text: string, language: FencedLanguage): readonly Fence[] {
  const mine = NAMES[language];
  const known = new Set(Object.values(NAMES).flat());
  return fencesIn(text).filter((fence) => mine.includes(fence.language) || !known.has(fence.language));
}
