import { canonicalJsonOf, type Event } from '@cordon/core';

/** Values as lines of JSON for readers of standard output. Ring 1. */

/** Characters that JSON allows and a terminal obeys or hides. */
const UNSAFE_IN_JSON = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}\p{DI}]/gu;

/** Most lines have nothing else, and finding that out is many times faster than looking for what is unsafe. */
const PLAIN_JSON = /^[ -~]*$/;

/** One value as JSON on one line, which may go to a terminal; reading it gives the same value back. */
export function safeJson(value: unknown): string {
  return safe(JSON.stringify(value));
}

/** The same with a line end. */
export function jsonLine(value: unknown): string {
  return `${safeJson(value)}\n`;
}

/** The same for an event. The text of a large value in it is not written again. */
export function eventLine(event: Event): string {
  return `${safe(canonicalJsonOf(event))}\n`;
}

function safe(json: string): string {
  if (PLAIN_JSON.test(json)) return json;
  return json.replace(UNSAFE_IN_JSON, (character) => {
    let escaped = '';
    for (let at = 0; at < character.length; at++) {
      escaped += `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
    }
    return escaped;
  });
}
