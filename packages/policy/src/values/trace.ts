/**
 * A trace as rules see it: events become objects with fields, each with its place in the flow, tool outputs
 * linked to their calls. Events can be prepared without becoming part of the trace, to ask what they would do.
 */

import { type FlowRecord, Provenance } from '../events/provenance.ts';
import type { ToolCallEvent, TraceEvent } from '../events/trace-event.ts';
import { EventObject, labelOf } from './event-object.ts';

/**
 * A trace, or a private continuation of one: events that have been given their places and have not happened yet. Owns
 * provenance and the links between calls and outputs; keeps no other event.
 */
export class Trace {
  readonly #base: Trace | null;
  readonly provenance: Provenance;
  readonly #linkedCalls: ReadonlySet<string> | null;
  /** By id, calls without one under null; a value of null: the id now means a call that no rule looks at. */
  readonly #calls = new Map<string | null, EventObject | null>();
  #entries: EventObject[] = [];
  /** Of the next event. */
  #position: number;

  /** `linkedCalls`: the tools whose calls outputs are linked to, because a rule may look at them; null: all. */
  constructor(
    linkedCalls: ReadonlySet<string> | null = null,
    paths: FlowRecord | null = null,
    base: Trace | null = null,
  ) {
    this.#base = base;
    this.provenance = base === null ? new Provenance(null, paths) : base.provenance.fork();
    this.#linkedCalls = linkedCalls;
    this.#position = base === null ? 0 : base.#position;
  }

  /** What came with the events of a continuation, or with the last one that was appended. */
  get entries(): readonly EventObject[] {
    return this.#entries;
  }

  /** What the events would be if they came next. Changes nothing. */
  prepare(events: readonly TraceEvent[]): Trace {
    const continuation = new Trace(this.#linkedCalls, null, this);
    for (const event of events) continuation.#add(event);
    return continuation;
  }

  /** The same, when the event has happened and needs no decision. */
  append(event: TraceEvent): readonly EventObject[] {
    this.#entries = [];
    this.#add(event);
    return this.#entries;
  }

  /** Makes a continuation part of the trace; it must be the last one that was prepared. */
  commit(continuation: Trace): void {
    this.provenance.adopt(continuation.provenance);
    this.#position = continuation.#position;
    for (const [id, call] of continuation.#calls) {
      if (call === null) this.#calls.delete(id);
      else this.#calls.set(id, call);
    }
  }

  /** A message stands before its calls, and its object holds theirs. */
  #add(event: TraceEvent): void {
    const place = this.provenance.place(event, labelOf(event));
    if (event.type === 'Carrier') return;
    const call = event.type === 'ToolOutput' ? this.#linked(event.callId) : null;
    const object = new EventObject(event, this.#position, place, call);
    this.#entries.push(object);
    if (event.type === 'Message') {
      for (const own of event.toolCalls) object.toolCalls.push(this.#call(own));
      const last = object.toolCalls.at(-1);
      if (event.id !== undefined && last !== undefined) this.provenance.extend(event.id, last.place);
    } else if (event.type === 'ToolCall') this.#remember(event, object);
    this.#position++;
  }

  /** An output without an id answers the last call without one (specification 4.1). */
  #linked(callId: string | null): EventObject | null {
    const own = this.#calls.get(callId);
    if (own !== undefined) return own;
    return this.#base === null ? null : (this.#base.#calls.get(callId) ?? null);
  }

  #call(event: ToolCallEvent): EventObject {
    const place = this.provenance.place(event, labelOf(event));
    const object = new EventObject(event, this.#position, place, null);
    this.#entries.push(object);
    this.#remember(event, object);
    return object;
  }

  /** A later call takes over the id of an earlier one, also when no rule looks at it. */
  #remember(event: ToolCallEvent, object: EventObject): void {
    const name = event.name.endsWith('\n') ? event.name.slice(0, -1) : event.name;
    if (this.#linkedCalls === null || this.#linkedCalls.has(name)) this.#calls.set(event.callId, object);
    else if (this.#base === null) this.#calls.delete(event.callId);
    else this.#calls.set(event.callId, null);
  }
}
