/**
 * Traces from files and standard input: one JSON document, or JSON lines that are traces each or messages of one.
 *
 * See docs/cli.md.
 */

import { jsonFault, openBytes, quoted, readStream, suggestion } from '@cordon/config/reading';
import {
  type Diagnostic,
  failed,
  isJsonObject,
  type Json,
  type JsonLimits,
  ok,
  parseJson,
  type Result,
} from '@cordon/core';
import type { TraceEvent } from '@cordon/policy';
import { readTrace, TRACE_FORMATS, type TraceFormat, type TraceLabels } from '@cordon/policy-tools';
import type { Dialect } from '../policies/policy-files.ts';
import { countEvents, hasEvents, NOTHING_READ } from './event-counts.ts';
/** A trace, and the document that the paths of its events lead into. */
export interface TraceInput {
  /** The file; in JSON lines of traces with the number of the line (`log.jsonl:3`); `-` is standard input. */
  readonly name: string;
  readonly document: Json;
  readonly events: readonly TraceEvent[];
}

export interface TraceOptions {
  readonly standardInput: AsyncIterable<Uint8Array>;
  /** Absent: it is recognised. */
  readonly format?: TraceFormat | undefined;
  /** Of the policy that the traces are read for. */
  readonly dialect: Dialect;
  /** What the user says of the tools; absent: nothing is known of them. */
  readonly labels?: TraceLabels | undefined;
}

type ReadAs = Pick<TraceOptions, 'format' | 'dialect'>;

/** The format of that name, or what is wrong with it; absent: null. */
export function formatNamed(name: string | undefined): Result<TraceFormat | undefined, Diagnostic> {
  if (name === undefined) return ok(undefined);
  const format = TRACE_FORMATS.find((known) => known === name);
  if (format !== undefined) return ok(format);
  const help = suggestion(name, TRACE_FORMATS, `formats: ${TRACE_FORMATS.join(', ')}`);
  return failed(problem('TRC003', '--format', `${quoted(name)} is no format of traces`, help));
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
  options: TraceOptions,
): AsyncGenerator<Result<TraceInput, Diagnostic>> {
  const text = await readStream(file, file === '-' ? options.standardInput : openBytes(file), MOST_BYTES);
  if (!text.ok) return yield text;
  const { labels } = options;
  for (const trace of tracesOf(file, text.value, options)) {
    yield trace.ok && labels !== undefined
      ? ok({ ...trace.value, events: labels.label(trace.value.events) })
      : trace;
  }
}

/** The traces in a text that was read from `file`. */
export function* tracesOf(
  file: string,
  text: string,
  reading: ReadAs,
): Generator<Result<TraceInput, Diagnostic>> {
  if (/\.(jsonl|ndjson)$/i.test(file)) return yield* tracesOfLines(file, text, reading);
  if (text.trim() === '') return yield failed(emptyFile(file));
  const whole = parseJson(text, LIMITS);
  if (whole.ok) yield traceOf(file, whole.value, reading);
  else if (isFirstLineJson(text)) yield* tracesOfLines(file, text, reading);
  else yield failed(notJson(file, 'this', whole.fault, null));
}

const JSON_HELP = 'a trace is a JSON list of messages, an object with `messages`, or lines of such';
const NOTHING_HELP =
  'look whether this is the log that you mean, and whether it was recorded with its contents';
const TRACE_HELP = 'name its format with `--format`, if it is read as another';

interface Line {
  /** From 1. */
  readonly number: number;
  /** Characters before the JSON. */
  readonly indent: number;
  readonly json: Result<Json, string>;
}

function* tracesOfLines(
  file: string,
  text: string,
  reading: ReadAs,
): Generator<Result<TraceInput, Diagnostic>> {
  const first = firstJson(text);
  if (first !== null && isElement(first)) return yield traceOfElements(file, text, reading);
  let isEmpty = true;
  for (const line of lines(text)) {
    isEmpty = false;
    yield line.json.ok
      ? traceOf(`${file}:${line.number}`, line.json.value, reading)
      : failed(notJson(file, 'this line', line.json.fault, line));
  }
  if (isEmpty) yield failed(emptyFile(file));
}

/** Each line is a message (a call, a span, …): together they are one trace, and without one of them they are none. */
function traceOfElements(file: string, text: string, reading: ReadAs): Result<TraceInput, Diagnostic> {
  const elements: Json[] = [];
  for (const line of lines(text)) {
    if (!line.json.ok) return failed(notJson(file, 'this line', line.json.fault, line));
    elements.push(line.json.value);
  }
  return traceOf(file, elements, reading);
}

/** What holds a conversation, or a request and its response, is its own trace. */
const TRACE_KEYS = [
  ...['messages', 'contents', 'input', 'output', 'choices', 'candidates', 'request', 'response'],
];

/** A part of a trace: a message, a span, an entry of a log. */
export function isElement(value: Json): boolean {
  if (!isJsonObject(value)) return false;
  const isNamed = typeof value.role === 'string' || typeof value.type === 'string';
  return isNamed || !TRACE_KEYS.some((key) => typeof value[key] === 'object');
}

function* lines(text: string): Generator<Line> {
  let number = 0;
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf('\n', start);
    const end = found < 0 ? text.length : found;
    const whole = text.slice(start, end);
    const line = whole.trim();
    start = end + 1;
    number++;
    if (line !== '') yield { number, indent: whole.indexOf(line), json: parseJson(line, LIMITS) };
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

function traceOf(name: string, document: Json, reading: ReadAs): Result<TraceInput, Diagnostic> {
  const { format, dialect } = reading;
  // A single message is a trace of one.
  const input = isMessage(document) ? [document] : document;
  const read = readTrace(input, format === undefined ? { dialect } : { format, dialect });
  if (read.ok) {
    const { events } = read.value;
    if (!hasEvents(countEvents(events))) return failed(problem('TRC004', name, NOTHING_READ, NOTHING_HELP));
    return ok({ name, document: input, events });
  }
  const { path, message } = read.fault;
  return failed(problem('TRC002', name, message, TRACE_HELP, path));
}

function isMessage(value: Json): boolean {
  return isJsonObject(value) && Object.hasOwn(value, 'role') && !Object.hasOwn(value, 'messages');
}

/** `line` is the one that is wrong; null: the text as a whole. */
function notJson(file: string, what: string, reason: string, line: Line | null): Diagnostic {
  const { predicate, place } = jsonFault(reason);
  const where = line === null || place !== null ? file : `${file}:${line.number}`;
  const fault = problem('TRC001', where, `${what} ${predicate}`, JSON_HELP);
  if (place === null) return fault;
  const at = line === null ? place : { line: line.number, column: line.indent + place.column };
  return { ...fault, range: { ...at, endLine: at.line, endColumn: at.column + 1 } };
}

function emptyFile(file: string): Diagnostic {
  return problem('TRC001', file, file === '-' ? 'the input is empty' : 'the file is empty', JSON_HELP);
}

function problem(code: string, file: string, message: string, help: string, path = ''): Diagnostic {
  return { code, severity: 'error', file, message, help, ...(path === '' ? {} : { path }) };
}
