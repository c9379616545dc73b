/** How many events of each kind were read: what a report of "no violation" rests on. */
import type { TraceEvent } from '@cordon/policy';
import { counted } from '@cordon/print';

/** By the name of the kind in rules; what no rule can look at is not counted. */
export type EventCounts = Readonly<Record<string, number>>;

export const NO_EVENTS: EventCounts = {};

/** Calls inside of messages are counted by themselves. */
export function countEvents(events: readonly TraceEvent[]): EventCounts {
  const counts: Record<string, number> = {};
  const add = (kind: string, more: number): void => {
    if (more > 0) counts[kind] = (counts[kind] ?? 0) + more;
  };
  for (const event of events) {
    if (event.type === 'Carrier') continue;
    add(event.type, 1);
    if (event.type === 'Message') add('ToolCall', event.toolCalls.length);
  }
  return counts;
}

export function addEvents(a: EventCounts, b: EventCounts): EventCounts {
  const sum: Record<string, number> = { ...a };
  for (const [kind, count] of Object.entries(b)) sum[kind] = (sum[kind] ?? 0) + count;
  return sum;
}

export function hasEvents(counts: EventCounts): boolean {
  return Object.values(counts).some((count) => count > 0);
}

/** `read 2 messages, 1 tool call`. */
export function readWords(counts: EventCounts): string {
  const words = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) =>
      counted(count, kind.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`).toLowerCase()),
    );
  return words.length === 0 ? 'read nothing' : `read ${words.join(', ')}`;
}

/** Of a log in which nothing happens, "no violation" would say nothing. */
export const NOTHING_READ =
  'nothing that a rule could look at was found: no message, call, output or other event';
