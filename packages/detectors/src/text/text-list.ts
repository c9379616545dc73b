/** Values of rules and answers that are lists of texts. */
import type { Json } from '@cordon/core';

/** Null: it is no list, or holds something else. */
export function textsIn(value: Json | undefined): readonly string[] | null {
  if (!Array.isArray(value)) return null;
  const texts = value.filter((one) => typeof one === 'string');
  return texts.length === value.length ? texts : null;
}
