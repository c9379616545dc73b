/** What computations over texts come to, whatever the language that writes them; null: only running it could tell. */
import { LONGEST_CODE } from './construct.ts';

export function joined(parts: readonly (string | null)[], between: string): string | null {
  let text = '';
  for (const [index, part] of parts.entries()) {
    if (part === null || text.length + part.length > LONGEST_CODE) return null;
    text += index === 0 ? part : between + part;
  }
  return text;
}

export function reversed(text: string | null): string | null {
  return text === null ? null : [...text].reverse().join('');
}

export function decodedBase64(text: string | null): string | null {
  const digits = text?.replace(/\s/g, '').replaceAll('-', '+').replaceAll('_', '/') ?? '';
  if (digits.length < 4 || !/^[A-Za-z0-9+/]+={0,2}$/.test(digits)) return null;
  return Buffer.from(digits, 'base64').toString('utf8');
}

export function decodedHex(text: string | null): string | null {
  const digits = text?.replace(/\s|\\x/g, '') ?? '';
  if (digits.length < 2 || !/^(?:[0-9a-fA-F]{2})+$/.test(digits)) return null;
  return Buffer.from(digits, 'hex').toString('utf8');
}
