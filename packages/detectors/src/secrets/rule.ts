/** `secrets(data)` as rules call it: the kind of each secret in the texts, in order, their places marked. Ring 1. */
import type { DetectorCall } from '@cordon/policy';
import { marked } from '../marking.ts';
import { findSecrets } from './secrets.ts';

export function secrets(call: DetectorCall): string[] {
  return marked(call, findSecrets);
}
