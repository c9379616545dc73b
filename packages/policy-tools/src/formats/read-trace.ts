/**
 * The one entrance for recorded traces: whichever of the formats, out come events with paths back into the input.
 *
 * Recordings are read with it; the hub does not use it.
 */
import { failed, isJsonObject, type Json, ok, type Result } from '@cordon/core';
import type { TraceEvent } from '@cordon/policy';
import { readSpans } from '../otel/otel.ts';
import { foreignIn } from '../reading/foreign.ts';
import { isList } from '../reading/json.ts';
import { Reading, type TraceDialect, type TraceFault } from '../reading/reading.ts';
import { readConversation } from './conversation.ts';
import { JournalReader } from './cordon-journal.ts';
import { McpReader } from './mcp.ts';
import { formatOf, TRACE_FORMATS, type TraceFormat } from './shape.ts';

/** A trace that has been read. */
export interface ReadTrace {
  /** As which it was read. */
  readonly format: TraceFormat;
  /** In the order in which they happened, for `analyzeEvents`, `decide` and `admit`. */
  readonly events: readonly TraceEvent[];
}

/**
 * Reads a trace from parsed JSON of any origin.
 *
 * @param input a list of messages, items, spans or entries, or an object around one; it is neither changed nor
 *   copied, and the events hold parts of it.
 * @param options `format`: absent, it is recognised by a few keys (`docs/policy/traces.md`). `dialect`: that of
 *   the policy that the trace is read for; absent: `cordon`.
 * @returns the events in the order in which they happened. All or nothing: a part of a trace proves nothing. The
 *   fault says where and, if the format was recognised, as what it was read. Never throws.
 */
export function readTrace(
  input: unknown,
  options: { readonly format?: TraceFormat; readonly dialect?: TraceDialect } = {},
): Result<ReadTrace, TraceFault> {
  if (!isList(input) && !isJsonObject(input)) {
    return failed({ path: '', message: 'a trace is a list, or an object around one' });
  }
  const format = options.format ?? formatOf(input);
  if (format === null) {
    const foreign = foreignIn(input, '');
    if (foreign !== null) return failed(foreignFault(foreign));
    const message = `the trace has none of the shapes of ${TRACE_FORMATS.join(', ')}`;
    return failed({ path: '', message });
  }
  const read = readAs(format, input, options.dialect ?? 'cordon');
  if (read.ok) return ok({ format, events: read.value });
  const foreign = foreignIn(input, read.fault.path);
  if (foreign !== null) return failed(foreignFault({ ...foreign, path: read.fault.path }));
  if (options.format !== undefined) return read;
  return failed({ path: read.fault.path, message: `read as ${format}: ${read.fault.message}` });
}

function foreignFault({ name, path }: { readonly name: string; readonly path: string }): TraceFault {
  const message = `this is ${name}, a format that is not read yet: convert it to one of ${TRACE_FORMATS.join(', ')}`;
  return { path, message };
}

function readAs(
  format: TraceFormat,
  input: Json,
  dialect: TraceDialect,
): Result<readonly TraceEvent[], TraceFault> {
  const reading = new Reading(dialect);
  if (!reading.checkDepth(input)) return reading.result;
  switch (format) {
    case 'openai-chat':
    case 'openai-responses':
    case 'anthropic':
    case 'gemini':
      readConversation(format, reading, input);
      break;
    case 'mcp':
      if (isList(input)) new McpReader(reading).entries(input, '');
      else reading.wrong('', 'a log of messages is a list');
      break;
    case 'otel':
      readSpans(reading, input);
      break;
    case 'cordon-journal':
      if (isList(input)) new JournalReader(reading).entries(input, '');
      else reading.wrong('', 'a journal is a list of its entries');
      break;
    default:
      format satisfies never;
      reading.wrong('', 'the format is not known');
  }
  return reading.result;
}
