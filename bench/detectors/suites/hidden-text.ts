/** `hidden_text`, and what others find. Kinds differ from package to package, so any finding at a hidden text's place is right. */
import { findHidden } from '../../../packages/detectors/src/hidden-text/hidden-text.ts';
import type { Suite } from '../suite.ts';

const CHARACTERS = ['ZERO_WIDTH', 'TAG_CHARACTERS', 'VARIATION_SELECTORS', 'BIDI_CONTROL'];

export const HIDDEN_TEXT_SUITE: Suite = {
  detector: 'hidden_text',
  judged: 'ranges',
  rows: [
    { name: 'all kinds', kinds: null, aim: { recall: 1, precision: 1 } },
    { name: 'invisible characters', kinds: CHARACTERS, aim: { recall: 1, precision: 1 } },
  ],
  find: findHidden,
  peers: [],
  speedAim: 50,
};
