/** A recorded trace told to a judge, event by event: what it says of each call before the call happens. */
import type { ToolCallEvent, TraceEvent } from '@cordon/policy';
import type { Position } from '../protection/recorded-trace.ts';
import type { Judge } from './peer.ts';

export interface Verdict {
  readonly at: Position;
  readonly isStopped: boolean;
}

/** All calls are told as if they had happened, stopped or not: the trace is recorded and goes on as it went on. */
export async function verdicts(judge: Judge, events: readonly TraceEvent[]): Promise<readonly Verdict[]> {
  const said: Promise<Verdict>[] = [];
  for (const [message, event] of events.entries()) {
    if (event.type !== 'Message' || event.toolCalls.length === 0) {
      judge.hear(event);
      continue;
    }
    judge.hear({ ...event, toolCalls: [] });
    for (const [call, proposed] of event.toolCalls.entries()) {
      said.push(verdict(judge, proposed, { message: placeOf(event, message), call }));
      judge.hear(proposed);
    }
  }
  return Promise.all(said);
}

async function verdict(judge: Judge, call: ToolCallEvent, at: Position): Promise<Verdict> {
  return { at, isStopped: await judge.stops(call) };
}

/** The number of the message in the log. */
function placeOf(event: TraceEvent, index: number): number {
  return event.path === undefined ? index : Number.parseInt(event.path, 10);
}
