/**
 * A trace as rules see it: events become objects with fields, each with its place in the flow, tool outputs
 * linked to their calls. Events can be prepared without becoming part of the trace, to ask what they would do.
 *
 * Ring 0.
 */

import { type FlowRecord, ONLY_CONTEXT, type Place, Provenance } from '../events/provenance.ts';
import type { ToolCallEvent, TraceEvent } from '../events/trace-event.ts';
import { EventObject, labelOf } from './event-object.ts';

/** Events that have been given their places and are not part of the trace yet. */
export interface Batch {
  readonly entries: readonly EventObject[];
  readonly provenance: Provenance;
  /** By id, calls without one under null; a value of null: the id now means a call that no rule looks at. */
  readonly calls: ReadonlyMap<string | null, EventObject | null>;
  /** Of the next event. */
  readonly position: number;
}

/** Owns provenance and the links between calls and outputs; keeps no other event. */
export class Trace {
  /** What has happened. */
  readonly #past: BatchBuilder;

  /** `linkedCalls`: the tools whose calls outputs are linked to, because a rule may look at them; null: all. */
  constructor(linkedCalls: ReadonlySet<string> | null = null, paths: FlowRecord | null = null) {
    const calls = new Map<string | null, EventObject | null>();
    this.#past = new BatchBuilder(new Provenance(null, paths), calls, calls, 0, linkedCalls);
  }

  /** What the events would be if they came next. Changes nothing. */
  prepare(events: readonly TraceEvent[]): Batch {
    const batch = this.#past.fork();
    for (const event of events) batch.add(event);
    return batch;
  }

  /** The same, when the event has happened and needs no decision. */
  append(event: TraceEvent): readonly EventObject[] {
    this.#past.entries = [];
    this.#past.add(event);
    return this.#past.entries;
  }

  /** Makes a batch part of the trace; it must be the last one that was prepared. */
  commit(batch: Batch): void {
    this.#past.adopt(batch);
  }
}

class BatchBuilder implements Batch {
  entries: EventObject[] = [];
  readonly provenance: Provenance;
  readonly calls: Map<string | null, EventObject | null>;
  position: number;
  readonly #known: ReadonlyMap<string | null, EventObject | null>;
  readonly #linkedCalls: ReadonlySet<string> | null;

  /** `known`: the calls before those of the batch; the same map where nothing was before. */
  constructor(
    provenance: Provenance,
    calls: Map<string | null, EventObject | null>,
    known: ReadonlyMap<string | null, EventObject | null>,
    position: number,
    linkedCalls: ReadonlySet<string> | null,
  ) {
    this.provenance = provenance;
    this.calls = calls;
    this.#known = known;
    this.position = position;
    this.#linkedCalls = linkedCalls;
  }

  fork(): BatchBuilder {
    return new BatchBuilder(this.provenance.fork(), new Map(), this.calls, this.position, this.#linkedCalls);
  }

  adopt(batch: Batch): void {
    this.provenance.adopt(batch.provenance);
    this.position = batch.position;
    for (const [id, call] of batch.calls) {
      if (call === null) this.calls.delete(id);
      else this.calls.set(id, call);
    }
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
    } else if (event.type === 'ToolCall') this.#remember(event, object);
    this.position++;
  }

  /** An output without an id answers the last call without one (specification 4.1). */
  #linked(callId: string | null): EventObject | null {
    const own = this.calls.get(callId);
    return own === undefined ? (this.#known.get(callId) ?? null) : own;
  }

  #call(event: ToolCallEvent): EventObject {
    const object = new EventObject(event, this.position, this.#place(event), null);
    this.entries.push(object);
    this.#remember(event, object);
    return object;
  }

  /** A later call takes over the id of an earlier one, also when no rule looks at it. */
  #remember(event: ToolCallEvent, object: EventObject): void {
    const name = event.name.endsWith('\n') ? event.name.slice(0, -1) : event.name;
    if (this.#linkedCalls === null || this.#linkedCalls.has(name)) this.calls.set(event.callId, object);
    else if (this.calls === this.#known) this.calls.delete(event.callId);
    else this.calls.set(event.callId, null);
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
