/**
 * The tokens of the language. No word is reserved: `if`, `is`, `tool` are names, and the parser decides by
 * position what they mean (specification 2.2).
 */
import type { Span } from './source.ts';

export type Token = Span &
  (
    | { readonly kind: 'name'; readonly text: string }
    | { readonly kind: 'number'; readonly text: string; readonly value: number; readonly isInteger: boolean }
    | StringParts
    | { readonly kind: 'value-reference'; readonly text: string }
    | { readonly kind: 'operator'; readonly text: Operator }
    /** Characters of no token; reported already. */
    | { readonly kind: 'unknown'; readonly text: string }
    | { readonly kind: 'newline' | 'indent' | 'dedent' | 'end'; readonly text: string }
  );

interface StringParts {
  readonly kind: 'string';
  /** As written, quotes and prefix included. */
  readonly text: string;
  readonly value: string;
  readonly prefix: '' | 'r' | 'f';
  readonly isMultiline: boolean;
  /** False: it ends where the line or the text does, and that is reported. */
  readonly isClosed: boolean;
}

export type StringToken = Span & StringParts;

/** Longest first, so that `:=` is never read as `:` and `=`. */
export const OPERATORS = [
  ':=',
  '==',
  '!=',
  '>=',
  '<=',
  '->',
  '~>',
  '**',
  '>',
  '<',
  '+',
  '-',
  '*',
  '/',
  '%',
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  ',',
  ':',
  '.',
  '=',
] as const;

export type Operator = (typeof OPERATORS)[number];
