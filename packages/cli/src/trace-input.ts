/**
 * Traces from files and standard input: one JSON document, or JSON lines that are traces each or messages of one.
 *
 * Ring 1; see docs/cli.md.
 */
import {
  type Diagnostic,
  failed,
  isJsonObject,
  type Json,
  type JsonLimits,
  type JsonObject,
  ok,
  parseJson,
  type Result,
} from '@cordon/core';
import { decodeChat, type TraceEvent, type TraceFault } from '@cordon/policy';
import { openBytes, readStream } from './text-file.ts';

/** A trace, and the document that the paths of its events lead into. */
export interface TraceInput {
  /** The file; in JSON lines of traces with the number of the line (`log.jsonl:3`); `-` is standard input. */
  readonly name: string;
  readonly document: Json;
  readonly events: readonly TraceEvent[];
}

export interface TraceSources {
  readonly standardInput: AsyncIterable<Uint8Array>;
}

/** A text of JavaScript has at most half a gigabyte; far below it, the tree of values still fits into memory. */
const MOST_BYTES = 256 * 1024 * 1024;
const LIMITS: JsonLimits = { length: MOST_BYTES, depth: 512, elements: 50_000_000 };

/**
 * The traces of a file, one after the other. What is no trace is a diagnostic, and the next line is read all the same.
 * `-` is standard input, which can be read once.
 */
export async function* readTraces(
  file: string,
  sources: TraceSources,
): AsyncGenerator<Result<TraceInput, Diagnostic>> {
  const text = await readStream(file, file === '-' ? sources.standardInput : openBytes(file), MOST_BYTES);
  if (text.ok) yield* tracesOf(file, text.value);
  else yield text;
}

/** The traces in a text that was read from `file`. */
export function* tracesOf(file: string, text: string): Generator<Result<TraceInput, Diagnostic>> {
  if (/\.(jsonl|ndjson)$/i.test(file)) return yield* tracesOfLines(file, text);
  const whole = parseJson(text, LIMITS);
  if (whole.ok) yield traceOf(file, whole.value);
  else if (isFirstLineJson(text)) yield* tracesOfLines(file, text);
  else yield failed(problem('TRC001', file, `this is not JSON: ${whole.fault}`, JSON_HELP));
}

const JSON_HELP = 'a trace is a JSON list of messages, an object with `messages`, or lines of such';

interface Line {
  /** From 1. */
  readonly number: number;
  readonly json: Result<Json, string>;
}

function* tracesOfLines(file: string, text: string): Generator<Result<TraceInput, Diagnostic>> {
  const first = firstJson(text);
  if (first !== null && isElement(first)) return yield traceOfElements(file, text);
  let isEmpty = true;
  for (const { number, json } of lines(text)) {
    isEmpty = false;
    const name = `${file}:${number}`;
    yield json.ok
      ? traceOf(name, json.value)
      : failed(problem('TRC001', name, `this line is not JSON: ${json.fault}`, JSON_HELP));
  }
  if (isEmpty) yield failed(problem('TRC001', file, 'the file is empty', JSON_HELP));
}

/** Each line is a message (a call, a span, …): together they are one trace, and without one of them they are none. */
function traceOfElements(file: string, text: string): Result<TraceInput, Diagnostic> {
  const elements: Json[] = [];
  for (const { number, json } of lines(text)) {
    if (!json.ok)
      return failed(
        problem('TRC001', `${file}:${number}`, `this line is not JSON: ${json.fault}`, JSON_HELP),
      );
    elements.push(json.value);
  }
  return traceOf(file, elements);
}

/** A part of a trace: an object that holds no list of such parts. */
function isElement(value: Json): boolean {
  return isJsonObject(value) && messagesOf(value) === null;
}

function* lines(text: string): Generator<Line> {
  let number = 0;
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf('\n', start);
    const end = found < 0 ? text.length : found;
    const line = text.slice(start, end).trim();
    start = end + 1;
    number++;
    if (line !== '') yield { number, json: parseJson(line, LIMITS) };
  }
}

function firstJson(text: string): Json | null {
  for (const { json } of lines(text)) if (json.ok) return json.value;
  return null;
}

function isFirstLineJson(text: string): boolean {
  for (const { json } of lines(text)) return json.ok;
  return false;
}

function traceOf(name: string, document: Json): Result<TraceInput, Diagnostic> {
  const events = decode(document);
  if (events.ok) return ok({ name, document, events: events.value });
  const { path, message } = events.fault;
  return failed(problem('TRC002', name, message, JSON_HELP, path));
}

function decode(document: Json): Result<readonly TraceEvent[], TraceFault> {
  if (!isJsonObject(document)) return decodeChat(document);
  return decodeChat(messagesOf(document) ?? [document]);
}

function messagesOf(document: JsonObject): readonly Json[] | null {
  const messages = Object.hasOwn(document, 'messages') ? document.messages : null;
  return Array.isArray(messages) ? messages : null;
}

function problem(code: string, file: string, message: string, help: string, path = ''): Diagnostic {
  return { code, severity: 'error', file, message, help, ...(path === '' ? {} : { path }) };
}
