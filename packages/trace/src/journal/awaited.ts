/**
 * Which events are on the disk before anything goes on: the decisions that let something leave the machine's memory, and
 * what the user has agreed to. All others are committed at once, in order, and reach the disk with the next of these.
 * See docs/decisions/0016-what-is-synced-before-an-effect.md.
 */
import type { DecidedBody, EventBody } from '@cordon/core';

/**
 * Whether an effect can outlive a failure of power. What is delivered into the memory of a confined process, or of the
 * hub, dies with the machine; whatever comes of it later is another effect, and its decision brings this to the disk.
 */
const OUTLIVES_THE_MACHINE: Readonly<Record<DecidedBody['kind'], boolean>> = {
  'model-call.decided': true,
  'tool-call.decided': true,
  'egress.decided': true,
  'data-release.decided': true,
  'answer.decided': true,
  'answer-part.decided': true,
  'tool-output.decided': false,
  'app-request.decided': false,
  'app-response.decided': false,
};

/** True: the event, and so every event before it, must have reached the disk before `append` returns. */
export function isAwaited(body: EventBody): boolean {
  switch (body.kind) {
    case 'session.started':
    case 'session.resumed':
    case 'session.ended':
    case 'permission.answered':
    case 'grant.given':
    case 'grant.used':
      return true;
    default:
      // A decision that is lost denies; so only one that allows is waited for.
      return 'verdict' in body && body.verdict === 'allow' && OUTLIVES_THE_MACHINE[body.kind];
  }
}
