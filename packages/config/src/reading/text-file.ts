/** Reads files that people write (configuration, answers, policies), and text of any size from streams. */
import { createReadStream, readFileSync, statSync } from 'node:fs';
import { type Diagnostic, failed, ok, type Result } from '@cordon/core';
import { CONFIGURATION_LIMITS, type JsonNode, LineMap, parseJsonText } from './json-text.ts';

/** The text of a regular file of bounded size; anything else is a diagnostic. Never throws. */
export function readTextFile(file: string): Result<string, Diagnostic> {
  try {
    const status = statSync(file);
    if (status.isDirectory()) return failed(unreadable(file, 'it is a folder'));
    if (!status.isFile()) return failed(unreadable(file, 'it is not a regular file'));
    // A limit on bytes keeps a file of gigabytes out of memory; the parser has the exact limit.
    if (status.size > 4 * CONFIGURATION_LIMITS.length) {
      return failed(tooLarge(file, `the text is longer than ${CONFIGURATION_LIMITS.length} characters`));
    }
    return ok(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(file)));
  } catch (error) {
    return failed(unreadable(file, reasonOf(error)));
  }
}

/** The tree of a JSON file that a person wrote, whose text was read before. */
export function parseJsonFile(file: string, text: string, ifTooLarge?: string): Result<JsonNode, Diagnostic> {
  const parsed = parseJsonText(text);
  if (parsed.ok) return parsed;
  if (parsed.fault.kind === 'limit') return failed(tooLarge(file, parsed.fault.message, ifTooLarge));
  const range = new LineMap(text).range(parsed.fault.span);
  const help = 'the file must be JSON; comments and trailing commas are accepted';
  return failed({ code: 'CFG003', severity: 'error', file, range, message: parsed.fault.message, help });
}

/** The bytes of a file, a named pipe or a device, in pieces as they come. Failures show when it is read. */
export function openBytes(file: string): AsyncIterable<Uint8Array> {
  return createReadStream(file, { highWaterMark: 256 * 1024 });
}

/** All of a stream as text, which must be UTF-8; a byte order mark is left out. `file` is its name in reports. */
export async function readStream(
  file: string,
  bytes: AsyncIterable<Uint8Array>,
  mostBytes: number,
): Promise<Result<string, Diagnostic>> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const pieces: string[] = [];
  let size = 0;
  try {
    for await (const piece of bytes) {
      size += piece.length;
      if (size > mostBytes) return failed(tooLarge(file, `it is longer than ${mostBytes} bytes`, SPLIT_IT));
      pieces.push(decoder.decode(piece, { stream: true }));
    }
    pieces.push(decoder.decode());
    return ok(pieces.join(''));
  } catch (error) {
    return failed(unreadable(file, reasonOf(error)));
  }
}

const SPLIT_IT = 'split it, or use `cordon scan`, which reads it piece by piece';

function reasonOf(error: unknown): string {
  if (error instanceof TypeError) return 'it is not text in UTF-8';
  const code = error instanceof Error && 'code' in error ? error.code : '';
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'there is no such file';
  if (code === 'EISDIR') return 'it is a folder';
  return code === 'EACCES' ? 'you may not read it' : 'reading it failed';
}

function unreadable(file: string, reason: string): Diagnostic {
  const help = reason.includes('UTF-8') ? 'save it as UTF-8' : 'name a text file that you may read';
  return { code: 'CFG001', severity: 'error', file, message: `the file cannot be used: ${reason}`, help };
}

function tooLarge(
  file: string,
  message: string,
  help = 'keep data out of the configuration; name files instead',
): Diagnostic {
  return { code: 'CFG002', severity: 'error', file, message, help };
}
