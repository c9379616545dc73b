/**
 * The characters of a text as numbers in a row: a place in them costs a look-up where a place in the text costs a call.
 * Detectors look in them for where they look closer.
 */

/** Of each UTF-16 unit the low byte. Two units can have the same one, so what is found there is asked of the text. */
export function lowBytes(text: string): Uint8Array {
  return Buffer.from(text, 'latin1');
}

/** Copied one by one, which begins at once. */
const SHORT = 256;

/** The UTF-16 units themselves. */
export function unitsOf(text: string): Uint16Array {
  const units = new Uint16Array(text.length);
  if (text.length > SHORT) Buffer.from(units.buffer).write(text, 'utf16le');
  else for (let at = 0; at < text.length; at++) units[at] = text.charCodeAt(at);
  return units;
}
