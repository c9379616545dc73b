/**
 * A text becomes visible in a context from outside: the user's words, another context's request, results, or
 * earlier messages to sum up.
 */
import { type EventId, HUB_LABEL, joinLabels, type Label, USER_LABEL } from '@cordon/core';
import type { Context } from '../context/context.ts';
import type { Recorder } from './recorder.ts';

/** What a context recalls before it reads new words: its label, and the events that it came from. */
interface Recalled {
  readonly label: Label;
  readonly sources: readonly EventId[];
}

/** The user's words, after the earlier turns that the context recalls and all that flowed into those. */
export function recordUserInput(
  recorder: Recorder,
  context: Context,
  text: string,
  said: EventId,
  { label, sources }: Recalled = { label: HUB_LABEL, sources: [] },
): void {
  const provenance = { causes: [said, ...sources], label: joinLabels(USER_LABEL, label) };
  recordInput(recorder, context, text, provenance);
}

/** Rules see the text as what it is caused by; only `recordUserInput` makes it the user's. */
export function recordInput(
  recorder: Recorder,
  context: Context,
  text: string,
  provenance: { readonly causes: readonly EventId[]; readonly label: Label },
): void {
  recorder.record(context, { kind: 'query.delivered', text }, provenance);
}
