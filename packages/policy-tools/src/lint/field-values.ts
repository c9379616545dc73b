/**
 * Which texts fields of events hold: a comparison with another one never holds.
 *
 * No decision depends on it.
 */

interface FieldValues {
  readonly values: readonly string[];
  /** Whether there are no others. */
  readonly isClosed: boolean;
}

const ORIGIN_KINDS = ['user', 'system', 'output', 'description', 'endorsed', 'model'];

/** Texts that a field holds, or that the elements of a list field are, by `Type.field`. */
export const FIELD_VALUES: ReadonlyMap<string, FieldValues> = new Map([
  ['Origin.kind', { values: ORIGIN_KINDS, isClosed: true }],
  ['Origin.asked', { values: ORIGIN_KINDS, isClosed: true }],
  ['Origin.match', { values: ['exact', 'short', 'normalised', 'structured', 'part'], isClosed: true }],
  ['Message.role', { values: ['user', 'assistant', 'system', 'developer', 'function'], isClosed: false }],
  ['ToolOutput.role', { values: ['tool'], isClosed: true }],
  ['ToolCall.type', { values: ['function'], isClosed: false }],
  ['TextChunk.type', { values: ['text'], isClosed: true }],
  ['Image.type', { values: ['image_url'], isClosed: true }],
  [
    'Plan.origin',
    { values: ['planner', 'named-app', 'follow-up', 'single-app', 'user', 'fallback'], isClosed: true },
  ],
]);

/** What `event.labels` holds. */
export const LABEL_VALUES: readonly string[] = ['trusted', 'untrusted', 'public', 'private'];
