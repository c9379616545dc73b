/**
 * Texts that an event must hold for a line about it to hold: an event without them is left out before the line is
 * evaluated. `find` skips its engine by the same literals of a pattern, so nothing is left out that `find` would
 * have found, or would not have decided.
 */
import { type Alternatives, occursIn } from '@cordon/regex';
import type { VisibleEvent } from '../values/event-object.ts';

/** One thing that a line asks of the text that it is about. */
export class RequiredLiterals {
  /** The type of events whose content leaves the line undecided where it is no text; null: it is refuted there, too. */
  readonly undecidedWithout: string | null;
  readonly #read: () => readonly Alternatives[];
  #alternatives: readonly Alternatives[] | null = null;

  constructor(read: () => readonly Alternatives[], undecidedWithout: string | null) {
    this.#read = read;
    this.undecidedWithout = undecidedWithout;
  }

  /** Of each, one text occurs where the line holds. Empty: nothing is known. Worked out when it is first asked. */
  get alternatives(): readonly Alternatives[] {
    this.#alternatives ??= this.#read();
    return this.#alternatives;
  }

  /** Whether the line is refuted for certain because a message or an output lacks the texts. */
  isRefutedBy(event: VisibleEvent): boolean {
    if (event.type !== 'Message' && event.type !== 'ToolOutput') return false;
    const { alternatives } = this;
    const { content } = event;
    if (alternatives.length === 0) return false;
    if (content === null) return this.undecidedWithout === null;
    return typeof content === 'string' && !areAllIn(alternatives, content);
  }
}

/** Whether of each one text occurs in `text`. */
function areAllIn(alternatives: readonly Alternatives[], text: string): boolean {
  for (const texts of alternatives) if (!occursIn(texts, text)) return false;
  return true;
}
