/** `secrets(data)` as rules call it: the kind of each secret in the texts, in order, their places marked. Ring 1. */
import type { DetectorCall } from '@cordon/policy';
import { marked } from '../marking.ts';
import { findSecrets } from './secrets.ts';

export function secrets(call: DetectorCall): string[] {
  const threshold = call.named.threshold ?? call.rest[0] ?? 0.5;
  if (typeof threshold !== 'number') throw new TypeError('`threshold` is a number');
  return marked(call, findSecrets, threshold);
}
