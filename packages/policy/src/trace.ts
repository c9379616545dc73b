/**
 * A trace as rules see it: events become objects with fields, each with its place in the flow, tool outputs
 * linked to their calls. Events can be prepared without becoming part of the trace, to ask what they would do.
 *
 * Ring 0.
 */
import { EventObject, labelOf } from './event-object.ts';
import { ONLY_CONTEXT, type Place, Provenance } from './provenance.ts';
import type { TraceEvent } from './trace-event.ts';

/** Events that have been given their places and are not part of the trace yet. */
export interface Batch {
  readonly entries: readonly EventObject[];
  readonly provenance: Provenance;
  /** By id; null: the id now means a call that nobody looks at. */
  readonly calls: ReadonlyMap<string, EventObject | null>;
  /** Of the next event. */
  readonly position: number;
}

/** Owns provenance and the links between calls and outputs; keeps no other event. */
export class Trace {
  readonly #provenance = new Provenance();
  readonly #calls = new Map<string, EventObject | null>();
  readonly #callsBehind: ReadonlySet<string> | null;
  #position = 0;

  /** `callsBehind`: the tools whose calls outputs are linked to, because a rule may look at them; null: all. */
  constructor(callsBehind: ReadonlySet<string> | null = null) {
    this.#callsBehind = callsBehind;
  }

  /** What the events would be if they came next. Changes nothing. */
  prepare(events: readonly TraceEvent[]): Batch {
    const batch = new BatchBuilder(
      this.#provenance.fork(),
      new Map(),
      this.#calls,
      this.#position,
      this.#callsBehind,
    );
    for (const event of events) batch.add(event);
    return batch;
  }

  /** The same, when the event has happened and nobody asks. */
  append(event: TraceEvent): readonly EventObject[] {
    const batch = new BatchBuilder(
      this.#provenance,
      this.#calls,
      this.#calls,
      this.#position,
      this.#callsBehind,
    );
    batch.add(event);
    this.#position = batch.position;
    return batch.entries;
  }

  /** Makes a batch part of the trace; it must be the last one that was prepared. */
  commit(batch: Batch): void {
    this.#provenance.adopt(batch.provenance);
    this.#position = batch.position;
    for (const [id, call] of batch.calls) {
      if (call === null) this.#calls.delete(id);
      else this.#calls.set(id, call);
    }
  }
}

class BatchBuilder implements Batch {
  readonly entries: EventObject[] = [];
  readonly provenance: Provenance;
  readonly calls: Map<string, EventObject | null>;
  position: number;
  readonly #known: ReadonlyMap<string, EventObject | null>;
  readonly #callsBehind: ReadonlySet<string> | null;

  constructor(
    provenance: Provenance,
    calls: Map<string, EventObject | null>,
    known: ReadonlyMap<string, EventObject | null>,
    position: number,
    callsBehind: ReadonlySet<string> | null,
  ) {
    this.provenance = provenance;
    this.calls = calls;
    this.#known = known;
    this.position = position;
    this.#callsBehind = callsBehind;
  }

  /** A message stands before its calls, and its object holds theirs. */
  add(event: TraceEvent): void {
    const place = this.#place(event);
    if (event.type === 'Carrier') return;
    const call = event.type === 'ToolOutput' ? this.#linked(event.callId) : null;
    const object = new EventObject(event, this.position, place, call);
    this.entries.push(object);
    if (event.type === 'Message') {
      for (const own of event.toolCalls) object.toolCalls.push(this.#call(own));
      const last = object.toolCalls.at(-1);
      if (event.id !== undefined && last !== undefined) this.provenance.extend(event.id, last.place);
    } else if (event.type === 'ToolCall') this.#remember(object);
    this.position++;
  }

  #call(event: Extract<TraceEvent, { type: 'ToolCall' }>): EventObject {
    const object = new EventObject(event, this.position, this.#place(event), null);
    this.entries.push(object);
    this.#remember(object);
    return object;
  }

  /** A later call takes over the id of an earlier one, also when nobody looks at it. */
  #remember(call: EventObject): void {
    const { event } = call;
    if (event.type !== 'ToolCall' || event.callId === null) return;
    const name = event.name.endsWith('\n') ? event.name.slice(0, -1) : event.name;
    if (this.#callsBehind === null || this.#callsBehind.has(name)) this.calls.set(event.callId, call);
    else if (this.calls === this.#known) this.calls.delete(event.callId);
    else this.calls.set(event.callId, null);
  }

  #linked(callId: string | null): EventObject | null {
    if (callId === null) return null;
    const own = this.calls.get(callId);
    return own === undefined ? (this.#known.get(callId) ?? null) : own;
  }

  #place(event: TraceEvent): Place {
    return this.provenance.place({
      id: event.id ?? null,
      reference: event.path ?? event.id ?? null,
      context: event.context ?? ONLY_CONTEXT,
      causes: event.causes ?? NO_CAUSES,
      bornFrom: event.bornFrom ?? null,
      deliveredTo: event.deliveredTo ?? null,
      label: labelOf(event),
    });
  }
}

const NO_CAUSES: readonly string[] = [];
