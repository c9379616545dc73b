/**
 * The functions that rules import, as the programs that load policies offer them: `invariant.detectors` and
 * `invariant.parsers` as the standard library names them, everything else under `cordon.detectors`. A detector's code is loaded when a rule
 * first asks it, because most starts need none. Ring 1.
 */
import { type Detector, defineDetector } from '@cordon/policy';
import type * as HiddenText from './hidden-text/rule.ts';
import { onDemand } from './on-demand.ts';
import type * as Pii from './pii/rule.ts';
import type * as PromptInjection from './prompt-injection/rule.ts';
import type * as Secrets from './secrets/rule.ts';

const HIDDEN_TEXT = onDemand<typeof HiddenText>('./hidden-text/rule.ts');
const PII = onDemand<typeof Pii>('./pii/rule.ts');
const PROMPT_INJECTION = onDemand<typeof PromptInjection>('./prompt-injection/rule.ts');
const SECRETS = onDemand<typeof Secrets>('./secrets/rule.ts');

const DETECTORS: readonly Detector[] = [
  defineDetector({
    name: 'pii',
    cost: 'linear',
    isDeterministic: true,
    parameters: ['data', 'entities', 'threshold'],
    run: (call) => PII().pii(call),
  }),
  defineDetector({
    name: 'secrets',
    cost: 'linear',
    isDeterministic: true,
    parameters: ['data', 'threshold'],
    run: (call) => SECRETS().secrets(call),
  }),
  defineDetector({
    name: 'hidden_text',
    cost: 'linear',
    isDeterministic: true,
    parameters: ['data', 'threshold'],
    run: (call) => HIDDEN_TEXT().hiddenText(call),
  }),
  defineDetector({
    name: 'unicode',
    cost: 'linear',
    isDeterministic: true,
    parameters: ['data', 'categories'],
    run: (call) => HIDDEN_TEXT().unicode(call),
  }),
  defineDetector({
    name: 'prompt_injection',
    cost: 'linear',
    isDeterministic: true,
    parameters: ['data', 'model', 'threshold'],
    run: (call) => PROMPT_INJECTION().promptInjection(call),
  }),
  defineDetector({
    name: 'injection_spans',
    cost: 'linear',
    isDeterministic: true,
    parameters: ['data', 'threshold'],
    run: (call) => PROMPT_INJECTION().spansAsValues(call),
  }),
];

/** All detectors that need nothing beyond this package: given to `loadPolicy`, its rules can import them by name. */
export function standardDetectors(): readonly Detector[] {
  return DETECTORS;
}
