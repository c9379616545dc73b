/**
 * What a message or an output of a chat says: its content, and the words that providers keep beside it.
 *
 * Recordings are read with it; the hub does not use it.
 */
import { isJsonObject, type Json, type JsonObject } from '@cordon/core';
import type { Chunk, Content } from '@cordon/policy';
import { isList, own } from './json.ts';
import { elementKeys, saysSomething } from './known-keys.ts';
import { knownKeys } from './note-shape.ts';
import { join, type Reading, wordsIn } from './reading.ts';
import {
  attachment,
  loneText,
  loneTexts,
  openaiSound,
  type Piece,
  type TextPiece,
  textChunk,
} from './turn.ts';

/** Where providers put what their models think. */
const THINKING_KEYS = ['reasoning_content', 'reasoning', 'thinking'] as const;

/** The same in pieces, which are read where the texts above do not have them. */
const THOUGHT_KEYS = ['reasoning_details', 'thinking_blocks'] as const;

/** The error of a tool is a word of its output. */
const ERROR = 'error';

/** Keys that hold words of a message; a part of one that is streamed has them, too. */
export const WORD_KEYS = ['refusal', 'audio', ...THINKING_KEYS, ...THOUGHT_KEYS] as const;

/** Keys beside the content that hold words of an element. */
export const BESIDE_CONTENT: readonly string[] = [...WORD_KEYS, ERROR];

/** Whether an element says more than a plain content. */
export function hasWordsBeside(element: JsonObject): boolean {
  for (const key of WORD_KEYS) if ((own(element, key) ?? null) !== null) return true;
  if (saysSomething(own(element, ERROR))) return true;
  const content = own(element, 'content');
  return isList(content) && !content.every(isPlainChunk);
}

function isPlainChunk(chunk: Json): boolean {
  return (
    isJsonObject(chunk) && (typeof own(chunk, 'text') === 'string' || isJsonObject(own(chunk, 'image_url')))
  );
}

const NO_CONTENT = 'the content is a text, a list of chunks or null';

/** The content of an element that says nothing else: texts and images. */
export function plainContent(reading: Reading, element: JsonObject, path: string): Content {
  const content = own(element, 'content') ?? null;
  if (content === null || typeof content === 'string') return content;
  if (!isList(content)) {
    reading.wrong(join(path, 'content'), NO_CONTENT);
    return null;
  }
  return content.flatMap((value, index): readonly Chunk[] => {
    const at = join(path, 'content', index);
    if (!isPlainChunk(value)) reading.wrong(at, NO_CHUNK);
    return chunkPieces(reading, value, at).map((piece) =>
      piece.kind === 'text'
        ? { type: 'text', text: piece.text }
        : { type: 'image_url', image_url: piece.image_url },
    );
  });
}

/** The content and the words beside it. `content`: null if it is read elsewhere. */
export function chatPieces(
  reading: Reading,
  element: JsonObject,
  content: Json,
  path: string,
): readonly Piece[] {
  const at = join(path, 'content');
  const pieces: Piece[] = [...thoughtsIn(reading, element, path)];
  const error = loneTexts(wordsIn(own(element, ERROR) ?? null, join(path, ERROR)), 'error');
  if (typeof content === 'string' && (content !== '' || error.length === 0))
    pieces.push(loneText(content, at));
  else if (isList(content)) {
    for (const [index, chunk] of content.entries())
      for (const piece of chunkPieces(reading, chunk, join(at, index))) pieces.push(piece);
  } else if (content !== null && typeof content !== 'string') reading.wrong(at, NO_CONTENT);
  const refusal = reading.textAt(element, 'refusal', path);
  if (refusal !== null) pieces.push(loneText(refusal, join(path, 'refusal'), 'refusal'));
  const transcript = transcriptIn(reading, element, path);
  if (transcript !== null) pieces.push(loneText(transcript, join(path, 'audio', 'transcript')));
  pieces.push(...error);
  return pieces;
}

const THOUGHT_PART_KEYS = knownKeys(['text', 'summary', 'thinking'], {
  mark: ['type', 'format', 'id', 'index'],
  sealed: ['signature', 'data'],
});

/** What a model thought. Some providers say the same under two keys, and again in pieces. */
export function thoughtsIn(reading: Reading, element: JsonObject, path: string): readonly TextPiece[] {
  const key = THINKING_KEYS.find((one) => (own(element, one) ?? null) !== null);
  const whole = key === undefined ? null : reading.textAt(element, key, path);
  const first = key === undefined || whole === null ? [] : [thought(whole, join(path, key))];
  const pieces = THOUGHT_KEYS.flatMap((list) =>
    reading.objectsAt(element, list, path, 'a part of a thought').flatMap(([part, at]) => {
      reading.knows(part, THOUGHT_PART_KEYS, at, 'a part of a thought');
      return ['text', 'summary', 'thinking'].flatMap((of) => {
        const text = reading.textAt(part, of, at) ?? '';
        return (whole ?? '').includes(text) ? [] : [thought(text, join(at, of))];
      });
    }),
  );
  return [...first, ...pieces];
}

function thought(text: string, path: string): TextPiece {
  return loneText(text, path, 'thinking');
}

const AUDIO_KEYS = knownKeys(['transcript'], { sealed: ['id', 'data'], mark: ['expires_at', 'format'] });

/** What was spoken instead of written, found at `audio.transcript`. */
export function transcriptIn(reading: Reading, element: JsonObject, path: string): string | null {
  const audio = reading.objectAt(element, 'audio', path);
  if (audio === null) return null;
  const at = join(path, 'audio');
  reading.knows(audio, AUDIO_KEYS, at, '`audio`');
  return reading.textAt(audio, 'transcript', at);
}

// ── chunks of a content ───────────────────────────────────────────────────────────────────────────────────────

const NO_CHUNK = 'a chunk has a `text` or an `image_url`';

const OTHER_CHUNKS: ReadonlySet<string> = new Set(['refusal', 'input_audio', 'file']);

/** What a chunk holds; of two, one would be seen. */
const CHUNK_DATA = ['text', 'image_url', 'refusal', 'input_audio', 'file'] as const;

const CHUNK_KEYS = elementKeys(CHUNK_DATA, {
  mark: ['type'],
  notes: ['cache_control'],
  citations: ['annotations', 'citations'],
});

const FILE_KEYS = knownKeys(['filename', 'file_data', 'file_id'], { mark: ['format'] });

function chunkPieces(reading: Reading, value: Json, path: string): readonly Piece[] {
  const chunk = reading.object(value, path, 'a chunk');
  const text = own(chunk, 'text');
  const image = own(chunk, 'image_url');
  const type = own(chunk, 'type');
  if (isPlainChunk(chunk) || (typeof type === 'string' && OTHER_CHUNKS.has(type)))
    reading.knows(chunk, CHUNK_KEYS, path, 'a chunk');
  const [first, second] = CHUNK_DATA.filter((key) => saysSomething(own(chunk, key)));
  if (first !== undefined && second !== undefined)
    reading.wrong(join(path, second), `a chunk holds one thing, and this one has \`${first}\` as well`);
  if (typeof text === 'string' && (text !== '' || first === undefined)) return [textChunk(text, path)];
  if (isJsonObject(image)) return [{ kind: 'attachment', image_url: image, path }];
  switch (type) {
    case 'refusal':
      return [loneText(reading.nameAt(chunk, 'refusal', path), join(path, 'refusal'), 'refusal')];
    case 'input_audio':
      return [openaiSound(reading, chunk, path)];
    case 'file': {
      const file = reading.objectAt(chunk, 'file', path) ?? {};
      const at = join(path, 'file');
      reading.knows(file, FILE_KEYS, at, '`file`');
      const name = reading.textAt(file, 'filename', at);
      const url = reading.textAt(file, 'file_data', at) ?? reading.textAt(file, 'file_id', at);
      return [...(name === null ? [] : [loneText(name, join(at, 'filename'))]), attachment(url, null, path)];
    }
    default:
      // Blocks of others are calls and outputs; as texts they would be hidden from the rules about those.
      reading.wrong(path, NO_CHUNK);
      return [];
  }
}
