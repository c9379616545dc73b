/**
 * The diagnostics of the language: one stable code for each kind of problem. `docs/policy/reference.md`
 * lists them; a code is never given a new meaning.
 *
 * Ring 0.
 */
import type { Diagnostic } from '@cordon/core';
import type { Source, Span } from './source.ts';

/** Code, and what kind of problem it stands for. */
export const CODES = {
  POL001: 'a character that belongs to no token',
  POL002: 'a string without its end',
  POL003: 'something else was expected here',
  POL004: 'a block without lines',
  POL005: 'the text is nested too deeply or too long',
  POL006: 'a statement that is none',
  POL007: '`def` is not supported',
  POL008: 'only the last of several values in parentheses would count',
  POL009: 'a wildcard or value reference outside of a tool pattern',
  POL010: 'a name that resolves nowhere',
  POL011: 'a variable that is declared twice',
  POL012: 'a type that does not exist',
  POL013: 'a field that events of this type do not have',
  POL014: 'a wrong number of arguments',
  POL015: 'an import that cannot be resolved',
  POL016: 'a name that is not a function is called',
  POL017: 'an unknown value reference',
  POL018: 'a regular expression that cannot be used',
  POL019: 'a tool pattern with named or several arguments',
  POL020: 'a name that is defined twice',
  POL021: 'the sides of a flow are not events',
  POL022: 'an addition of this language in the `invariant` dialect',
  POL023: 'constants or predicates that need each other in a circle',
  POL050: 'a line that is never true or false',
  POL051: '`not` before a comparison',
  POL052: '`and` and `or` in one line',
  POL053: '`contains_only` means the reverse of what it says',
  POL054: 'a ternary that other implementations group differently',
  POL055: 'a detector that is not available',
  POL056: 'a variable that nothing uses',
  POL071: 'a regular expression whose steps are counted',
} as const;

export type Code = keyof typeof CODES;

/** Nobody reads more, and a megabyte of noise must not become a gigabyte of reports. */
const MAX_DIAGNOSTICS = 1000;

/** Collects the diagnostics of one source; errors and warnings in the order in which they were found. */
export class Diagnostics {
  readonly #source: Source;
  readonly #found: Diagnostic[] = [];
  #hasErrors = false;

  constructor(source: Source) {
    this.#source = source;
  }

  error(code: Code, span: Span, message: string, help?: string): void {
    this.#add('error', code, span, message, help);
  }

  warning(code: Code, span: Span, message: string, help?: string): void {
    this.#add('warning', code, span, message, help);
  }

  /** In the order of the text. */
  all(): readonly Diagnostic[] {
    return this.#found.toSorted(byPlace);
  }

  hasErrors(): boolean {
    return this.#hasErrors;
  }

  #add(severity: 'error' | 'warning', code: Code, span: Span, message: string, help?: string): void {
    if (severity === 'error') this.#hasErrors = true;
    if (this.#found.length >= MAX_DIAGNOSTICS) return;
    const range = this.#source.range(span);
    const base = { code, severity, file: this.#source.file, range, message: clipped(message) };
    this.#found.push(help === undefined ? base : { ...base, help });
  }
}

function byPlace({ range: a }: Diagnostic, { range: b }: Diagnostic): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined);
  return a.line - b.line || a.column - b.column;
}

/**
 * A message quotes the text, which may be of any length and hold anything: line ends, terminal controls,
 * characters that turn the direction of writing.
 */
function clipped(message: string): string {
  const visible = message.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (character) =>
    character === '\n' ? '\\n' : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
  return visible.length <= 300 ? visible : `${visible.slice(0, 300)}…`;
}
