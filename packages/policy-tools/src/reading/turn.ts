/**
 * One element of a conversation that holds texts, attachments, calls and outputs side by side (a message of blocks,
 * a content of parts), as events in the order of its parts.
 *
 * A text that stands alone is a string, as in a chat log, so that one rule reads all formats; several are chunks.
 * A chunk's text is found under `<its path>.text`; text that the format keeps under another key stands alone, so
 * that every range leads to the very characters of the input.
 *
 * Recordings are read with it; the hub does not use it.
 */
import type { Json, JsonObject } from '@cordon/core';
import type {
  Chunk,
  Content,
  EventFrame,
  MessageEvent,
  ToolCallEvent,
  ToolOutputEvent,
  TraceEvent,
} from '@cordon/policy';
import { isList, own } from './json.ts';
import { knownKeys } from './note-shape.ts';
import { type Frames, join, type Reading, type Words, wordsIn } from './reading.ts';

/** A text of a content. */
export interface TextPiece {
  readonly kind: 'text';
  readonly text: string;
  /** Of the text itself. */
  readonly path: string;
  /** Of the chunk, if the text is its `text`; null: the text stands alone. */
  readonly chunk: string | null;
  /** What it is if it is no plain text, e.g. `thinking`. */
  readonly part?: string | undefined;
  /** Of the element that holds the text, where that is smaller than the whole message. */
  readonly place?: string | undefined;
}

/** A part of a content. */
export type Piece =
  | TextPiece
  /** What is no text: images, sound, documents. */
  | { readonly kind: 'attachment'; readonly image_url: JsonObject; readonly path: string };

/** `{"text": …}` at `path`. */
export function textChunk(text: string, path: string, part?: string): TextPiece {
  return { kind: 'text', text, path: join(path, 'text'), chunk: path, part };
}

/** A text that is no chunk's `text`. */
export function loneText(text: string, path: string, part?: string, place?: string): TextPiece {
  return { kind: 'text', text, path, chunk: null, part, place };
}

/** Where a piece stands. */
function placeOf(piece: Piece): string {
  return piece.kind === 'text' ? (piece.place ?? piece.chunk ?? piece.path) : piece.path;
}

export function loneTexts(words: readonly Words[], part?: string): readonly TextPiece[] {
  return words.map(({ text, path }) => loneText(text, path, part));
}

/** A content that is a text, or a list whose elements have pieces of their kind. */
export function contentPieces(
  reading: Reading,
  content: Json,
  path: string,
  elements: string,
  piecesOf: (element: Json, path: string) => readonly Piece[],
): readonly Piece[] {
  if (content === null) return [];
  if (typeof content === 'string') return [loneText(content, path)];
  if (isList(content)) return content.flatMap((element, index) => piecesOf(element, join(path, index)));
  reading.wrong(path, `the content is a text or a list of ${elements}`);
  return [];
}

/** Where an attachment's bytes are, as a URL. The bytes are not copied: the engine joins texts when they are read. */
export function attachment(url: string | null, mediaType: string | null, path: string): Piece {
  const image_url = {
    ...(url === null ? {} : { url }),
    ...(mediaType === null ? {} : { media_type: mediaType }),
  };
  return { kind: 'attachment', image_url, path };
}

export function dataUrl(mediaType: string | null, base64: string): string {
  return `data:${mediaType ?? 'application/octet-stream'};base64,${base64}`;
}

const SOUND_KEYS = knownKeys(['data', 'format']);

/** `input_audio` of OpenAI's interfaces. */
export function openaiSound(reading: Reading, holder: JsonObject, path: string): Piece {
  const sound = reading.objectAt(holder, 'input_audio', path) ?? {};
  const at = join(path, 'input_audio');
  reading.knows(sound, SOUND_KEYS, at, '`input_audio`');
  const mediaType = `audio/${reading.textAt(sound, 'format', at) ?? 'wav'}`;
  return attachment(dataUrl(mediaType, reading.nameAt(sound, 'data', at)), mediaType, path);
}

/** What one event can say of a content. */
interface Segment {
  readonly content: Content;
  /** Of the content, where it is a string. */
  readonly path: string | null;
  /** Of its first piece, or of the chunk around it. */
  readonly place: string;
  readonly part: string | null;
}

function belongTogether(a: Piece, b: Piece): boolean {
  if (a.kind === 'text' && (a.chunk === null || a.part !== undefined)) return false;
  return b.kind === 'attachment' || (b.chunk !== null && b.part === undefined);
}

function segmentOf(pieces: readonly [Piece, ...Piece[]]): Segment {
  const [first] = pieces;
  const place = placeOf(first);
  const part = first.kind === 'text' ? (first.part ?? null) : null;
  if (pieces.length === 1 && first.kind === 'text')
    return { content: first.text, path: first.path, place, part };
  const content = pieces.map((piece): Chunk => {
    if (piece.kind === 'attachment')
      return { type: 'image_url', image_url: piece.image_url, path: piece.path };
    return { type: 'text', text: piece.text, path: piece.chunk ?? piece.path };
  });
  return { content, path: null, place, part };
}

function segmentsOf(pieces: readonly Piece[]): readonly Segment[] {
  const groups: [Piece, ...Piece[]][] = [];
  for (const piece of pieces) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    if (group !== undefined && last !== undefined && belongTogether(last, piece)) group.push(piece);
    else groups.push([piece]);
  }
  return groups.map(segmentOf);
}

export interface CallParts {
  readonly callId: string | null;
  /** `function`, `custom`, `mcp` (a tool of a server) or `server` (a tool of the model's provider). */
  readonly kind: string;
  readonly name: string;
  readonly arguments: JsonObject;
  readonly path: string;
  /** Where the name stands, or what it is made from. */
  readonly namePath: string;
  /** Null if there are none. */
  readonly argumentsPath: string | null;
  readonly server?: string | null;
}

/** `name` of an object and the arguments under another key of it, with their places. */
export function namedCall(
  reading: Reading,
  call: JsonObject,
  path: string,
  argumentsKey: string,
): Pick<CallParts, 'name' | 'arguments' | 'path' | 'namePath' | 'argumentsPath'> {
  const given = own(call, argumentsKey);
  const at = join(path, argumentsKey);
  return {
    name: reading.nameAt(call, 'name', path),
    arguments: reading.argumentsOf(given, at),
    path,
    namePath: join(path, 'name'),
    argumentsPath: given === undefined ? null : at,
  };
}

export interface OutputParts {
  readonly callId: string | null;
  readonly path: string;
  readonly pieces?: readonly Piece[];
  /** Instead of pieces one object: its keys are what rules ask for. */
  readonly object?: { readonly content: JsonObject; readonly path: string };
  readonly structured?: Json;
  readonly structuredPath?: string;
  readonly isError?: boolean;
  readonly server?: string | null;
}

/** Frame of what a server's tool does: rules see the server as the app. */
function serverFrame(server: string | null | undefined): EventFrame {
  return server === undefined || server === null ? {} : { app: server, metadata: { server } };
}

export function callEvent(frame: EventFrame, parts: CallParts): ToolCallEvent {
  const { namePath, argumentsPath } = parts;
  return {
    ...frame,
    ...serverFrame(parts.server),
    type: 'ToolCall',
    path: parts.path,
    parts: {
      name: namePath,
      ...(argumentsPath === null ? {} : { arguments: argumentsPath }),
    },
    callId: parts.callId,
    kind: parts.kind,
    name: parts.name,
    arguments: parts.arguments,
  };
}

/** An output, as several events where its texts stand alone; never none, for the call has been answered. */
export function emitOutput(reading: Reading, frames: Frames, output: OutputParts): void {
  const { callId, path, pieces = [], object, structured, structuredPath, isError, server } = output;
  const segments =
    object === undefined ? segmentsOf(pieces) : [{ ...object, place: object.path, part: null }];
  const only = segments.length < 2;
  for (const [index, segment] of (segments.length === 0 ? [null] : segments).entries()) {
    const place = only ? path : (segment?.place ?? path);
    const parts = {
      ...contentPart(place, segment),
      ...(index === 0 && structuredPath !== undefined ? { structured: structuredPath } : {}),
    };
    reading.emit({
      ...frames.next(),
      ...serverFrame(server),
      type: 'ToolOutput',
      path: place,
      ...(Object.keys(parts).length === 0 ? {} : { parts }),
      role: 'tool',
      callId,
      content: segment?.content ?? null,
      ...(index === 0 && structured !== undefined ? { structured } : {}),
      ...(isError === undefined ? {} : { isError }),
    });
  }
}

function contentPart(
  path: string,
  segment: { readonly path: string | null } | null,
): { readonly content?: string } {
  return segment === null || segment.path === null || segment.path === join(path, 'content')
    ? {}
    : { content: segment.path };
}

/** A message or output of a chat log whose content is `pieces`: what stands beside a text is a separate event. */
export function withContent(
  event: MessageEvent | ToolOutputEvent,
  path: string,
  pieces: readonly Piece[],
): readonly TraceEvent[] {
  if (pieces.length === 0) return [event];
  const segments = segmentsOf(pieces);
  return segments.map((segment, index): TraceEvent => {
    const { content } = segment;
    const { id: _, causes: __, ...shared } = event;
    const own = index === 0 ? frameOwn(event) : {};
    const place = segments.length === 1 ? path : segment.place;
    const parts = contentPart(place, segment);
    const placed = {
      ...own,
      ...(segment.part === null ? {} : { metadata: { ...event.metadata, part: segment.part } }),
      path: place,
      ...(Object.keys(parts).length === 0 ? {} : { parts }),
    };
    if (shared.type === 'ToolOutput') return { ...shared, ...placed, content };
    // The calls follow upon what was said last.
    const toolCalls = index === segments.length - 1 ? shared.toolCalls : [];
    return { ...shared, ...placed, content, toolCalls };
  });
}

function frameOwn({ id, causes }: EventFrame): EventFrame {
  return { ...(id === undefined ? {} : { id }), ...(causes === undefined ? {} : { causes }) };
}

/** What a message says and calls, until something else comes between. */
interface Saying {
  readonly pieces: Piece[];
  readonly calls: ToolCallEvent[];
  /** Of the first part. */
  readonly place: string;
}

/** Turns the parts of one element into events. `end` must be called. */
export class Turn {
  readonly #reading: Reading;
  readonly #frames: Frames;
  readonly #role: string;
  readonly #path: string;
  readonly #events: (() => void)[] = [];
  #saying: Saying | null = null;
  #messages = 0;
  #others = 0;

  constructor(reading: Reading, frames: Frames, role: string, path: string) {
    this.#reading = reading;
    this.#frames = frames;
    this.#role = role;
    // The root has no path; where a response is the whole trace, its content stands for it.
    this.#path = path === '' ? 'content' : path;
  }

  say(piece: Piece): void {
    const last = this.#saying?.pieces.at(-1);
    const fits = last === undefined || belongTogether(last, piece);
    if (this.#saying !== null && (this.#saying.calls.length > 0 || !fits)) this.#close();
    this.#saying ??= { pieces: [], calls: [], place: placeOf(piece) };
    this.#saying.pieces.push(piece);
  }

  /** A part of which every text is a word of the conversation. */
  sayAll(value: Json, path: string, part: string): void {
    for (const piece of loneTexts(wordsIn(value, path), part)) this.say(piece);
  }

  call(parts: CallParts): void {
    // Thinking calls nothing: the call belongs to a separate message, as it would without the thinking.
    const last = this.#saying?.pieces.at(-1);
    if (last?.kind === 'text' && last.part !== undefined) this.#close();
    this.#saying ??= { pieces: [], calls: [], place: parts.path };
    this.#saying.calls.push(callEvent(this.#frames.inner, parts));
  }

  output(output: OutputParts): void {
    this.#close();
    this.#others++;
    this.#events.push(() => emitOutput(this.#reading, this.#frames, output));
  }

  end(): void {
    this.#close();
    if (this.#events.length === 0) {
      this.#reading.emit(this.#message({ pieces: [], calls: [], place: this.#path }, null, true));
    }
    for (const emit of this.#events) emit();
  }

  #close(): void {
    const saying = this.#saying;
    this.#saying = null;
    if (saying === null) return;
    const [segment = null] = segmentsOf(saying.pieces);
    this.#messages++;
    this.#events.push(() => {
      const isWhole = this.#messages === 1 && this.#others === 0;
      this.#reading.emit(this.#message(saying, segment, isWhole));
    });
  }

  #message(saying: Saying, segment: Segment | null, isWhole: boolean): MessageEvent {
    const path = isWhole ? this.#path : saying.place;
    const parts = contentPart(path, segment);
    return {
      ...this.#frames.next(),
      type: 'Message',
      path,
      ...(Object.keys(parts).length === 0 ? {} : { parts }),
      ...(segment === null || segment.part === null ? {} : { metadata: { part: segment.part } }),
      role: this.#role,
      content: segment?.content ?? null,
      toolCalls: saying.calls,
    };
  }
}
