/**
 * What a trace must show, whatever the query: no effect without a decision that allowed exactly this effect before.
 * Test code; reads the printed events as any other program would.
 */
import assert from 'node:assert/strict';
import type { TraceEvent } from './provider-harness.ts';

/** Events of a kind, in order. */
export function eventsOf(events: readonly TraceEvent[], kind: string): readonly TraceEvent[] {
  return events.filter((event) => event.kind === kind);
}

/** A field of each event of a kind. */
export function fieldOf(events: readonly TraceEvent[], kind: string, field: string): readonly unknown[] {
  return eventsOf(events, kind).map((event) => event[field]);
}

/** Fails unless each effect that happened was allowed before. Answers how many effects it looked at. */
export function assertMediated(events: readonly TraceEvent[]): number {
  const happened = events.flatMap((event, index) => {
    const effect = /^(.*)\.(executed|failed)$/.exec(event.kind)?.[1];
    return effect === undefined ? [] : [{ event, index, effect }];
  });
  for (const { event, index, effect } of happened) {
    const before = events.slice(0, index);
    const proposed = before.find(({ id, kind }) => kind === `${effect}.proposed` && isCause(event, id));
    assert.ok(proposed, `${event.kind} carries on no proposal`);
    const verdicts = before
      .filter(({ kind, causes }) => kind === `${effect}.decided` && includes(causes, proposed.id))
      .map(({ verdict }) => verdict);
    assert.deepEqual(verdicts, ['allow'], `${event.kind} after ${JSON.stringify(verdicts)}`);
  }
  return happened.length;
}

function isCause(event: TraceEvent, id: unknown): boolean {
  return includes(event.causes, id);
}

function includes(list: unknown, item: unknown): boolean {
  return Array.isArray(list) && list.includes(item);
}
