/**
 * One line for each event of a trace, for people: who, what, and the beginning of its text.
 *
 * A program that shows it escapes the words of others in it.
 */

import { argumentsInLine } from '@cordon/console/text';
import type { Json } from '@cordon/core';
import type { TraceEvent } from '@cordon/policy';

/** Characters of a text or of arguments. */
const MOST_TEXT = 120;
/** One element of a log can be a call and its output. */
const MOST_EVENTS = 3;

/** Summaries by the name that reports give an event: its path, else its id. */
export class EventSummaries {
  readonly #events: ReadonlyMap<string | undefined, readonly TraceEvent[]>;
  /** By the id of the call. */
  readonly #tools: ReadonlyMap<string | null, string>;

  constructor(events: readonly TraceEvent[]) {
    const all = events.flatMap((event): readonly TraceEvent[] =>
      event.type === 'Message' ? [event, ...event.toolCalls] : [event],
    );
    this.#events = Map.groupBy(all, (event) => event.path ?? event.id);
    const calls = all.filter((event) => event.type === 'ToolCall');
    this.#tools = new Map(calls.map(({ callId, name }) => [callId, name]));
  }

  /** Empty where there is no such event. */
  of(reference: string): string {
    const events = this.#events.get(reference) ?? [];
    return events
      .slice(0, MOST_EVENTS)
      .map((event) => this.#summary(event))
      .join('; ');
  }

  #summary(event: TraceEvent): string {
    switch (event.type) {
      case 'Message':
        return messageSummary(event);
      case 'ToolCall':
        return `calls ${event.name} ${argumentsInLine(event.arguments, MOST_TEXT)}`;
      case 'ToolOutput': {
        const tool = event.callId === null ? undefined : this.#tools.get(event.callId);
        return `${tool ?? 'a tool'} returns ${contentSummary(event.content)}`;
      }
      case 'Tool':
        return `the tool ${event.name}: ${clipped(event.description)}`;
      case 'AppRequest':
        return `${event.from ?? 'the assistant'} asks ${event.to ?? 'an app'} for ${event.functionality}`;
      case 'AppResponse':
        return `${event.from ?? 'an app'} answers ${event.to ?? 'the assistant'}: ${event.functionality}`;
      case 'DataRelease':
        return `${event.to ?? 'a context'} is given ${event.items.map(({ name }) => name).join(', ')}`;
      case 'Endorsement':
        return `the user allows ${event.values.map(({ name }) => name).join(', ')}`;
      case 'Egress':
        return `${event.app ?? 'a process'} connects to ${event.host}:${event.port}`;
      case 'Plan':
        return `a plan of ${event.steps.length} steps`;
      case 'Carrier':
        return '';
    }
  }
}

function messageSummary(event: Extract<TraceEvent, { type: 'Message' }>): string {
  const calls = event.toolCalls.map(({ name }) => name).join(', ');
  if (event.content === null && calls !== '') return `${event.role} calls ${clipped(calls)}`;
  return `${event.role}: ${contentSummary(event.content)}${calls === '' ? '' : ` [calls ${clipped(calls)}]`}`;
}

function contentSummary(content: Extract<TraceEvent, { type: 'ToolOutput' }>['content']): string {
  if (content === null) return '(nothing)';
  if (typeof content === 'string') return quotedText(content);
  if (!isChunks(content)) return clipped(JSON.stringify(content));
  const parts = content.map((chunk) => (chunk.type === 'text' ? quotedText(chunk.text) : '(an image)'));
  return parts.length === 0 ? '(nothing)' : clipped(parts.join(' '));
}

function isChunks<T>(content: readonly T[] | { readonly [key: string]: Json }): content is readonly T[] {
  return Array.isArray(content);
}

function quotedText(text: string): string {
  const line = text
    .slice(0, MOST_TEXT * 2)
    .replace(/\s+/g, ' ')
    .trim();
  return line === '' ? '(no text)' : `"${clipped(line)}"`;
}

function clipped(text: string): string {
  return text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : text;
}
