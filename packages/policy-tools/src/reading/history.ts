/**
 * One conversation told many times: each request of a log repeats what came before. An event that has been told is
 * not told again, and what is linked to a repetition is linked to the original.
 *
 * A repetition is found in order: each request is matched with the conversation from its beginning, so a second
 * call that is equal to the first is new the first time that both are in one request.
 *
 * Recordings are read with it; the hub does not use it.
 */
import { canonicalJson, type Json } from '@cordon/core';
import type { Content, ToolCallEvent, TraceEvent } from '@cordon/policy';

/** The order in which equal things occurred. */
export class Occurrences<T> {
  readonly #places = new Map<string, number[]>();
  readonly #items: T[] = [];

  add(key: string, item: T): void {
    const places = this.#places.get(key) ?? [];
    places.push(this.#items.length);
    this.#places.set(key, places);
    this.#items.push(item);
  }

  /** The first occurrence between `from` and `to`, and the place behind it. */
  next(key: string, from: number, to: number): { readonly item: T; readonly behind: number } | null {
    const places = this.#places.get(key) ?? [];
    let low = 0;
    let high = places.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((places[middle] ?? 0) < from) low = middle + 1;
      else high = middle;
    }
    const place = places[low];
    const item = place === undefined ? undefined : this.#items[place];
    return place === undefined || place >= to || item === undefined ? null : { item, behind: place + 1 };
  }

  get size(): number {
    return this.#items.length;
  }
}

export class History {
  readonly #told = new Occurrences<TraceEvent>();
  /** Ids of repeated calls, where the format gives each telling its own. */
  readonly #originals = new Map<string, string>();

  /** What a request tells for the first time. */
  request(events: readonly TraceEvent[]): readonly TraceEvent[] {
    const told = this.#told.size;
    let from = 0;
    return events.flatMap((event) => {
      const key = eventKey(event);
      const found = this.#told.next(key, from, told);
      if (found === null) {
        this.#told.add(key, event);
        return [this.#linked(event)];
      }
      from = found.behind;
      this.#alias(event, found.item);
      return [];
    });
  }

  /** What a response says is new, even if it was said before. */
  response(events: readonly TraceEvent[]): readonly TraceEvent[] {
    for (const event of events) this.#told.add(eventKey(event), event);
    return events;
  }

  #alias(repeated: TraceEvent, original: TraceEvent): void {
    const originals = callsOf(original);
    for (const [index, call] of callsOf(repeated).entries()) {
      const callId = originals[index]?.callId ?? null;
      if (call.callId !== null && callId !== null && call.callId !== callId)
        this.#originals.set(call.callId, callId);
    }
  }

  #linked(event: TraceEvent): TraceEvent {
    if (event.type !== 'ToolOutput' || event.callId === null) return event;
    return { ...event, callId: this.#originals.get(event.callId) ?? event.callId };
  }
}

function callsOf(event: TraceEvent): readonly ToolCallEvent[] {
  return event.type === 'Message' ? event.toolCalls : event.type === 'ToolCall' ? [event] : [];
}

/** Equal for two tellings of one event: what it says, not where it stands or which ids it got. */
export function eventKey(event: TraceEvent): string {
  switch (event.type) {
    case 'Message':
      return canonicalJson(['m', event.role, said(event.content), event.toolCalls.map(called)]);
    case 'ToolCall':
      return canonicalJson(['c', called(event)]);
    case 'ToolOutput':
      return canonicalJson([
        'o',
        outputSaid(event.content),
        event.structured ?? null,
        event.isError ?? false,
      ]);
    case 'Tool':
      return canonicalJson([
        't',
        event.server,
        event.name,
        event.description,
        event.inputSchema.map(({ schema }) => schema),
      ]);
    default:
      return canonicalJson(['x', event.type, event.id ?? null, event.path ?? null]);
  }
}

export function called(call: ToolCallEvent): Json {
  return [call.name, call.arguments];
}

export function outputSaid(content: Extract<TraceEvent, { type: 'ToolOutput' }>['content']): Json {
  return isContent(content) ? said(content) : content;
}

function isContent(content: Extract<TraceEvent, { type: 'ToolOutput' }>['content']): content is Content {
  return content === null || typeof content === 'string' || Array.isArray(content);
}

export function said(content: Content): Json {
  if (content === null || typeof content === 'string') return content === null ? [] : [content];
  return content.map((chunk) => (chunk.type === 'text' ? chunk.text : chunk.image_url));
}
