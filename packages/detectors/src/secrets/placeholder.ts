/**
 * Texts in the place of a secret that are not secret: examples of documentation, names of variables, templates that
 * someone fills in later. Anyone who reads `YOUR_TOKEN` learns nothing, and a finding there teaches users to ignore findings.
 */

/** Shannon's entropy of the characters, in bits a character; 0 for an empty text. */
export function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const one of text) counts.set(one, (counts.get(one) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

const WORDS =
  /example|sample|placeholder|dummy|changeme|change[-_]me|replace[-_]?(?:me|with|this)|insert[-_]|redacted|your[-_]?(?:own|api|key|token|secret|password|access|client|account)|^your|x{6}|\*{4}|\.{3}|…|<[^>]{1,60}>|\$\{|\{\{|%\(|notreal|fake[-_]|[-_]here$|todo/i;

/** Runs that people type: along the digits, the alphabet, the keyboard. */
const TYPED = /0123456|1234567|7654321|abcdefg|qwertyu|asdfghj/i;

/** Whether a text of the form of a key is plainly made up. */
export function isPlaceholder(secret: string): boolean {
  if (WORDS.test(secret)) return true;
  const typed = TYPED.exec(secret);
  if (typed !== null && runs(secret) > secret.length / 3) return true;
  return longestRepeat(secret) > Math.max(6, secret.length / 3);
}

/** Characters that follow the one before them in the order of their codes, as in `abcdef` and `012345`. */
function runs(text: string): number {
  let count = 0;
  for (let at = 1; at < text.length; at++)
    if (text.charCodeAt(at) === text.charCodeAt(at - 1) + 1) count += 1;
  return count;
}

function longestRepeat(text: string): number {
  let longest = 0;
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    length = text[at] === text[at - 1] ? length + 1 : 1;
    longest = Math.max(longest, length);
  }
  return longest;
}
