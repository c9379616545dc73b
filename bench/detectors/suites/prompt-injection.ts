/** `prompt_injection`, and what others say of the same texts: whether there is an order in a text at all. */
import { injectionSpans } from '@cordon/detectors/parts';
import type { Label } from '../labelled.ts';
import { packagePeer } from '../peers.ts';
import type { Find, Suite } from '../suite.ts';

/** A peer that only says yes or no. */
function whole(says: (text: string) => boolean | Promise<boolean>): Find {
  return async (text): Promise<readonly Label[]> =>
    (await says(text)) ? [{ kind: 'PROMPT_INJECTION', start: 0, end: text.length }] : [];
}

interface Vard {
  default(text: string): unknown;
}
interface Haiec {
  isInputSafe(text: string): boolean;
}
interface GuardrailModel {
  check(prompt: string): Promise<{ allowed: boolean }>;
}
interface Guard {
  LLMGuard: new (options: object) => { validate(text: string): Promise<{ isValid: boolean }> };
}

export const PROMPT_INJECTION_SUITE: Suite = {
  detector: 'prompt_injection',
  judged: 'texts',
  rows: [{ name: 'orders to an agent', kinds: null, aim: null }],
  find: (text) => injectionSpans(text).map(({ start, end }) => ({ kind: 'PROMPT_INJECTION', start, end })),
  peers: [
    packagePeer<Vard>('`@andersmyrmel/vard` 1.2.0', '@andersmyrmel/vard', null, (vard) =>
      whole((text) => {
        try {
          vard.default(text);
          return false;
        } catch {
          return true;
        }
      }),
    ),
    packagePeer<Haiec>('`llmverify` 1.6.1', 'llmverify', null, ({ isInputSafe }) =>
      whole((text) => !isInputSafe(text)),
    ),
    packagePeer<GuardrailModel>('`llm_guardrail` 2.1.2', 'llm_guardrail', null, ({ check }) =>
      whole(async (text) => !(await check(text)).allowed),
    ),
    packagePeer<Guard>('`llm-guard` 0.1.9', 'llm-guard', null, ({ LLMGuard }) => {
      const guard = new LLMGuard({ promptInjection: true, jailbreak: true });
      return whole(async (text) => !(await guard.validate(text)).isValid);
    }),
  ],
  speedAim: null,
};
