/**
 * An answer reaches the user while the model still writes it, in parts that end with a paragraph. Each part is decided before it is
 * shown.
 *
 * INVARIANT (what is shown was allowed): what the user has seen of a message is at any time a text that the monitor allowed as an answer.
 * From the first part on that it does not allow, nothing of the message is shown before the whole is decided.
 */
import type { Context } from '../context/context.ts';
import { type HeldText, joinedLabel } from '../context/references.ts';
import type { Gate } from '../mediation/gate.ts';
import type { OnText } from '../mediation/model-calls.ts';

/** A paragraph that is longer ends with its last complete line. */
const LONG_PARAGRAPH = 400;
/**
 * So many characters are decided for the parts of one message, each part together with what was shown before it. Attack: a message of
 * a million short paragraphs keeps the hub from everything else.
 */
const MOST_DECIDED = 2 * 1024 * 1024;

/** One message of a context whose turn answers the user. */
export class AnswerStream {
  readonly #gate: Pick<Gate, 'show'>;
  readonly #context: Context;
  /** What the user has seen of the message. */
  #shown = '';
  /** What the model has written behind it. */
  #open = '';
  #left = MOST_DECIDED;
  #isOver = false;
  #error: { readonly thrown: unknown } | null = null;

  constructor(gate: Pick<Gate, 'show'>, context: Context) {
    this.#gate = gate;
    this.#context = context;
  }

  /** The model has written more. Never throws, because it is called while a message of a process is read. */
  readonly hear: OnText = (delta) => {
    if (this.#isOver) return;
    this.#open += delta;
    // Only a line end can complete a part.
    if (!delta.includes('\n')) return;
    const end = endOfPart(this.#open);
    if (end === 0) return;
    const part = this.#open.slice(0, end);
    this.#open = this.#open.slice(end);
    try {
      if (!this.#show(part)) this.#isOver = true;
    } catch (thrown) {
      this.#isOver = true;
      this.#error = { thrown };
    }
  };

  /**
   * The message is complete. Of one that is no answer the rest is shown, too, because nothing else shows it. Throws what broke while a
   * part was shown.
   */
  end(isAnswer: boolean): void {
    if (!isAnswer && this.#open.trim() !== '') this.hear('\n\n');
    this.#isOver = true;
    if (this.#error !== null) throw this.#error.thrown;
  }

  #show(written: string): boolean {
    const context = this.#context;
    const text = answerText(context, written);
    this.#left -= this.#shown.length + text.length;
    if (this.#left < 0) return false;
    const label = joinedLabel(context.label, context.references.namedIn(written));
    const part = { effect: 'answer-part', context: context.id, text, from: this.#shown.length } as const;
    const isShown = this.#gate.show(context, part, this.#shown, label);
    this.#shown += text;
    return isShown;
  }
}

/** Behind the last blank line; in a long paragraph behind the last line end. 0: no part is complete. */
function endOfPart(text: string): number {
  const lines = text.split('\n').slice(0, -1);
  const blank = lines.findLastIndex((line, at) => at > 0 && line.trim() === '');
  const complete = blank < 0 && text.length >= LONG_PARAGRAPH ? lines.length : blank + 1;
  return lines.slice(0, complete).reduce((length, line) => length + line.length + 1, 0);
}

/** Keeps what a model writes until there is a listener. */
export class OverheardText {
  #text = '';
  #listener: OnText | null = null;

  readonly hear: OnText = (delta) => {
    if (this.#listener === null) this.#text += delta;
    else this.#listener(delta);
  };

  /** Passes on what was heard so far, and what comes. */
  passTo(listener: OnText): void {
    listener(this.#text);
    this.#text = '';
    this.#listener = listener;
  }
}

/** An answer as the user reads it: each reference replaced by its text, framed as somebody else's words. */
export function answerText(context: Context, answer: string): string {
  const resolved = context.references.resolve(answer, framed);
  return typeof resolved === 'string' ? resolved : answer;
}

function framed(held: HeldText): string {
  return `${framedText(held.text)} (from ${held.functionality})`;
}

/** A text of others within words of ours. */
export function framedText(text: string): string {
  return `«${text.replaceAll('«', '‹').replaceAll('»', '›')}»`;
}
