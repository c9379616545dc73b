/** Orders to an agent in a text, for programs that look for them outside of rules. Ring 1. */

import type * as PromptInjection from '../prompt-injection/prompt-injection.ts';
import type { Finding } from '../text/finding.ts';
import { onDemand } from '../text/on-demand.ts';

const PROMPT_INJECTION = onDemand<typeof PromptInjection>('../prompt-injection/prompt-injection.ts');

/** As `prompt_injection` finds them, where it is sure. Loaded when it is first asked. */
export function findOrders(text: string): readonly Finding[] {
  return PROMPT_INJECTION().findInjections(text);
}
