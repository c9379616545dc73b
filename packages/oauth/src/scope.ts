/** Scopes: space-delimited words of the server's (RFC 6749, 3.3). */

const LONGEST = 1_000;

/** The words of a scope, each once; null: there are none, or it is no scope. */
export function scopeOf(text: string | null | undefined): string | null {
  if (text === null || text === undefined || text.length > LONGEST) return null;
  const words = [...new Set(text.split(' ').filter((word) => word !== ''))];
  return words.length > 0 && words.every((word) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(word))
    ? words.join(' ')
    : null;
}

/** All words of all scopes, each once. */
export function unionOf(...scopes: readonly (string | null)[]): string | null {
  return scopeOf(scopes.filter((scope) => scope !== null).join(' '));
}
