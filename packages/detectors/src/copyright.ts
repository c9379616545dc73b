/**
 * `copyright`: licences and notices by their words (specification 13.2, with its kinds). Unlike the seed's, which takes any
 * prose with half of a title's words, a licence is reported where its title, its own sentence or its SPDX id stands; a
 * notice also where a year stands in place of the sign. Ring 1.
 */
import type { FindIn } from './finding.ts';

/** `\s{1,8}` between words: lines wrap, and comment marks stand before them. */
const GAP = '[\\s*#/;-]{1,12}';
const words = (text: string) => text.split(' ').join(GAP);
const spdx = (id: string) => `spdx-license-identifier:\\s{0,8}${id}(?![a-z])`;
const YEAR = '(?:19|20)\\d\\d(?!\\d)';

const KINDS: readonly (readonly [kind: string, ...sentences: readonly string[]])[] = [
  ['GNU_AGPL_V3', 'gnu affero general public license', 'affero gpl', spdx('agpl')],
  ['GNU_LGPL_V3', 'gnu lesser general public license', 'gnu library general public license', spdx('lgpl')],
  ['GNU_GPL_V2', 'gnu general public license', spdx('gpl')],
  ['MOZILLA_PUBLIC_LICENSE_2.0', 'mozilla public license', spdx('mpl')],
  [
    'APACHE_LICENSE_2.0',
    'apache license,? version 2\\.0',
    'licensed under the apache license',
    'apache license',
    spdx('apache'),
  ],
  [
    'MIT_LICENSE',
    'the mit license',
    'mit license',
    'permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated',
    spdx('mit'),
  ],
  ['BOOST_SOFTWARE_LICENSE', 'boost software license', spdx('bsl-1\\.0')],
  [
    'COPYRIGHT',
    `copyright[\\s:]{0,4}(?:\\(c\\)|©|(?<=\\s)${YEAR})`,
    `(?:\\(c\\)|©)[\\s:]{0,4}copyright`,
    `©\\s{0,4}${YEAR}`,
  ],
];

const PATTERNS = KINDS.map(([kind, ...sentences]) => ({
  kind,
  pattern: new RegExp(`(?:${sentences.map(words).join('|')})`, 'gi'),
}));

export const findCopyright: FindIn = (text) =>
  PATTERNS.flatMap(({ kind, pattern }) =>
    [...text.matchAll(pattern)].map((match) => ({
      kind,
      start: match.index,
      end: match.index + match[0].length,
      confidence: kind === 'COPYRIGHT' ? 0.95 : 0.9,
      reason: kind === 'COPYRIGHT' ? 'a notice of copyright' : 'the words of a licence',
    })),
  ).sort((a, b) => a.start - b.start);
