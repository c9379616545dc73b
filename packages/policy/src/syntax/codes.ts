/**
 * The diagnostics of the language: one stable code for each kind of problem. `docs/policy/reference.md`
 * lists them; a code is never given a new meaning.
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
  POL006: 'an invalid statement',
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
  POL023: 'a circular definition of constants or predicates',
  POL025: 'a text that the argument of a function can never be',
  POL049: 'a fault of the formatter',
  POL050: 'a line that is never true or false',
  POL051: '`not` before a comparison',
  POL052: '`and` and `or` in one line',
  POL053: '`contains_only` means the reverse of what it says',
  POL054: 'a ternary that other implementations group differently',
  POL055: 'a detector that is not available',
  POL056: 'a variable that nothing uses',
  POL057: 'a constant, predicate or import that nothing uses',
  POL058: 'a name that hides another',
  POL059: 'a rule that another rule makes superfluous',
  POL060: 'lines that never hold together, or a variable over nothing',
  POL061: 'a line or comparison that is never true',
  POL062: 'a line or comparison that is always true',
  POL063: 'a text that the field never holds',
  POL064: 'a field or method that no such value has',
  POL065: 'a regular expression that never matches',
  POL066: 'a tool that no installed app has',
  POL067: 'an argument that the tool does not have',
  POL068: 'a value that the argument of the tool never has',
  POL069: 'a rule whose cost grows with the trace',
  POL070: 'lines of a constant that do not count',
  POL071: 'a regular expression whose steps are counted',
  POL072: 'an order between calls of different apps',
  POL080: 'values in an f-string, which other implementations leave as they are',
  POL081: 'several operators that other implementations may group differently',
  POL082: '`is not`, which is never true in other implementations',
  POL083: 'a variable that other implementations do not bind',
  POL084: '`match`, which only looks at the beginning of a text',
  POL085: 'a backslash and a letter where a line end or tab is meant',
  POL086: 'a function that cannot find anything in its argument',
  POL087: 'branches of a pattern that need not reach the end of the text',
  POL088: 'a regular expression that is looked for as it is written',
  POL089: 'a rule that other implementations never report for pending events',
  POL090: 'a number with and without decimal point',
  POL091: 'a predicate that calls itself',
  POL092: 'a text of several lines that other implementations change',
  POL093: '`input.data`, which is the trace in other implementations',
  POL094: 'a name that other implementations lose behind a list comprehension',
} as const;

export type Code = keyof typeof CODES;

/** Nobody reads more, and a megabyte of noise must not become a gigabyte of reports. */
const MAX_DIAGNOSTICS = 1000;

/** Collects the diagnostics of one source; errors and warnings in the order in which they were found. */
export class Diagnostics {
  readonly #source: Source;
  readonly #found: Diagnostic[] = [];
  /** Code and place of what was found: one problem can be met on several ways. */
  readonly #places = new Set<string>();
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
    const place = `${code} ${span.start} ${span.end}`;
    if (this.#places.has(place)) return;
    this.#places.add(place);
    const range = this.#source.range(span);
    const base = { code, severity, file: this.#source.file, range, message: clipped(message) };
    this.#found.push(help === undefined ? base : { ...base, help: clipped(help) });
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
