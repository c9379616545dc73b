/**
 * An app on standard input and output: one JSON message a line, within limits. The only file of the package that
 * touches the standard streams.
 */
import { type App, AppServer } from './app-server.ts';
import { Host } from './host.ts';
import { isJsonObject, type Json } from './json.ts';
import { type Line, LineSplitter } from './line-splitter.ts';
import { ERROR_CODES, errorReply } from './message.ts';

export interface ServeLimits {
  /** Bytes of one line, in and out. A host may have its own smaller limit. */
  readonly lineBytes: number;
  /** Lines being answered at once; further ones wait in the pipe. */
  readonly concurrency: number;
}

export const DEFAULT_SERVE_LIMITS: ServeLimits = { lineBytes: 1024 * 1024, concurrency: 16 };

export interface Wire {
  readonly input: AsyncIterable<Uint8Array>;
  /** Resolves when the text is passed on, or never will be because the host is gone. */
  readonly write: (text: string) => Promise<void>;
  /** One line for the person who reads the app's log. */
  readonly log: (line: string) => void;
}

/**
 * Serves `app` until the input ends, and then until the calls under way are answered. A last line without a newline
 * is half a message and is dropped. While it serves on the process's own streams, `console.log` and every other
 * write to standard output go to standard error: one stray line there would break the protocol.
 *
 * Throws a `TypeError` if the app's declaration is wrong.
 */
export async function serve(
  app: App,
  limits: ServeLimits = DEFAULT_SERVE_LIMITS,
  wire?: Wire,
): Promise<void> {
  const { input, write, log } = wire ?? ownWire();
  let wake = Promise.withResolvers<void>();
  const host = new Host(
    (message) => {
      const text = `${JSON.stringify(message)}\n`;
      if (Buffer.byteLength(text) > limits.lineBytes)
        return `it would be longer than ${limits.lineBytes} bytes`;
      void write(text);
      return null;
    },
    () => wake.resolve(),
  );
  const server = new AppServer(app, log, host);
  const splitter = new LineSplitter(limits.lineBytes);
  const underWay = new Set<Promise<void>>();
  const answerLine = async (line: Line): Promise<void> => {
    const reply = await replyTo(server, line, limits);
    if (reply !== null) await write(boundedText(reply, limits));
  };
  for await (const chunk of input) {
    for (const line of splitter.push(chunk)) {
      const answered = answerLine(line).finally(() => underWay.delete(answered));
      underWay.add(answered);
      // Calls that wait for the host would wait forever if its answers were not read.
      if (underWay.size >= limits.concurrency && !host.isWaitedFor) {
        wake = Promise.withResolvers();
        await Promise.race([...underWay, wake.promise]);
      }
    }
  }
  host.gone();
  await Promise.all(underWay);
}

async function replyTo(server: AppServer, line: Line, limits: ServeLimits): Promise<Json> {
  switch (line.kind) {
    case 'line':
      return line.text.trim() === '' ? null : server.answer(line.text);
    case 'too-long': {
      const message = `a line must not be longer than ${limits.lineBytes} bytes`;
      return errorReply(null, { code: ERROR_CODES.invalidRequest, message });
    }
    case 'not-utf8':
      return errorReply(null, { code: ERROR_CODES.parse, message: 'the line is not UTF-8' });
  }
}

/** A host stops an app whose line is too long; better that this one answer fails. */
function boundedText(reply: Json, limits: ServeLimits): string {
  const text = `${JSON.stringify(reply)}\n`;
  if (Buffer.byteLength(text) <= limits.lineBytes) return text;
  const id =
    isJsonObject(reply) && (typeof reply.id === 'string' || typeof reply.id === 'number') ? reply.id : null;
  const message = `the answer would be longer than ${limits.lineBytes} bytes`;
  return `${JSON.stringify(errorReply(id, { code: ERROR_CODES.internal, message }))}\n`;
}

function ownWire(): Wire {
  const { stdin, stdout, stderr } = process;
  const toHost = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  // A host that has gone away must end the app, neither crash it nor leave it waiting forever.
  stdout.on('error', () => stdin.destroy());
  const write = (text: string): Promise<void> => new Promise((resolve) => toHost(text, () => resolve()));
  return { input: untilClosed(stdin), write, log: (line) => void stderr.write(`${line}\n`) };
}

/** The chunks of a stream whose breaking means the same as its end. */
async function* untilClosed(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* stream;
  } catch {
    return;
  }
}
