/**
 * The result of `tools/call` as an app sends it (MCP, "Tool Result"; revisions up to 2025-11-25), read into what the hub
 * makes of it. The client's own reading makes an error with a stack before each call, and builds its schemas at the first:
 * 0.1 ms a call until V8 has optimised it, 3 ms once.
 */
import { isJsonObject, type Json } from '@cordon/core';
import type { StandardSchemaV1 } from '@modelcontextprotocol/client';

/** A part of a result. Of all but `text` nothing is read: they are not shown. */
export interface ContentBlock {
  readonly type: string;
  readonly text: string;
}

export interface CallResult {
  readonly content: readonly ContentBlock[];
  /** Undefined: none. */
  readonly structuredContent: unknown;
  readonly isError: boolean;
}

/** Attack: a type of the app's own making would be shown as a word of the hub. */
const BLOCK_TYPES: ReadonlySet<unknown> = new Set(['text', 'image', 'audio', 'resource_link', 'resource']);
/** Members of other results: of one of these, nobody can say that the call has succeeded with nothing to say. */
const OF_OTHER_RESULTS = ['task', 'inputRequests', 'requestState'];

/** For `Client.request`: what does not fit is a broken answer, as for the client's own schema. */
export const CALL_RESULT: StandardSchemaV1<unknown, CallResult> = {
  '~standard': {
    version: 1,
    vendor: 'cordon',
    validate: (value) => {
      const result = readResult(value);
      return typeof result === 'string' ? { issues: [{ message: result }] } : { value: result };
    },
  },
};

/** A string says what is wrong with it. */
function readResult(value: unknown): CallResult | string {
  if (!isJsonObject(value)) return 'the result is no object';
  const { content, structuredContent, isError = false } = value;
  if (typeof isError !== 'boolean') return '`isError` is no boolean';
  if (structuredContent !== undefined && !isJsonObject(structuredContent))
    return '`structuredContent` is no object';
  const blocks = content === undefined && !OF_OTHER_RESULTS.some((key) => key in value) ? [] : content;
  if (!Array.isArray(blocks)) return '`content` is no list';
  const read = blocks.map(readBlock);
  return read.includes(null)
    ? 'a part of `content` has another form'
    : { content: read.flatMap((block) => block ?? []), structuredContent, isError };
}

function readBlock(block: Json): ContentBlock | null {
  if (!isJsonObject(block)) return null;
  const { type, text = '' } = block;
  if (typeof type !== 'string' || !BLOCK_TYPES.has(type)) return null;
  if (type !== 'text') return { type, text: '' };
  return 'text' in block && typeof text === 'string' ? { type, text } : null;
}
