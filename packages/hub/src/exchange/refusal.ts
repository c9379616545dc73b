/**
 * What a spoke hears of a request that comes to nothing: that it was refused, or what it could mend. Nothing of the reason.
 */
import { ok, REFUSED_TEXT } from '@cordon/core';
import type { Context } from '../context/context.ts';
import type { Recorder } from '../journal/recorder.ts';
import type { Served } from '../spokes/spoke-link.ts';

export const REFUSED: Served = ok({ type: 'refusal', malformed: false, text: REFUSED_TEXT });

/** Drops a message. The journal gets the `reason`; the spoke gets `told`, which says nothing of other contexts. */
export function malformed(recorder: Recorder, context: Context, reason: string, told: string): Served {
  recorder.drop(context, reason);
  return ok({ type: 'refusal', malformed: true, text: `malformed: ${told}` });
}
