/** Orders to an agent in a text, for programs that look for them outside of rules. */

import type * as PromptInjection from '../prompt-injection/prompt-injection.ts';
import type { Finding } from '../text/finding.ts';
import { onDemand, withoutParsers } from '../text/on-demand.ts';

const PROMPT_INJECTION = onDemand<typeof PromptInjection>('../prompt-injection/prompt-injection.ts');

/**
 * As `prompt_injection` finds them, without those that the manual of a tool may hold. Loaded when it is first asked. No third-party parser runs: the hub itself
 * looks so at what an app says of itself. Markup is read as plain text, comments and attributes included.
 */
export function findOrders(text: string): readonly Finding[] {
  const find = () => PROMPT_INJECTION().findForeignOrders(text.replaceAll('<', ' '));
  return withoutParsers<readonly Finding[]>(find, [unreadable(text)]);
}

/** Markup within encoded text: an honest description has none, so a person looks at all of it. */
function unreadable({ length }: string): Finding {
  const reason = 'it holds encoded markup, which is not looked at here';
  return { kind: 'PROMPT_INJECTION', start: 0, end: length, confidence: 0.5, reason };
}
