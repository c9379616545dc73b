/** `pii(data, entities=None)` as rules call it: the kind of each finding in the texts, their places marked. */

import { type DetectorCall, type NoAnswer, noAnswer } from '@cordon/policy';
import { marked } from '../text/marking.ts';
import { KINDS } from './kinds.ts';
import { asEveryKind, findPersonalData } from './pii.ts';

/** As the seed language has it. */
const THRESHOLD = 0.5;

/** A finding that is of two kinds, as an address is a place, gives both. A kind that nothing finds makes the rule undecided. */
export function pii(call: DetectorCall): string[] | NoAnswer {
  const { entities = null, threshold = THRESHOLD } = call.given;
  if (typeof threshold !== 'number') return noAnswer('`threshold` of `pii` is a number');
  if (entities === null)
    return marked(
      call,
      (text) => findPersonalData(text).flatMap((finding) => asEveryKind(text, finding)),
      threshold,
    );
  if (!Array.isArray(entities)) return noAnswer('`entities` of `pii` is a list of kinds');
  const unknown = entities.find((kind) => typeof kind !== 'string' || !KINDS.has(kind));
  if (unknown !== undefined) return noAnswer(`\`pii\` does not find the kind ${JSON.stringify(unknown)}`);
  const kinds = new Set(entities.map(String));
  return marked(call, (text) => findPersonalData(text, kinds), threshold);
}
