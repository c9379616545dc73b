/**
 * Lines of a stream as they come. A line of any length costs no more memory than the limit, and is no reason to stop.
 */
import { failed, type Result } from '@cordon/core';
import { type Line, LineSplitter } from '@cordon/protocol/lines';

export interface StreamLine {
  /** From 1. */
  readonly number: number;
  /** Without its line end; else what is wrong with it. */
  readonly text: Result<string, string>;
}

/** Every line, the last one also without a line end. `mostBytes` is the limit of one line. */
export async function* streamLines(
  bytes: AsyncIterable<Uint8Array>,
  mostBytes: number,
): AsyncGenerator<StreamLine> {
  const splitter = new LineSplitter(mostBytes);
  let number = 0;
  const numbered = (line: Line): StreamLine => ({ number: ++number, text: inWords(line, mostBytes) });
  for await (const piece of bytes) for (const line of splitter.push(piece)) yield numbered(line);
  const last = splitter.end();
  if (last !== null) yield numbered(last);
}

function inWords(line: Line, mostBytes: number): StreamLine['text'] {
  if (line.ok) return line;
  return failed(
    line.fault === 'too-long'
      ? `the line is longer than ${mostBytes} bytes`
      : 'the line is not text in UTF-8',
  );
}
