/**
 * The answer on a terminal: its parts while the model writes it, and then what the user has not seen yet. All of it is framed, because
 * others wrote it.
 */
import type { Screen } from '@cordon/console/text';
import type { ContextId, Event, EventId } from '@cordon/core';

const MOST_LINES = 5_000;

type Part = Extract<Event, { kind: 'answer-part.proposed' }>;

export class ShownAnswer {
  readonly #screen: Screen;
  readonly #proposed = new Map<EventId, Part>();
  /** What is on the screen of the message that the model writes, or wrote last. */
  #shown = '';
  /** Whose message that is. */
  #context: ContextId | null = null;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  /** Prints a part once it was allowed. Needs every event, in order. */
  see(event: Event): void {
    if (event.kind === 'answer-part.proposed') this.#proposed.set(event.id, event);
    else if (event.kind === 'answer-part.executed') this.#print(event.causes);
    // Words before a call are no beginning of the answer.
    else if (event.kind === 'model-call.proposed') this.#begin(event);
    // Nor is what an earlier query showed that came to none.
    else if (event.kind === 'user.message') this.#shown = '';
  }

  /** The whole answer, or what is missing of it. */
  end(answer: string): void {
    const isBegun = this.#shown !== '' && answer.startsWith(this.#shown);
    const rest = isBegun ? answer.slice(this.#shown.length) : answer;
    this.#shown = '';
    if (!isBegun || rest.trim() !== '') this.#screen.quote(rest, MOST_LINES);
  }

  #begin({ context }: Event): void {
    if (context === this.#context) this.#shown = '';
  }

  #print([proposal]: readonly EventId[]): void {
    const part = proposal === undefined ? undefined : this.#proposed.get(proposal);
    this.#proposed.clear();
    if (part === undefined) return;
    if (part.from === 0) this.#shown = '';
    this.#shown += part.text;
    this.#context = part.context;
    // The line end behind it is the screen's.
    this.#screen.quote(part.text.replace(/\n$/, ''), MOST_LINES);
  }
}
