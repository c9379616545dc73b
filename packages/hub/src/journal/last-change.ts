/** What the apps of a session have changed last, and what the user has undone of it: read from the journal alone. */
import { type Event, type EventId, isJsonObject, type Json, parseJson, type UndoValue } from '@cordon/core';

type ToolCallEvent = Extract<Event, { kind: 'tool-call.proposed' }>;
type ToolOutputEvent = Extract<Event, { kind: 'tool-output.proposed' }>;

/** A call of a tool that may have changed something. */
export interface Change {
  readonly call: ToolCallEvent;
  /** What it returned, as far as the policy let it be seen; null: nothing. */
  readonly output: ToolOutputEvent | null;
  /** False: nobody knows whether it took effect. */
  readonly isCertain: boolean;
  /** Whether a call of the same app undid it, because the user wanted that. */
  readonly isUndone: boolean;
  /** Whether it was made for a private query. */
  readonly isPrivate: boolean;
  /** Whether it was made for another app or a step of a plan, without a conversation of its own app. */
  readonly isErrand: boolean;
}

/** The newest change that the user has not undone; null: there is none. */
export function lastChange(events: readonly Event[]): Change | null {
  return [...changesIn(events).values()].findLast(({ isUndone }) => !isUndone) ?? null;
}

/** The change that this call made; null: it made none. */
export function changeOf(events: readonly Event[], call: EventId): Change | null {
  return changesIn(events).get(call) ?? null;
}

/** In the order in which they were made. Calls that undo one are none themselves. */
function changesIn(events: readonly Event[]): ReadonlyMap<EventId, Change> {
  const changes = new Map<EventId, Change>();
  const calls = new Map<EventId, Pick<Change, 'call' | 'isPrivate' | 'isErrand'>>();
  const errands = new Set<Event['context']>();
  const outputs = new Map<EventId, ToolOutputEvent>();
  /** By the call that undoes, the call that is undone. */
  const undoing = new Map<EventId, EventId>();
  let query: Extract<Event, { kind: 'user.message' }> | null = null;
  const amend = (call: EventId | undefined, now: Partial<Change>) => {
    const change = call === undefined ? undefined : changes.get(call);
    if (call !== undefined && change !== undefined) changes.set(call, { ...change, ...now });
  };
  for (const event of events) {
    const [cause] = event.causes;
    if (event.kind === 'user.message') query = event;
    else if (event.kind === 'context.created' && event.of === 'errand') errands.add(event.context);
    else if (event.kind === 'tool-call.proposed') {
      if (query?.undoes !== undefined) undoing.set(event.id, query.undoes);
      else {
        const isErrand = errands.has(event.context);
        calls.set(event.id, { call: event, isPrivate: query?.private === true, isErrand });
      }
    } else if (event.kind === 'tool-output.proposed') outputs.set(event.id, event);
    if (cause === undefined) continue;
    if (event.kind === 'tool-output.executed') {
      const output = outputs.get(cause);
      amend(output?.causes[0], output === undefined ? {} : { output });
      continue;
    }
    const isCertain = wasCarriedOut(event);
    if (isCertain === true) amend(undoing.get(cause), { isUndone: true });
    const made = calls.get(cause);
    if (isCertain !== null && made !== undefined && made.call.labels?.readOnly !== true)
      changes.set(cause, { ...made, output: null, isCertain, isUndone: false });
  }
  return changes;
}

/** Null: it was not, as far as the app says. False: nobody knows. */
function wasCarriedOut(event: Event): boolean | null {
  if (event.kind === 'tool-call.executed') return event.output?.isError === true ? null : true;
  if (event.kind === 'tool-call.in-doubt') return false;
  return event.kind === 'tool-call.failed' && event.fault.outcome === 'unknown' ? false : null;
}

/** A value of the call that is undone; undefined: the call has none there. */
export function valueOfChange({ call, output }: Change, { of, at }: UndoValue): Json | undefined {
  let value: Json | undefined = of === 'arguments' ? call.arguments : outputOf(output);
  for (const key of at) {
    const inner: Json | undefined =
      value !== undefined && isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
    value = inner;
  }
  return value;
}

/** Many apps return JSON as a text. */
function outputOf(output: ToolOutputEvent | null): Json | undefined {
  if (output === null) return undefined;
  if (output.structured !== null) return output.structured;
  const parsed = parseJson(output.text);
  return parsed.ok ? parsed.value : undefined;
}

/** `15:02`, and the date where it was another day, in the time zone of this process. */
export function timeInWords(time: number, now: number): string {
  const [day, clock] = localParts(time);
  return day === localParts(now)[0] ? clock : `${day} ${clock}`;
}

function localParts(time: number): readonly [day: string, clock: string] {
  const at = new Date(time);
  const two = (part: number) => String(part).padStart(2, '0');
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return [day, `${two(at.getHours())}:${two(at.getMinutes())}`];
}
