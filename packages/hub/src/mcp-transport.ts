/**
 * MCP over an app's standard streams, with limits. The official client parses what we hand it; we hand it only
 * whole lines of bounded JSON.
 *
 * Ring 0.
 */
import type { Readable, Writable } from 'node:stream';
import { isJsonObject, parseJson } from '@cordon/core';
import { LineDecoder } from '@cordon/protocol';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';

export interface AppStreams {
  readonly stdin: Writable;
  readonly stdout: Readable;
}

/** Servers log to standard output by mistake; that is dropped. One that does little else is not an MCP server. */
const GARBAGE_LINES = 100;
/** Notifications and requests of the app between two messages of the hub; the time to read them is the hub's. */
const UNASKED_MESSAGES = 10_000;
/** What the hub keeps for an app that does not read. */
const UNREAD_BYTES = 8 * 1024 * 1024;

export class StreamTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly #streams: AppStreams;
  readonly #decoder: LineDecoder;
  #garbageLines = 0;
  #unasked = 0;
  #firstGarbage: string | null = null;
  #violation: string | null = null;

  constructor(streams: AppStreams, lineBytes: number) {
    this.#streams = streams;
    this.#decoder = new LineDecoder({ lineBytes });
  }

  /** Why the connection was cut, if the app broke the rules. */
  get violation(): string | null {
    return this.#violation;
  }

  /** The first line that was no JSON-RPC, shortened: tells the author of an app what went wrong. */
  get garbage(): string | null {
    return this.#firstGarbage;
  }

  async start(): Promise<void> {
    this.#streams.stdout.on('data', (chunk: Buffer) => this.#receive(chunk));
    this.#streams.stdout.on('end', () => this.onclose?.());
    this.#streams.stdout.on('error', () => this.onclose?.());
    this.#streams.stdin.on('error', () => this.onclose?.());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if ('method' in message) this.#unasked = 0;
    if (this.#streams.stdin.writableLength > UNREAD_BYTES)
      return this.#cut('it does not read what it is sent');
    this.#streams.stdin.write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    this.#streams.stdin.end();
    this.#streams.stdout.pause();
    this.onclose?.();
  }

  #receive(chunk: Buffer): void {
    if (this.#violation !== null) return;
    const lines = this.#decoder.push(chunk);
    if (!lines.ok) return this.#cut(lines.fault);
    for (const line of lines.value) if (this.#violation === null) this.#receiveLine(line);
  }

  #receiveLine(line: string): void {
    const parsed = parseJson(line);
    if (parsed.ok && isJsonObject(parsed.value) && parsed.value.jsonrpc === '2.0') {
      if (Object.hasOwn(parsed.value, 'method') && ++this.#unasked > UNASKED_MESSAGES)
        return this.#cut('it sends too many messages that nobody asked for');
      // The client validates the shape; here it is known to be bounded JSON without a prototype.
      this.onmessage?.(parsed.value as unknown as JSONRPCMessage);
      return;
    }
    this.#firstGarbage ??= line.slice(0, 120);
    if (++this.#garbageLines > GARBAGE_LINES)
      this.#cut('it prints text on its standard output instead of MCP messages');
  }

  #cut(reason: string): void {
    this.#violation = reason;
    this.#streams.stdout.destroy();
    this.onerror?.(new Error(reason));
    this.onclose?.();
  }
}
