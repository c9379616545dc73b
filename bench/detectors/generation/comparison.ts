/**
 * Writes `texts/copyright.jsonl`, `texts/fuzzy_contains.jsonl` and `texts/lexical_similarity.jsonl`: licences and notices beside
 * prose about them; a query that stands in a text with a few errors, or with too many; pairs that say the same in other
 * words or not. Seeded: the same files each time.
 */
import { type Labelled, writeLabelled } from '../labelled.ts';
import { BETWEEN } from '../suites/comparison.ts';
import { Chance, filled, labelled, wanted } from './writing.ts';

const random = new Chance(20_260_612);

// ── licences and notices ────────────────────────────────────────────────────────────────────────────────────────

const LICENCES: readonly (readonly [kind: string, ...words: readonly string[]])[] = [
  [
    'GNU_AGPL_V3',
    'GNU AFFERO GENERAL PUBLIC LICENSE',
    'GNU Affero General Public License',
    'SPDX-License-Identifier: AGPL-3.0-or-later',
    'SPDX-License-Identifier: AGPL-3.0-only',
  ],
  [
    'GNU_LGPL_V3',
    'GNU LESSER GENERAL PUBLIC LICENSE',
    'GNU Lesser General Public License',
    'SPDX-License-Identifier: LGPL-3.0-only',
    'SPDX-License-Identifier: LGPL-2.1',
  ],
  [
    'GNU_GPL_V2',
    'GNU GENERAL PUBLIC LICENSE',
    'GNU General Public License',
    'SPDX-License-Identifier: GPL-2.0-only',
    'SPDX-License-Identifier: GPL-3.0-or-later',
  ],
  [
    'MOZILLA_PUBLIC_LICENSE_2.0',
    'Mozilla Public License',
    'MOZILLA PUBLIC LICENSE',
    'Mozilla Public License, v. 2.0',
    'SPDX-License-Identifier: MPL-2.0',
  ],
  [
    'APACHE_LICENSE_2.0',
    'Apache License, Version 2.0',
    'Licensed under the Apache License',
    'Apache License',
    'SPDX-License-Identifier: Apache-2.0',
  ],
  [
    'MIT_LICENSE',
    'MIT License',
    'The MIT License',
    'Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated',
    'SPDX-License-Identifier: MIT',
  ],
  [
    'BOOST_SOFTWARE_LICENSE',
    'Boost Software License',
    'BOOST SOFTWARE LICENSE',
    'Boost Software License - Version 1.0',
    'SPDX-License-Identifier: BSL-1.0',
  ],
];

const NOTICES = [
  'Copyright (c) 2024 Ada Lovelace',
  'Copyright (C) 1999-2026 Example GmbH',
  'Copyright © 2026 Example Inc.',
  '© Copyright 2025, The Authors',
  'Copyright 2023 The Example Authors',
  '© 2026 Example Ltd',
  'copyright: (c) 2020 by Grace Hopper',
  '(c) Copyright Example 2011',
];

const HEADERS: readonly (readonly [note: string, frame: string])[] = [
  ['a comment of C', '/*\n * {}\n */\nint main(void) { return 0; }\n'],
  ['a comment of a shell', '#!/bin/sh\n# {}\nset -e\n'],
  ['a line of TypeScript', '// {}\nexport const a = 1;\n'],
  ['a page', '<html><body><footer><small>{}</small></footer></body></html>'],
  ['a file of its own', '{}\n\nTERMS AND CONDITIONS\n'],
  ['Lisp', ';; {}\n(defun f () nil)\n'],
  ['SQL', '-- {}\nSELECT 1;\n'],
  ['a doc string', '"""{}"""\nimport os\n'],
  ['a manual', 'NAME\n  tool - does things\n\nAUTHORS\n  {}\n'],
  ['the end of a mail', 'Best,\nAnn\n\n--\n{}\n'],
];

const ABOUT_RIGHTS: readonly (readonly [note: string, ...texts: readonly string[]])[] = [
  [
    'a driving licence',
    'Please bring your license and passport.',
    'My license expires in May.',
    'The general public may enter.',
    'A public license plate.',
    'He lost his driving licence.',
  ],
  [
    'prose about copyright',
    'Copyright law is complicated.',
    'Who holds the copyright of this song?',
    'The copyright has expired.',
    'Copyright infringement is a crime.',
    'They discussed copyright for an hour.',
  ],
  [
    'prose about software',
    'Which license should we choose?',
    'The library is free software.',
    'Version 2.0 of the license plate reader',
    'Public API, general availability',
    'We use a lesser known tool.',
  ],
  [
    'names',
    'Apache is a web server.',
    'The Apache helicopter',
    'MIT is in Cambridge.',
    'He studied at MIT.',
    'Mozilla makes a browser.',
  ],
  [
    'boost and more',
    'Boost your software sales!',
    'a boost for the economy',
    'Software updates boost performance.',
    'the gnu is an antelope',
    'GNU Emacs is an editor.',
  ],
  [
    'permission',
    'Permission is granted to enter.',
    'Permission denied (publickey).',
    'You have my permission.',
    'Grant permission to the app.',
    'Free of charge for children.',
  ],
  [
    '(c) in lists',
    '(a) one (b) two (c) three',
    'Section 4(c) applies.',
    'f(c) = 2c',
    'case (c): break;',
    'see 1(a) to 1(c)',
  ],
  [
    'German',
    'Das Urheberrecht ist kompliziert.',
    'Ihre Lizenz läuft ab.',
    'Die Lizenz für das Spiel.',
    'Öffentlich und allgemein.',
    'Rechte vorbehalten?',
  ],
  [
    'programs',
    'const license = getLicense(user);',
    'if (copyright) print(copyright)',
    'def copyright_year(): ...',
    'license_key = None',
    '"license": "UNLICENSED"',
  ],
  [
    'the word with something else',
    'copyright page',
    'Copyright Office',
    'Copyright Act of 1976',
    'copyright holder',
    'the copyright notice is missing',
  ],
  [
    'other titles',
    'General Terms and Conditions',
    'Public Library Card',
    'Software Engineering, Volume 2',
    'Lesser Antilles',
    'Server Side Public',
  ],
  [
    'letters',
    'We hereby confirm your order.',
    'Any person may apply.',
    'obtaining a copy of the key',
    'associated costs',
    'documentation files are attached',
  ],
  ['temperatures', '20 °C', '(C) is the third answer', 'vitamin C', 'C 2024', 'Model C (2026)'],
  [
    'a song',
    'All rights and no wrongs.',
    'Music by Ada, words by Bob',
    'played in 1999',
    'a cover of an old song',
    'Side C',
  ],
  [
    'shops',
    'Licensed premises',
    'licensed electrician',
    'a licensed copy',
    'under new management',
    'Version 2 is out now',
  ],
];

const ASIDES = ['By the way:', 'Dear all,', 'Note:', '> '];

function copyrightGroups(): readonly (readonly Labelled[])[] {
  const licences = LICENCES.flatMap(([kind, ...words]) =>
    words.map((text) =>
      [random.one(HEADERS), random.one(HEADERS), random.one(HEADERS)].map(([note, frame]) =>
        filled(`${kind}, ${note}`, frame, wanted(kind, text)),
      ),
    ),
  );
  const notices = NOTICES.map((text) =>
    [random.one(HEADERS), random.one(HEADERS), random.one(HEADERS)].map(([note, frame]) =>
      filled(`a notice, ${note}`, frame, wanted('COPYRIGHT', text)),
    ),
  );
  const negative = ABOUT_RIGHTS.map(([note, ...texts]) =>
    texts.flatMap((text) => [labelled(note, text), labelled(note, `${random.one(ASIDES)} ${text}`)]),
  );
  return random.shuffled([...licences, ...notices, ...negative]);
}

// ── a query with errors ─────────────────────────────────────────────────────────────────────────────────────────

const QUERIES = [
  'project nightingale',
  'Ada Lovelace',
  'quarterly revenue forecast',
  'Geschäftsgeheimnis',
  'rendez-vous à la gare',
  'the merger with Acme Corporation',
  'INV-2026-004711',
  'do not share outside the company',
  'operation blue sparrow',
  'Müller & Söhne GmbH',
  'sign the contract by Friday',
  'swordfish',
  'prescription for amoxicillin',
  'flight LH 454 to San Francisco',
  'confidential draft',
  'Привет, мир и покой',
  'acquisition of the northern plant',
  'internal use only',
  'customer churn analysis',
  'emergency shutdown procedure',
];

const AROUND = [
  'Dear all, {} is what we talk about on Monday. Best, Ann',
  'TODAY: {}\n- bread\n- milk\n',
  '{"note": "{}", "done": false}',
  'Nobody has heard of {} so far, and nobody will.',
  'Re: Re: {} (was: lunch)',
];

const OTHER_TEXTS = [
  'The museum opens at nine and closes at five, except on Mondays.',
  'Mix flour and water, wait for an hour, then bake at two hundred degrees.',
  'La réunion aura lieu mardi à dix heures dans la grande salle.',
  'Der Zug nach Hamburg fährt heute von Gleis sieben ab.',
  'SELECT name, city FROM people WHERE age > 30 ORDER BY name;',
  'function area(r) { return 3.14159 * r * r; }',
];

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

/** So many letters changed, left out or put in, at places apart from each other. */
function damaged(text: string, errors: number): string {
  const letters = [...text];
  const places = random.shuffled(letters.map((_, at) => at)).slice(0, errors);
  for (const at of [...places].sort((a, b) => b - a)) {
    const letter = random.text(LETTERS, 1) === letters[at] ? '#' : random.text(LETTERS, 1);
    const kind = random.whole(0, 2);
    if (kind === 0) letters[at] = letter === letters[at] ? '#' : letter;
    else if (kind === 1) letters.splice(at, 1);
    else letters.splice(at, 0, letter);
  }
  return letters.join('');
}

/** Least errors with which the query stands anywhere in the text; the table of Wagner and Fischer, all of it. */
function leastErrors(text: string, query: string): number {
  let row: readonly number[] = Array.from({ length: text.length + 1 }, () => 0);
  for (let at = 1; at <= query.length; at++) {
    const next = [at];
    for (let column = 1; column <= text.length; column++) {
      const same = query[at - 1] === text[column - 1] ? 0 : 1;
      next.push(Math.min((row[column - 1] ?? 0) + same, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return Math.min(...row);
}

function fuzzyGroups(): readonly (readonly Labelled[])[] {
  const allowed = (query: string) => Math.min(10, Math.floor(query.length * 0.2 + 1e-9));
  const groups = QUERIES.map((query) => {
    const positive = AROUND.map((frame, index) => {
      const errors = Math.min(index, allowed(query));
      const [before = '', behind = ''] = frame.split(/\{\}(?!")|(?<=")\{\}(?=")/);
      const value = damaged(query, errors);
      return labelled(`${errors} errors`, query, BETWEEN, before, wanted('MATCH', value), behind);
    });
    const tooMany = Array.from({ length: 3 }, () => {
      const frame = random.one(AROUND);
      for (let errors = allowed(query) + 2; ; errors++) {
        const text = frame.replace('{}', () => damaged(query, errors));
        if (leastErrors(text, query) > allowed(query))
          return labelled('too many errors', `${query}${BETWEEN}${text}`);
      }
    });
    const other = random
      .shuffled(OTHER_TEXTS)
      .slice(0, 2)
      .map((text) => labelled('another text', `${query}${BETWEEN}${text}`));
    const sibling = AROUND[0]?.replace('{}', () => random.one(QUERIES.filter((one) => one !== query))) ?? '';
    return [...positive, ...tooMany, ...other, labelled('another query', `${query}${BETWEEN}${sibling}`)];
  });
  return random.shuffled(groups);
}

// ── pairs ───────────────────────────────────────────────────────────────────────────────────────────────────────

const PAIRS: readonly (readonly [one: string, other: string])[] = [
  [
    'The meeting has been moved to Tuesday at ten',
    'At ten on Tuesday the meeting is held, it has been moved',
  ],
  ['Please send the report to Ada before noon', 'Before noon please send Ada the report'],
  ['Sales went up by four percent in June', 'In June sales have gone up by four percent'],
  ['The door code is 4711 from Monday on', 'From Monday on the door code is 4711'],
  ['Our customers complain about slow deliveries', 'Customers complained that our deliveries are slow'],
  ['Der Vertrag wird am Freitag unterschrieben', 'Am Freitag wird der Vertrag unterschrieben'],
  ['Le train pour Paris part à huit heures', 'À huit heures part le train pour Paris'],
  ['The server was restarted after the update failed', 'After the failed update the server was restarted'],
  ['She booked a room with a view for two nights', 'For two nights she booked a room with a view'],
  ['Invoice 2026-17 has not been paid yet', 'Not paid yet: invoice 2026-17'],
  ['You can cancel the order within fourteen days', 'Within 14 days the order can be cancelled'],
  ['The library closes early on public holidays', 'On public holidays the library is closed early'],
  [
    'Backups are written to the second disk every night',
    'Every night backups are written to the second disk',
  ],
  ['El informe está listo para su revisión', 'Para su revisión está listo el informe'],
  ['The committee approved the budget for next year', 'Next year’s budget was approved by the committee'],
  ['Water the plants twice a week in summer', 'In summer the plants are watered twice a week'],
  ['The password must have at least twelve characters', 'At least twelve characters must be in the password'],
  ['Two passengers were injured when the bus braked', 'When the bus braked two passengers were injured'],
  ['Grace wrote the first compiler in 1952', 'In 1952 the first compiler was written by Grace'],
  ['Our office in Berlin is looking for an engineer', 'An engineer is looked for by our Berlin office'],
];

const TOUCHES: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text.toUpperCase(),
  (text) => `${text}!`,
  (text) => `  ${text.replaceAll(' ', '  ')}\n`,
  (text) => `- ${text.replace(',', ';')}.`,
];

function similarityGroups(): readonly (readonly Labelled[])[] {
  const pair = (note: string, one: string, other: string, isAlike: boolean): Labelled =>
    isAlike
      ? labelled(note, wanted('SIMILAR', `${one}${BETWEEN}${other}`))
      : labelled(note, `${one}${BETWEEN}${other}`);
  const groups = PAIRS.map(([one, other], index) => {
    const alike = TOUCHES.map((touch) => pair('the same in other order', one, touch(other), true));
    const unlike = TOUCHES.map((touch, at) => {
      const [next = '', nextOther = ''] = PAIRS[(index + 1 + at * 3) % PAIRS.length] ?? [];
      return pair('something else', one, touch(at % 2 === 0 ? next : nextOther), false);
    });
    return [...alike, ...unlike];
  });
  return random.shuffled(groups);
}

writeLabelled('copyright', copyrightGroups());
writeLabelled('fuzzy_contains', fuzzyGroups());
writeLabelled('lexical_similarity', similarityGroups());
