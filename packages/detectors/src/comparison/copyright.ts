/**
 * `copyright`: licences and notices by their words (specification 13.2, with its kinds). Unlike the seed's, which takes any
 * prose with half of a title's words, a licence is reported where its title, its own sentence or its SPDX id stands; a
 * notice also where a year replaces the sign.
 */
import { type FindIn, findingOf, type Stretch } from '../text/finding.ts';
import { LiteralScan } from '../text/literal-scan.ts';
import { addStretch, matchesIn, type OpenStretch } from '../text/match.ts';
import { once } from '../text/on-demand.ts';

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
    'BSD_LICENSE',
    'bsd [234]-clause',
    '[234]-clause bsd',
    'bsd license',
    'redistribution and use in source and binary forms, with or without modification',
    spdx('bsd'),
  ],
  [
    'ISC_LICENSE',
    'isc license',
    'permission to use, copy, modify, and(?:/or)? distribute this software for any purpose with or without fee is hereby granted',
    spdx('isc'),
  ],
  ['ECLIPSE_PUBLIC_LICENSE', 'eclipse public license', spdx('epl')],
  [
    'CREATIVE_COMMONS',
    'creative commons (?:attribution|zero|cc0)',
    'creative commons [a-z]{2,20} license',
    'licensed under cc-by',
    'licensed under cc by',
    spdx('cc0?-'),
  ],
  [
    'UNLICENSE',
    'this is free and unencumbered software released into the public domain',
    'the unlicense',
    spdx('unlicense'),
  ],
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

/** One of them is in each sentence: it is looked for only around them. */
const SIGNS = ['licen', 'copyright', '(c)', 'affero', 'hereby', 'redistribution', 'unencumbered', 'commons'];
/** UTF-16 units: no sentence is longer, however its lines are wrapped. */
const AROUND = 400;

const signScan = once(() => new LiteralScan(SIGNS.map((sign) => ({ text: sign, anyCase: true }))));

export const findCopyright: FindIn = (text) =>
  stretchesIn(text)
    .flatMap(({ start, end }) =>
      PATTERNS.flatMap(({ kind, pattern }) =>
        matchesIn(text.slice(start, end), pattern, start).map((match) =>
          kind === 'COPYRIGHT'
            ? findingOf(kind, match, 0.95, 'a notice of copyright')
            : findingOf(kind, match, 0.9, 'the words of a licence'),
        ),
      ),
    )
    .sort((a, b) => a.start - b.start);

/** What is around signs, in order and apart. */
function stretchesIn(text: string): readonly Stretch[] {
  const places: number[] = [];
  signScan().scan(text, (_, end) => places.push(end));
  for (let at = text.indexOf('©'); at >= 0; at = text.indexOf('©', at + 1)) places.push(at);
  const stretches: OpenStretch[] = [];
  for (const place of places.sort((a, b) => a - b))
    addStretch(stretches, Math.max(0, place - AROUND), place + AROUND);
  return stretches;
}
