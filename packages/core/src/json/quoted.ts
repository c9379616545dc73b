/** A text as JSON writes it. */

/** Above this the engine's quoting is faster. */
const SHORT = 64;
/** A quote, a backslash, a control character or half of a pair. */
const NEEDS_ESCAPES = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;

/** As `JSON.stringify`, and faster for the short texts that most are. */
export function quoted(text: string): string {
  return text.length > SHORT || NEEDS_ESCAPES.test(text) ? JSON.stringify(text) : `"${text}"`;
}
