/** Personal data in texts, by form and check digits. Ring 1. */
import type { Finding } from '../finding.ts';

const EMAIL = /[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}/g;

/** Every finding, in the order of its start. */
export function findPersonalData(text: string): readonly Finding[] {
  if (!text.includes('@')) return [];
  return [...text.matchAll(EMAIL)].map((match) => ({
    kind: 'EMAIL_ADDRESS',
    start: match.index,
    end: match.index + match[0].length,
    confidence: 0.9,
    reason: 'the form of an e-mail address',
  }));
}
