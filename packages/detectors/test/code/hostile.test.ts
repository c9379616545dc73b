import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Construct } from '../../src/code/construct.ts';
import { javascriptCode } from '../../src/code/javascript/javascript.ts';
import { pythonCode } from '../../src/code/python/python.ts';
import { shellCode } from '../../src/code/shell/shell.ts';
import { sqlCode } from '../../src/code/sql/sql.ts';
import { growingFast, tried } from '../growth.ts';
import '../../../../tools/seed.ts';

type Reader = (text: string) => {
  readonly constructs: readonly Construct[];
  readonly syntaxError: string | null;
};

/** Beginnings and pieces, whose repetition is deep or wide. */
const HOSTILE: readonly (readonly [string, Reader, readonly string[]])[] = [
  [
    'python',
    pythonCode,
    [
      '(',
      '[',
      '{',
      'a.',
      'a+',
      'eval(',
      'exec("',
      'getattr(a,',
      'a[',
      'x=os\n',
      'a=b=',
      'lambda:',
      'f"{',
      '"""',
    ]
      .concat([
        'if x:\n',
        'a if b else ',
        '@a\n',
        'from a import *\n',
        'x=[b for a in c ',
        'f(a=1,',
        'a.b().',
      ])
      .concat([
        'with (\n',
        'with (a)\n',
        'with (a as b, ',
        'with x as (a',
        'as a.a',
        'match ,:',
        'case ()',
        ', /',
        '@[\n',
        'yield ',
      ])
      .concat(['globals()[', '```\n', '!ls\n', 'not ', '"\\x', '\uD800', '\0', 'a or ', '# coding: x\n']),
  ],
  [
    'javascript',
    javascriptCode,
    [
      '(',
      '[',
      '{',
      'a.',
      'a+',
      'eval(',
      '`${',
      '/',
      '/*',
      '"',
      'a=>',
      '(a=',
      '{a:',
      'async ',
      'new ',
      'x?y:',
      'a=b;',
    ]
      .concat([
        'import("',
        'require("',
        'a[',
        '```\n',
        'if(a)',
        '/(?<a>',
        'const {a}=b;',
        'process[',
        '...',
        '({a}=',
      ])
      .concat(['\0', '<!--', '\uD800', '!', 'a??', 'x,']),
  ],
  [
    'shell',
    shellCode,
    [
      '$(',
      '`',
      'a|',
      'a;',
      '<<a ',
      '${a:-',
      '"$(',
      '{a,',
      '((',
      '[[ ',
      '<(',
      'if ',
      'case x in ',
      "'",
      '"',
      '\\',
    ]
      .concat([
        'f(){ ',
        'cat <<E\n',
        'a=b ',
        '$x ',
        '> a ',
        'find . -exec ',
        'xargs ',
        'sudo ',
        '\0',
        '```\n',
        '\\`',
      ])
      .concat(['echo a | base64 -d | sh;', "sh -c '", '#', '@(', '$((', '\uD800']),
  ],
  [
    'sql',
    sqlCode,
    [
      '(',
      'select ',
      "'",
      '"',
      '`',
      '[',
      '--',
      '/*',
      '$$',
      '$a$',
      'a,',
      'union select ',
      'or 1=1 ',
      '/*!',
      '*/',
      ';',
    ]
      .concat([
        '#',
        'a.',
        '1',
        '@',
        '\\',
        '\0',
        '(delete from t ',
        'update t set a=1 ',
        '/**/',
        "E'",
        '```sql\n',
        ':a',
      ])
      .concat(['\uD800', 'drop table x;', 'exec(']),
  ],
];

for (const [name, read, units] of HOSTILE) {
  test(`no ${name} makes the reader need more time than the text grows`, () => {
    const find = (text: string) => read(text).constructs;
    assert.deepEqual(growingFast(find, tried(units), 10), []);
  });

  test(`no text makes the reader of ${name} fail, and its findings lie in the text in order`, () => {
    const piece = fc.oneof(
      fc.constantFrom(...units),
      fc.string({ maxLength: 12 }),
      fc.string({ unit: 'binary' }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 16 }), (pieces) => {
        const text = pieces.join('');
        const { constructs, syntaxError } = read(text);
        const isSaid = constructs.some(({ kind }) => kind === 'UNPARSEABLE');
        assert.ok(syntaxError === null || isSaid, 'what does not parse is a finding');
        let last = 0;
        for (const { start, end, confidence } of constructs) {
          assert.ok(start >= last && start <= end && end <= text.length, `${start} ${end} ${text.length}`);
          assert.ok(confidence > 0 && confidence <= 1);
          last = start;
        }
      }),
      { numRuns: 150 },
    );
  });

  test(`${name} of more than a million characters is said not to parse`, () => {
    const { syntaxError, constructs } = read('a'.repeat(1_048_577));
    assert.notEqual(syntaxError, null);
    assert.deepEqual(
      constructs.map(({ kind }) => kind),
      ['UNPARSEABLE'],
    );
  });
}

test('a line of a megabyte is read', () => {
  const filling = 'x'.repeat(1_000_000);
  assert.equal(pythonCode(`a = "${filling}"; eval(a)`).constructs.length > 0, true);
  assert.equal(javascriptCode(`const a = "${filling}"; eval(b)`).constructs[0]?.kind, 'DYNAMIC_CODE');
  assert.equal(shellCode(`echo "${filling}"; rm a`).constructs[0]?.kind, 'FILE_DELETE');
  assert.equal(sqlCode(`SELECT '${filling}'; DROP TABLE a`).constructs[0]?.kind, 'DROP');
});
