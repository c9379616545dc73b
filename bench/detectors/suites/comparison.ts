/** `copyright`, `fuzzy_contains` and `lexical_similarity`, and what others say of the same texts. */

import { errorsFor, findCopyright, findFuzzy, lexicalSimilarity } from '@cordon/detectors/parts';
import type { Label } from '../labelled.ts';
import { packagePeer } from '../peers.ts';
import type { Find, Suite } from '../suite.ts';
/** In a labelled text: the query, or the first of a pair, stands before it. */
export const BETWEEN = '\n=====\n';

/** As the standard library has it where a rule says nothing. */
const THRESHOLD = 0.8;
/** Where words in another order are told from other words. */
const ALIKE = 0.6;

/** Where speed is measured, the text has no query of its own. */
const SOME_QUERY = 'the merger with Acme Corporation';

function parted(text: string): readonly [before: string, behind: string, at: number] {
  const at = text.indexOf(BETWEEN);
  return at < 0
    ? [SOME_QUERY, text, 0]
    : [text.slice(0, at), text.slice(at + BETWEEN.length), at + BETWEEN.length];
}

function whole(kind: string, says: (before: string, behind: string) => boolean): Find {
  return (text): readonly Label[] => {
    const [before, behind] = parted(text);
    return says(before, behind) ? [{ kind, start: 0, end: text.length }] : [];
  };
}

const LICENCES = 'licences';
const NOTICES = 'notices';

type CopyrightRegex = { readonly default: () => RegExp };

const COPYRIGHT: Suite = {
  detector: 'copyright',
  judged: 'ranges',
  rows: [
    {
      name: LICENCES,
      kinds: [
        'GNU_AGPL_V3',
        'GNU_LGPL_V3',
        'GNU_GPL_V2',
        'MOZILLA_PUBLIC_LICENSE_2.0',
        'APACHE_LICENSE_2.0',
        'MIT_LICENSE',
        'BOOST_SOFTWARE_LICENSE',
      ],
      aim: null,
    },
    { name: NOTICES, kinds: ['COPYRIGHT'], aim: null },
  ],
  find: findCopyright,
  peers: [
    packagePeer<CopyrightRegex>(
      '`copyright-regex` 1.1.6',
      'copyright-regex',
      [NOTICES],
      (module) => (text) =>
        [...text.matchAll(new RegExp(module.default().source, 'gi'))].map((match) => ({
          kind: 'COPYRIGHT',
          start: match.index,
          end: match.index + match[0].length,
        })),
    ),
  ],
  speedAim: 50,
};

type Fuse = {
  readonly default: new (
    texts: readonly string[],
    options: object,
  ) => { search(query: string): readonly object[] };
};
interface Fuzzball {
  partial_ratio(one: string, other: string): number;
  token_set_ratio(one: string, other: string): number;
}
interface LevenshteinSearch {
  fuzzySearch(needle: string, haystack: string, most: number): Iterable<object>;
}

const FUZZY: Suite = {
  detector: 'fuzzy_contains',
  judged: 'texts',
  rows: [{ name: 'a query with errors, threshold 0.8', kinds: null, aim: { recall: 1, precision: 1 } }],
  find: (text) => {
    const [query, behind, shift] = parted(text);
    const match = findFuzzy(behind, query, errorsFor(query, THRESHOLD));
    return match === null ? [] : [{ kind: 'MATCH', start: match.start + shift, end: match.end + shift }];
  },
  peers: [
    packagePeer<Fuse>('`fuse.js` 7.5.0', 'fuse.js', null, (module) =>
      whole('MATCH', (query, text) => {
        const options = { threshold: 1 - THRESHOLD, ignoreLocation: true, isCaseSensitive: true };
        return new module.default([text], options).search(query).length > 0;
      }),
    ),
    packagePeer<Fuzzball>('`fuzzball` 2.2.6, `partial_ratio`', 'fuzzball', null, (module) =>
      whole('MATCH', (query, text) => module.partial_ratio(query, text) >= 100 * THRESHOLD),
    ),
    packagePeer<{ default: LevenshteinSearch }>(
      '`levenshtein-search` 0.1.2',
      'levenshtein-search',
      null,
      (module) =>
        whole(
          'MATCH',
          (query, text) =>
            [...module.default.fuzzySearch(query, text, errorsFor(query, THRESHOLD))].length > 0,
        ),
    ),
  ],
  speedAim: null,
};

const SIMILARITY: Suite = {
  detector: 'lexical_similarity',
  judged: 'texts',
  rows: [{ name: `pairs in other order, at least ${ALIKE}`, kinds: null, aim: null }],
  find: whole('SIMILAR', (one, other) => lexicalSimilarity(one, other) >= ALIKE),
  peers: [
    packagePeer<{ default: { compareTwoStrings(one: string, other: string): number } }>(
      '`string-similarity` 4.0.4',
      'string-similarity',
      null,
      (module) => whole('SIMILAR', (one, other) => module.default.compareTwoStrings(one, other) >= ALIKE),
    ),
    packagePeer<Fuzzball>('`fuzzball` 2.2.6, `token_set_ratio`', 'fuzzball', null, (module) =>
      whole('SIMILAR', (one, other) => module.token_set_ratio(one, other) >= 100 * ALIKE),
    ),
  ],
  speedAim: null,
};

export const COMPARISON_SUITES: readonly Suite[] = [COPYRIGHT, FUZZY, SIMILARITY];
