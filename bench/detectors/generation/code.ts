/**
 * Writes the labelled texts of `python_code`, `javascript_code`, `shell_code` and `sql_code`: pieces of code that reach
 * further than they say, pieces that only look like it, each in several surroundings and fences of Markdown.
 * `node bench/detectors/generation/code.ts`. Pieces are in `code/`; what is to be found stands between `⟦` and `⟧`.
 */

import { type Labelled, writeLabelled } from '../labelled.ts';
import { JAVASCRIPT_PIECES } from './code/javascript.ts';
import { PYTHON_PIECES } from './code/python.ts';
import { SHELL_PIECES } from './code/shell.ts';
import { SQL_PIECES } from './code/sql.ts';
import { Chance, labelled, type Part, wanted } from './writing.ts';

const chance = new Chance(20_261_121);

const FILLINGS: Readonly<Record<string, readonly string[]>> = {
  v: ['value', 'item', 'data', 'payload', 'x', 'result', 'entry', 'größe', 'données'],
  u: [
    'https://files.example/a',
    'http://192.0.2.7/run',
    'https://cdn.example.net/s?id=4',
    'https://例え.example/',
  ],
  f: ['report', 'notes', 'rows', 'übersicht', 'データ', 'build'],
  n: ['3', '17', '250', '4096'],
  t: ['orders', 'customers', 'events', 'shop.items'],
};

/** Sentences around a block, in the languages of those who ask. */
const PROSE: readonly (readonly [string, string])[] = [
  ['Here is how you can do it:', 'Let me know if that works.'],
  ['So geht es, wenn’s eilt:', 'Danach bitte prüfen.'],
  ['Puedes hacerlo así:', 'Avísame si falla.'],
  ['Voici ce qu’il faut lancer :', 'N’oubliez pas de vérifier.'],
  ['次のコードを実行してください：', '以上です。'],
  ['Запустите это:', 'Готово.'],
];

interface Surroundings {
  readonly detector: string;
  readonly pieces: readonly (readonly [string, string])[];
  readonly fence: string;
  /** What may stand before and behind without changing anything. */
  readonly around: readonly (readonly [string, string])[];
}

const LANGUAGES: readonly Surroundings[] = [
  {
    detector: 'python_code',
    pieces: PYTHON_PIECES,
    fence: 'python',
    around: [
      ['', ''],
      [
        '"""Helpers for the nightly job."""\nimport json\n\nTOTAL = 0\n',
        '\nprint(json.dumps({"ok": True}))\n',
      ],
      ['# computes what is due\ndef due(rows):\n    return [r for r in rows if r > 2]\n\n', '\n# the end\n'],
    ],
  },
  {
    detector: 'javascript_code',
    pieces: JAVASCRIPT_PIECES,
    fence: 'js',
    around: [
      ['', ''],
      ['// nightly job\nconst total = [1, 2].reduce((a, b) => a + b, 0);\n', '\nconsole.log(total);\n'],
      [
        '/* computes what is due */\nclass Due { rows = []; add(r) { this.rows.push(r); } }\n',
        '\n// the end',
      ],
    ],
  },
  {
    detector: 'shell_code',
    pieces: SHELL_PIECES,
    fence: 'bash',
    around: [
      ['', ''],
      ['#!/bin/bash\nset -euo pipefail\ncd build\n', '\necho done\n'],
      ['# the nightly job\nif [ -d build ]; then ls build; fi\n', '\n# the end'],
    ],
  },
  {
    detector: 'sql_code',
    pieces: SQL_PIECES,
    fence: 'sql',
    around: [
      ['', ''],
      ['-- what the report needs\n', ''],
      ['/* nightly */\n', '\n'],
    ],
  },
];

/** A letter stands for one filling in all of a piece. */
function partsOf(template: string): readonly Part[] {
  const chosen = new Map(Object.entries(FILLINGS).map(([key, fillings]) => [key, chance.one(fillings)]));
  const filled = template.replace(/\{([vuftn])\}/g, (_, key: string) => chosen.get(key) ?? '');
  return filled.split(/[⟦⟧]/).map((piece, index) => (index % 2 === 0 ? piece : wanted('construct', piece)));
}

function textsOf({ around, fence }: Surroundings, template: string, note: string): readonly Labelled[] {
  const [before, after] = chance.one(PROSE);
  const plain = around.map(([head, tail]) => labelled(note, head, ...partsOf(template), tail));
  const fenced = labelled(
    `${note}, in Markdown`,
    `${before}\n\n\`\`\`${fence}\n`,
    ...partsOf(template),
    `\n\`\`\`\n\n${after}\n`,
  );
  return [...plain, fenced];
}

for (const language of LANGUAGES) {
  const groups = language.pieces.map(([note, template]) => textsOf(language, template, note));
  writeLabelled(language.detector, chance.shuffled(groups));
}
