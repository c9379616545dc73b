/** `secrets(data, threshold=0.5)` as rules call it: the kind of each secret in the texts, their places marked. */

import { type DetectorCall, type NoAnswer, noAnswer } from '@cordon/policy';
import { marked } from '../text/marking.ts';
import { findSecrets } from './secrets.ts';

/** Everything that the seed language reports is at least as sure. */
const THRESHOLD = 0.5;

export function secrets(call: DetectorCall): string[] | NoAnswer {
  const { threshold = THRESHOLD } = call.given;
  if (typeof threshold !== 'number') return noAnswer('`threshold` of `secrets` is a number');
  return marked(call, findSecrets, threshold);
}
