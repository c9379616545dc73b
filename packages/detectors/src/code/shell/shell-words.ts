/** Words of a shell command: what they come to, as far as that can be seen without running anything. */
import type { DoubleQuotedChild, Word, WordPart } from 'unbash';
import type { Stretch } from '../../text/finding.ts';

export interface ShellWord extends Stretch {
  /** What the command gets; null: only running it can tell. */
  readonly value: string | null;
  /** The same with `~` for a variable and `*` for what else is computed: enough to know a path by its end. */
  readonly shape: string;
  /** Whether the literal text is in the source letter by letter, from `bodyStart` on. */
  readonly bodyStart: number | null;
  /** Whether a command's output is part of it. */
  readonly hasSubstitution: boolean;
}

/** Joins the words that a shell gets as one text; the text stands where the first of them stood. */
export function joinedWords(words: readonly ShellWord[], first: ShellWord): ShellWord {
  const isKnown = words.every(({ value }) => value !== null);
  return {
    ...first,
    value: isKnown ? words.map(({ value }) => value).join(' ') : null,
    shape: words.map(({ shape }) => shape).join(' '),
    bodyStart: words.length === 1 ? first.bodyStart : null,
    end: words.at(-1)?.end ?? first.end,
  };
}

/** The value that a variable has wherever it is used; null: several, or none that can be seen. */
export type ValueOf = (name: string) => string | null;

export function shellWord(word: Word, source: string, known: ValueOf): ShellWord {
  const { parts } = word;
  const { pos: start, end } = word;
  if (parts === undefined)
    return {
      value: word.value,
      shape: word.value,
      bodyStart: source.startsWith(word.value, start) ? start : null,
      hasSubstitution: false,
      start,
      end,
    };
  let whole: string | null = '';
  let shape = '';
  let hasSubstitution = false;
  const add = (text: string | null, seen: string) => {
    whole = whole === null || text === null ? null : whole + text;
    shape += seen;
  };
  const visit = (part: WordPart | DoubleQuotedChild): void => {
    switch (part.type) {
      case 'Literal':
      case 'SingleQuoted':
      case 'AnsiCQuoted':
        add(part.value, part.value);
        return;
      case 'DoubleQuoted':
      case 'LocaleString':
        for (const inner of part.parts) visit(inner);
        return;
      case 'SimpleExpansion': {
        const value = known(part.text.slice(1));
        add(value, value ?? '~');
        return;
      }
      case 'ParameterExpansion': {
        const value =
          part.operation === undefined && part.prefix === undefined && part.index === undefined
            ? known(part.parameter)
            : null;
        add(value, value ?? '~');
        return;
      }
      case 'Glob':
      case 'ExtendedGlob':
      case 'BraceExpansion':
        add(null, part.text);
        return;
      case 'CommandExpansion':
      case 'ProcessSubstitution':
        hasSubstitution = true;
        add(null, '*');
        return;
      case 'ArithmeticExpansion':
        add(null, '*');
        return;
      default:
        part satisfies never;
    }
  };
  for (const part of parts) visit(part);
  const [only] = parts;
  const isQuoted = parts.length === 1 && (only?.type === 'SingleQuoted' || only?.type === 'DoubleQuoted');
  const text: string | null = whole;
  const bodyStart = isQuoted && text !== null && source.startsWith(text, start + 1) ? start + 1 : null;
  return { value: whole, shape, bodyStart, hasSubstitution, start, end };
}
