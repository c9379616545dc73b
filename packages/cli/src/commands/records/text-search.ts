/**
 * Full-text search by SQLite's FTS5. The index of a text gives the text away, so it is built for one search, from the
 * texts that are searched, and only in memory: on disk it would expose what encryption protects.
 */
import { DatabaseSync } from 'node:sqlite';

export interface SearchText<T> {
  readonly item: T;
  readonly text: string;
}

export interface Hit<T> {
  readonly item: T;
  /** The place where the words are, shortened, words in it between `[` and `]`. Others may have written it. */
  readonly excerpt: string;
}

const MOST_WORDS = 16;
const MOST_QUERY = 500;
/** Of one text; what comes after is not found. */
const MOST_TEXT = 200_000;
const EXCERPT_WORDS = 16;

/**
 * Those in which all words occur, each as a beginning of a word, without regard to case and accents; the best first. What
 * a person types is words and nothing else: operators, quotes and brackets of FTS5 mean nothing here. No word, no hit.
 */
export function rankedByWords<T>(
  texts: readonly SearchText<T>[],
  words: string,
  limit: number,
): readonly Hit<T>[] {
  const query = queryOf(words);
  if (query === null || texts.length === 0 || !(limit >= 1)) return [];
  const index = new DatabaseSync(':memory:');
  try {
    index.exec(`PRAGMA temp_store = MEMORY; PRAGMA journal_mode = OFF;
      CREATE VIRTUAL TABLE texts USING fts5 (text, tokenize = "unicode61 remove_diacritics 2"); BEGIN`);
    const insert = index.prepare('INSERT INTO texts (rowid, text) VALUES (?, ?)');
    for (const [place, { text }] of texts.entries()) insert.run(place, indexable(text));
    const select = index.prepare(
      `SELECT rowid AS place, snippet(texts, 0, '[', ']', '…', ${EXCERPT_WORDS}) AS excerpt FROM texts
       WHERE texts MATCH ? ORDER BY rank, rowid DESC LIMIT ?`,
    );
    return select.all(query, Math.min(Math.floor(limit), Number.MAX_SAFE_INTEGER)).flatMap((row) => {
      const found = texts[Number(row.place)];
      return found === undefined ? [] : [{ item: found.item, excerpt: String(row.excerpt) }];
    });
  } finally {
    index.close();
  }
}

/** SQLite ends a text at NUL, and has no lone surrogates. */
function indexable(text: string): string {
  return text.slice(0, MOST_TEXT).replaceAll('\0', ' ').toWellFormed();
}

/** Each word as a quoted prefix: inside quotes FTS5 reads nothing but the quote itself. Null: there is no word. */
function queryOf(words: string): string | null {
  const found = words
    .slice(0, MOST_QUERY)
    .toWellFormed()
    .normalize('NFC')
    .match(/[\p{L}\p{N}\p{M}\p{Co}]+/gu);
  return found === null
    ? null
    : found
        .slice(0, MOST_WORDS)
        .map((word) => `"${word}"*`)
        .join(' ');
}
