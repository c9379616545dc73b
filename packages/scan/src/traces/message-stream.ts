/**
 * A trace that comes message by message: each line becomes events whose paths count the messages that have happened
 * before, as if all of them stood in one list.
 */

import { jsonFaultOfLine, nearest } from '@cordon/config/reading';
import {
  failed,
  isJsonObject,
  type Json,
  type JsonLimits,
  type JsonObject,
  ok,
  parseJson,
  type Result,
  visibleLine,
} from '@cordon/core';
import type { TraceEvent } from '@cordon/policy';
import { decodeChat, type TraceFault } from '@cordon/policy-tools';
import type { Dialect } from '../policies/policy-files.ts';
export type Answer = 'given' | 'not-needed';

export interface NextEvents {
  readonly events: readonly TraceEvent[];
  /** Makes the events part of the trace, so that what follows is counted from behind them. */
  readonly happened: () => void;
}

/** What one line asks about. */
export interface Pending extends NextEvents {
  /** Null: the line says nothing about it. */
  readonly consent: Answer | null;
}

/** Text of one line; a tool may return as much, and a person writes less. */
export const MOST_LINE_BYTES = 16 * 1024 * 1024;
const LIMITS: JsonLimits = { length: MOST_LINE_BYTES, depth: 512, elements: 5_000_000 };

export class MessageStream {
  readonly #dialect: Dialect;
  #messages = 0;
  /** An output without an id answers the last call; null: that has none either. */
  #lastCall: string | null = null;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  /** Reads `{"role": …}`, or `{"pending": [messages], "consent": "given"}`. Changes nothing until `happened`. */
  read(line: string): Result<Pending, string> {
    const parsed = parseJson(line, LIMITS);
    if (!parsed.ok) return failed(`the line ${jsonFaultOfLine(parsed.fault)}`);
    const value = parsed.value;
    if (!isJsonObject(value)) return failed('a line is an object: a message, or `{"pending": [messages]}`');
    if (!Object.hasOwn(value, 'pending')) return this.#line([value], null);
    return this.#several(value);
  }

  #several(value: JsonObject): Result<Pending, string> {
    const { pending, consent = null, ...others } = value;
    const [unknown] = Object.keys(others);
    if (unknown !== undefined) {
      const meant = nearest(unknown, ['consent']);
      const help = meant === null ? '' : `; did you mean \`${meant}\`?`;
      return failed(`beside \`pending\` there is no \`${visibleLine(unknown, 40)}\`${help}`);
    }
    if (consent !== null && consent !== 'given' && consent !== 'not-needed') {
      return failed('`consent` is `given` or `not-needed`');
    }
    if (!isList(pending) || pending.length === 0) return failed('`pending` is a list of messages');
    return this.#line(pending, consent);
  }

  #line(messages: readonly Json[], consent: Answer | null): Result<Pending, string> {
    const next = this.next(messages);
    if (next.ok) return ok({ ...next.value, consent });
    const { path, message } = next.fault;
    return failed(path === '' ? message : `${path}: ${message}`);
  }

  /** The events of messages that may come next; the path of a fault begins at 0. */
  next(messages: readonly Json[]): Result<NextEvents, TraceFault> {
    const legacy = this.#dialect === 'cordon' ? messages.findIndex(isLegacyOutput) : -1;
    if (legacy >= 0) return failed({ path: `${legacy}.role`, message: LEGACY_OUTPUT });
    const decoded = decodeChat(messages, this.#lastCall);
    if (!decoded.ok) return decoded;
    const events = decoded.value.map((event) => movedBehind(event, this.#messages));
    const lastCall = idOfLastCall(events, this.#lastCall);
    return ok({
      events,
      happened: () => {
        this.#messages += messages.length;
        this.#lastCall = lastCall;
      },
    });
  }
}

/** Files with such outputs are read: there the call that it answers is looked for by its name. */
function isLegacyOutput(message: Json): boolean {
  return isJsonObject(message) && message.role === 'function';
}

const LEGACY_OUTPUT =
  'the role `function` is a tool output of an older form: write the role `tool` with a `tool_call_id`';

/** Null: the last call has none. */
function idOfLastCall(events: readonly TraceEvent[], before: string | null): string | null {
  const last = events
    .flatMap((event) =>
      event.type === 'ToolCall' ? [event] : event.type === 'Message' ? event.toolCalls : [],
    )
    .at(-1);
  return last === undefined ? before : last.callId;
}

/** The event with every path in it counted from behind so many messages. */
function movedBehind(event: TraceEvent, messages: number): TraceEvent {
  if (messages === 0) return event;
  const moved = (path: string) => path.replace(/^\d+/, (index) => String(Number(index) + messages));
  const framed = <T extends TraceEvent>(inner: T): T => ({
    ...inner,
    ...(inner.path === undefined ? {} : { path: moved(inner.path) }),
    ...(inner.parts === undefined
      ? {}
      : { parts: Object.fromEntries(Object.entries(inner.parts).map(([key, path]) => [key, moved(path)])) }),
  });
  if (event.type !== 'Message') return framed(event);
  return { ...framed(event), toolCalls: event.toolCalls.map(framed) };
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}
