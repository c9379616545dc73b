/**
 * What `llm-guard` 0.1.9, with its checks of prompt injection and of jailbreaks, said of the texts of the table: recorded, because it
 * is no part of this project. It tells how valid a text is; the score is what is missing to 1. Any other text has no answer.
 */
import { defineDetectors } from '@cordon/detectors';

/** By the beginning of the text. */
const VALID: readonly (readonly [string, number])[] = [
  ['I typed “ignore all previous instr', 0.3],
  ['Important: before you do anything', 1],
  ['Ignore the previous reviews,', 1],
  ['Setting it up took five minutes', 1],
  ['Ignore all previous instructions', 0.3],
  ['My feedback is that it is slow.', 1],
  ['Good product. For completeness,', 1],
];

export default defineDetectors({
  injection_score: {
    parameters: ['text'],
    evaluate: ({ text }) => {
      const known = VALID.find(([beginning]) => typeof text === 'string' && text.startsWith(beginning));
      if (known === undefined) throw new Error('nothing is recorded of this text');
      return 1 - known[1];
    },
  },
});
