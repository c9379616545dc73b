/** The score of `prompt_injection` of the standard library: how sure it is of what it is surest of, and 0 where it sees nothing. */
import { defineDetectors, standardDetectors } from '@cordon/detectors';

const spans = standardDetectors().find(({ name }) => name === 'injection_spans');

export default defineDetectors({
  injection_score: {
    parameters: ['text'],
    evaluate: ({ text }) => {
      if (typeof text !== 'string' || spans === undefined) throw new TypeError('a text is looked at');
      const given = { threshold: 0.01 };
      const said = spans.judge({
        texts: [text],
        kind: 'str',
        rest: [],
        named: given,
        given,
        mark: () => undefined,
      });
      if (!Array.isArray(said)) throw new Error('the detector gave no list');
      return Math.max(0, ...said.map((span) => Number(Object(span).confidence)));
    },
  },
});
