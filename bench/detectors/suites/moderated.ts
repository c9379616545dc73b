/** `moderated` without a classifier of the user's, by turns of phrase. */
import { findModerated } from '@cordon/detectors/parts';
import type { Suite } from '../suite.ts';

const CATEGORIES = ['harassment', 'hate', 'violence', 'self-harm', 'sexual'];

export const MODERATED_SUITE: Suite = {
  detector: 'moderated',
  judged: 'ranges',
  rows: [
    { name: 'any category', kinds: null, aim: null },
    ...CATEGORIES.map((category) => ({ name: category, kinds: [category], aim: null })),
  ],
  find: (text) => {
    const found = findModerated(text).filter(({ confidence }) => confidence > 0.5);
    // The classifier's answer is about a whole piece, and so are the labels.
    return [...new Set(found.map(({ kind }) => kind))].map((kind) => ({ kind, start: 0, end: text.length }));
  },
  peers: [],
  speedAim: null,
};
