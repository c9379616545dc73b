/** Where apps failed during a query, for a question afterwards about what they lacked. */
import type { AppId, Event, EventId } from '@cordon/core';

/** A request that the way out of an app refused, or the words of an app that failed. */
export type Failure =
  | {
      readonly kind: 'host';
      readonly app: AppId;
      readonly host: string;
      readonly port: number;
      /** The entry that the manifest lacks. */
      readonly lacks?: string;
      readonly words: string;
    }
  | { readonly kind: 'words'; readonly app: AppId; readonly words: string };

/** An app that fails all the time fills no memory. */
const MOST_FAILURES = 100;
const MOST_WORDS = 10_000;

/** Reads the events of one query. Decides nothing, and loads nothing that a query without failures does not need. */
export class Failures {
  readonly #failures: Failure[] = [];
  /** Proposals and decisions that lead to a call that cannot be undone. */
  readonly #irreversible = new Set<EventId>();
  #hasActed = false;

  observe(event: Event): void {
    if (event.kind === 'tool-call.proposed' && event.irreversible) this.#irreversible.add(event.id);
    if (event.causes.some((cause) => this.#irreversible.has(cause))) {
      if (event.kind === 'tool-call.decided' && event.verdict === 'allow') this.#irreversible.add(event.id);
      if (event.kind === 'tool-call.in-doubt') this.#hasActed = true;
      if (event.kind === 'tool-call.executed' && event.output?.isError !== true) this.#hasActed = true;
    }
    const failure = event.app === null ? null : failureOf(event.app, event);
    if (failure !== null && this.#failures.length < MOST_FAILURES) this.#failures.push(failure);
  }

  get all(): readonly Failure[] {
    return this.#failures;
  }

  /** Whether a call was made that cannot be undone, and that did not fail: asking again could make it twice. */
  get hasActed(): boolean {
    return this.#hasActed;
  }
}

/** Null: nothing failed, or not for a right. */
function failureOf(app: AppId, event: Event): Failure | null {
  const said = (words: string): Failure => ({ kind: 'words', app, words: words.slice(0, MOST_WORDS) });
  switch (event.kind) {
    case 'egress.refused': {
      const { host, port, reason, lacks } = event;
      if (host === null || port === null) return null;
      const words = `${host}:${port}: ${reason}`;
      return { kind: 'host', app, host, port, words, ...(lacks === undefined ? {} : { lacks }) };
    }
    case 'tool-call.executed':
      return event.output?.isError === true ? said(event.output.text) : null;
    case 'tool-call.failed':
    case 'app.unavailable':
      return said([event.fault.message, event.fault.help ?? ''].join('\n').trim());
    default:
      return null;
  }
}
