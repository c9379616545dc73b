/** `topic`, by lists of words: whether a text is about one of twelve topics, and about which. No npm package was found that tells topics of a sentence offline. */
import { findTopics, TOPICS } from '@cordon/detectors/parts';
import type { Suite } from '../suite.ts';

export const TOPIC_SUITE: Suite = {
  detector: 'topic',
  judged: 'ranges',
  rows: [
    { name: 'any of twelve topics', kinds: null, aim: null },
    ...TOPICS.map((topic) => ({ name: topic, kinds: [topic], aim: null })),
  ],
  find: (text) =>
    findTopics(text)
      .filter(({ confidence }) => confidence >= 0.5)
      .map(({ kind, start, end }) => ({ kind, start, end })),
  peers: [],
  speedAim: null,
};
