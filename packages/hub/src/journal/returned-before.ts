/** What apps returned in a session before it was resumed, as its journal has it. */
import type { Event, EventId, JsonObject } from '@cordon/core';
import type { ReturnedOutput } from '../context/returned-texts.ts';

type Proposed = Extract<Event, { kind: 'tool-output.proposed' }>;

/** Outputs that were delivered, but for those of private queries, which are forgotten when they end. */
export function returnedBefore(past: readonly Event[]): readonly ReturnedOutput[] {
  const asked = new Map<string, JsonObject>();
  const proposed = new Map<EventId, Proposed>();
  const returned: ReturnedOutput[] = [];
  let isPrivate = false;
  for (const event of past) {
    if (event.kind === 'user.message') isPrivate = event.private === true;
    if (event.kind === 'tool-call.proposed') asked.set(event.callId, event.arguments);
    if (event.kind === 'tool-output.proposed') proposed.set(event.id, event);
    if (event.kind !== 'tool-output.executed' || isPrivate) continue;
    const [cause] = event.causes;
    const output = cause === undefined ? undefined : proposed.get(cause);
    if (output !== undefined) returned.push(outputOf(output, asked.get(output.callId) ?? {}));
  }
  return returned;
}

function outputOf(output: Proposed, args: JsonObject): ReturnedOutput {
  const { app, tool, id, text, structured, label } = output;
  return {
    ...{ app, tool, event: id, text, structured, arguments: args },
    // Whether words of the query named it counts in that query alone.
    namedByUser: null,
    isTrusted: label.integrity === 'trusted',
    isPrivate: label.confidentiality === 'private',
  };
}
