/**
 * One writer for a session: every event gets its place in the journal here, before anything acts on it.
 *
 * Ring 0.
 */
import {
  type ContextId,
  type Event,
  type EventBody,
  type EventId,
  HUB_LABEL,
  type Label,
} from '@cordon/core';
import type { Context } from './context.ts';

/** Where an event arose and what it carries on. */
export interface Provenance {
  readonly causes?: readonly EventId[];
  readonly label?: Label;
}

/** Appends and answers the event as it stands in the trace. Throws when the journal cannot be written: a
 * system that cannot record does not act. */
export type Append = (entry: {
  readonly context: ContextId | null;
  readonly app: Event['app'];
  readonly causes: readonly EventId[];
  readonly label: Label;
  readonly body: EventBody;
}) => Event;

export class Recorder {
  readonly #append: Append;

  constructor(append: Append) {
    this.#append = append;
  }

  /** `context` null: the operator itself. */
  record(
    context: Context | null,
    body: EventBody,
    { causes = [], label = HUB_LABEL }: Provenance = {},
  ): Event {
    return this.#append({ context: context?.id ?? null, app: context?.app ?? null, causes, label, body });
  }
}
