/**
 * MCP over an app's standard streams, with limits in both directions. The official client parses what we hand it; we
 * hand it only whole lines of bounded JSON, and no more of them than it can read without keeping the hub busy.
 */
import type { Readable, Writable } from 'node:stream';
import {
  type AppLimits,
  DEFAULT_JSON_LIMITS,
  isJsonObject,
  type Json,
  type JsonLimits,
  type JsonObject,
  type Result,
  scanJson,
} from '@cordon/core';
import { LineDecoder } from '@cordon/protocol';
import type { JSONRPCMessage, JSONRPCRequest, Transport } from '@modelcontextprotocol/client';
import { eventLoopTurn, LONG } from '../context/event-loop-turn.ts';
import { TokenBucket } from './token-bucket.ts';

export interface AppStreams {
  readonly stdin: Writable;
  readonly stdout: Readable;
}

export type MessageLimits = Pick<AppLimits, 'lineBytes' | 'messagesPerSecond'>;

/** Servers log to standard output by mistake; that is dropped. One that does little else is not an MCP server. */
const GARBAGE_LINES = 100;
/** Seconds' worth of messages that may come at once. */
const BURST_SECONDS = 10;
/** A request of the app counts as so many messages: the hub has the work of an answer. */
const QUESTION_COST = 4;
/** However small its messages may be: what one read from a pipe brings is no flood. */
const LEAST_BURST_BYTES = 256 * 1024;
/** Lines between two turns of the event loop: a millisecond of the hub's time at most. */
const LINES_IN_ONE_GO = 32;
/** Requests whose answers are waited for; the oldest are given up. */
const MOST_ASKED = 256;
/** Of a message that nobody waits for. Attack: a megabyte of values holds up the hub for a tenth of a second. */
const FEW_VALUES = 10_000;
const MOST_MEMBERS = 1_000;
/**
 * Of an answer. Attack: of 200,000 members with a name each, `JSON.parse` makes values for a tenth of a second. With as many
 * names as here it takes two thirds of that. A table of rows by their ids, of a megabyte, seldom has more.
 */
const ANSWER_LIMITS: JsonLimits = { ...DEFAULT_JSON_LIMITS, names: 12_000 };
/** UTF-8 has three bytes at most for each UTF-16 unit: what a longer line holds is more than the limits allow. */
const MOST_LINE_BYTES = 3 * ANSWER_LIMITS.length;
/** What the hub keeps for an app that does not read. */
const UNREAD_BYTES = 8 * 1024 * 1024;

/** A message that was not sent because of the app's limits; the app is as well as before. */
export class UnsentMessage extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'UnsentMessage';
  }
}

export class StreamTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly #streams: AppStreams;
  readonly #limits: MessageLimits;
  readonly #decoder: LineDecoder;
  readonly #messagesIn: TokenBucket;
  readonly #messagesOut: TokenBucket;
  readonly #bytesIn: TokenBucket;
  readonly #onHeard: () => void;
  readonly #asked = new Map<string | number, string>();
  /** Lines that have arrived; empty once all are read. */
  #arrived: string[] = [];
  #hasEnded = false;
  #garbageLines = 0;
  #firstGarbage: string | null = null;
  #violation: string | null = null;
  #isClosed = false;

  /** @param onHeard told of every piece that arrives, whatever it holds */
  constructor(streams: AppStreams, limits: MessageLimits, onHeard: () => void = () => undefined) {
    const { lineBytes, messagesPerSecond } = limits;
    const messages = { perSecond: messagesPerSecond, burst: messagesPerSecond * BURST_SECONDS };
    this.#streams = streams;
    this.#limits = limits;
    this.#onHeard = onHeard;
    this.#decoder = new LineDecoder({ lineBytes: Math.min(lineBytes, MOST_LINE_BYTES) });
    this.#messagesIn = new TokenBucket(messages);
    this.#messagesOut = new TokenBucket(messages);
    this.#bytesIn = new TokenBucket({
      perSecond: lineBytes,
      burst: Math.max(2 * lineBytes, LEAST_BURST_BYTES),
    });
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
    this.#streams.stdout.on('end', () => this.#end());
    this.#streams.stdout.on('error', () => this.#end());
    this.#streams.stdin.on('error', () => this.#end());
  }

  /** Throws `UnsentMessage` for what the app's limits do not let through. */
  async send(message: JSONRPCMessage): Promise<void> {
    const line = `${JSON.stringify(message)}\n`;
    const { lineBytes, messagesPerSecond } = this.#limits;
    if (Buffer.byteLength(line) - 1 > lineBytes)
      throw new UnsentMessage(`the message would be longer than ${lineBytes} bytes`);
    if (isRequest(message)) {
      if (!this.#messagesOut.take())
        throw new UnsentMessage(`there would be more than ${messagesPerSecond} messages a second`);
      this.#asked.set(message.id, message.method);
      for (const oldest of this.#asked.keys()) if (this.#asked.size > MOST_ASKED) this.#asked.delete(oldest);
    }
    if (this.#streams.stdin.writableLength > UNREAD_BYTES)
      return this.#cut('it does not read what it is sent');
    this.#streams.stdin.write(line);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#streams.stdin.end();
    this.#streams.stdout.pause();
    this.onclose?.();
  }

  #receive(chunk: Buffer): void {
    if (this.#isOver) return;
    if (!this.#bytesIn.take(chunk.length))
      return this.#cut(`it sends more than ${this.#limits.lineBytes} bytes a second that nobody asked for`);
    this.#onHeard();
    const lines = this.#decoder.push(chunk);
    if (!lines.ok) return this.#cut(lines.fault);
    const isReading = this.#arrived.length > 0;
    this.#arrived.push(...lines.value);
    if (isReading) this.#streams.stdout.pause();
    else void this.#readLines();
  }

  /**
   * A few lines at a time: what one app sends in one piece must not keep the others waiting. The stream is paused meanwhile,
   * but Node resumes it when the process has ended. What comes then waits for its turn, and so does the end of the stream:
   * else the last answer of an app would be lost.
   */
  async #readLines(): Promise<void> {
    const { stdout } = this.#streams;
    for (const [index, line] of this.#arrived.entries()) {
      const isLong = line.length > LONG;
      if (isLong || (index > 0 && index % LINES_IN_ONE_GO === 0)) {
        stdout.pause();
        await eventLoopTurn();
      }
      if (this.#isOver) return;
      if (!this.#messagesIn.take()) return this.#cutTalker();
      const scanned = scanJson(line, ANSWER_LIMITS);
      if (isLong) await eventLoopTurn();
      if (this.#isOver) return;
      const isShort = scanned.ok && scanned.value.elements <= FEW_VALUES;
      this.#receiveRead(line, isShort, scanned.ok ? scanned.value.parse() : scanned);
    }
    this.#arrived = [];
    if (this.#isOver) return;
    if (this.#hasEnded) this.onclose?.();
    else stdout.resume();
  }

  /** The streams are of no more use. */
  #end(): void {
    this.#hasEnded = true;
    if (this.#arrived.length === 0 || this.#isOver) this.onclose?.();
  }

  get #isOver(): boolean {
    return this.#violation !== null || this.#isClosed;
  }

  #receiveRead(line: string, isShort: boolean, parsed: Result<Json, string>): void {
    // Nobody can tell what it answers: who waits for it would wait until the time of the call is over.
    if (!parsed.ok && this.#asked.size > 0 && isMessage(line))
      return this.#cut(`it sends a message that the hub does not read: ${parsed.fault}`);
    if (parsed.ok && isJsonObject(parsed.value) && parsed.value.jsonrpc === '2.0') {
      const asked = this.#forgive(parsed.value, line);
      if (asked === null && !isShort)
        return this.#cut(`it sends a message of more than ${FEW_VALUES} values that nobody asked for`);
      if (isWide(parsed.value)) return this.#cut(`a message of it has more than ${MOST_MEMBERS} members`);
      // The client drops such an answer, and the call would wait until its time is over. Of a ping any word is enough.
      if (asked !== null && asked !== 'ping' && isNoAnswer(parsed.value))
        return this.#cut('it answered with neither a result nor an error of MCP');
      if (isIdleTalk(parsed.value)) return;
      if (isQuestion(parsed.value) && !this.#messagesIn.take(QUESTION_COST - 1)) return this.#cutTalker();
      // The client validates the shape; here it is known to be bounded JSON without a prototype.
      this.onmessage?.(parsed.value as unknown as JSONRPCMessage);
      return;
    }
    this.#firstGarbage ??= line.slice(0, 120);
    if (++this.#garbageLines > GARBAGE_LINES)
      this.#cut('it prints text on its standard output instead of MCP messages');
  }

  #cutTalker(): void {
    this.#cut(`it sends more than ${this.#limits.messagesPerSecond} messages a second`);
  }

  /**
   * The method of the request that is answered, null where none is. An answer that the hub waits for counts against no
   * rate, since many calls at once may have long results.
   */
  #forgive(message: JsonObject, line: string): string | null {
    const { id, method } = message;
    if (method !== undefined || (typeof id !== 'number' && typeof id !== 'string')) return null;
    const asked = this.#asked.get(id) ?? null;
    if (asked === null) return null;
    this.#asked.delete(id);
    this.#messagesIn.giveBack(1);
    this.#bytesIn.giveBack(Buffer.byteLength(line));
    return asked;
  }

  #cut(reason: string): void {
    this.#violation = reason;
    this.#streams.stdout.destroy();
    this.onerror?.(new Error(reason));
    this.onclose?.();
  }
}

/** Whether a line that cannot be read was meant for the hub: a log does not begin like this. */
function isMessage(line: string): boolean {
  return /^\s*\{.{0,200}"(?:jsonrpc|id|result|method)"/s.test(line.slice(0, 300));
}

/**
 * Whether a part that the client's schemas look through has members without end: each costs a microsecond and more, and
 * MCP knows a dozen. What a tool returns in `structuredContent` is not among them.
 */
function isWide(message: JsonObject): boolean {
  const { params, result } = message;
  const parts = [message, params, result, metaOf(params), metaOf(result)];
  return parts.some((part) => isJsonObject(part) && Object.keys(part).length > MOST_MEMBERS);
}

function metaOf(part: Json | undefined): Json | undefined {
  return isJsonObject(part) ? part._meta : undefined;
}

function isNoAnswer({ result, error }: JsonObject): boolean {
  const isError = isJsonObject(error) && Number.isInteger(error.code) && typeof error.message === 'string';
  return !isJsonObject(result) && !isError;
}

/** A request of the app, which the hub has to answer. */
function isQuestion({ id, method }: JsonObject): boolean {
  return id !== undefined && method !== undefined;
}

/** What the hub listens to. For the rest the client needs 30 µs each before it finds out that nobody does. */
const HEARD: ReadonlySet<string> = new Set(['notifications/cancelled', 'notifications/tools/list_changed']);

/** Logs, progress, other news. */
function isIdleTalk({ id, method }: JsonObject): boolean {
  return id === undefined && typeof method === 'string' && !HEARD.has(method);
}

function isRequest(message: JSONRPCMessage): message is JSONRPCRequest {
  return 'method' in message && 'id' in message;
}
