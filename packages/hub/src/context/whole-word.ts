/** Whole words of a text: `b@x.org` does not stand in `bob@x.org`. */

const INSIDE = /[\p{L}\p{N}_@+-]/u;
/** Places of one value in one text. Attack: a text of two million times the same letter. */
const MOST_PLACES = 1000;

/** Where it stands in the text as a whole word; -1: nowhere. @param lower the text in lower case, as `wanted` is */
export function placeOfWord(text: string, lower: string, wanted: string): number {
  // Where lower case has another length, places cannot be told in the text as it was written.
  const written = lower.length === text.length ? text : lower;
  let at = lower.indexOf(wanted);
  for (let places = 0; at !== -1 && places < MOST_PLACES; places++) {
    const before = lower.slice(Math.max(0, at - 3), at);
    const after = written.slice(at + wanted.length, at + wanted.length + 4);
    if (!INSIDE.test(before.slice(-1)) && !/[\p{L}\p{N}]\.$/u.test(before) && !continues(after)) return at;
    at = lower.indexOf(wanted, at + 1);
  }
  return -1;
}

/** A full stop ends a sentence, unless more of a name follows it; a new sentence may follow without a space. */
function continues(after: string): boolean {
  return (
    INSIDE.test(after.slice(0, 1)) || (/^\.[\p{L}\p{N}]/u.test(after) && !/^\.\p{Lu}\p{Ll}/u.test(after))
  );
}
