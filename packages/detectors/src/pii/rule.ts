/** `pii(data, entities=None)` as rules call it: the kind of each finding in the texts, their places marked. Ring 1. */
import type { DetectorCall } from '@cordon/policy';
import { marked } from '../marking.ts';
import { findPersonalData } from './pii.ts';

export function pii(call: DetectorCall): string[] {
  const entities = call.named.entities ?? call.rest[0] ?? null;
  if (entities !== null && !Array.isArray(entities)) throw new TypeError('`entities` is a list of kinds');
  const wanted = entities === null ? null : new Set(entities);
  return marked(call, (text) =>
    findPersonalData(text).filter(({ kind }) => wanted === null || wanted.has(kind)),
  );
}
