import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseText } from '@cordon/policy';
import { careless, expressions, trees, withoutSpans } from '@cordon/testkit/policy/policy-trees.ts';
import fc from 'fast-check';
import { runs } from '../../../../tools/cases.ts';
import { SEED } from '../../../../tools/seed.ts';
import { format } from '../../src/print/formatter.ts';
import { print, printExpression } from '../../src/print/printer.ts';

const RUNS = runs(25, 50, 100);

/** The seed stands in the name, so that a failure can be repeated. */
function property(title: string, check: fc.IRawProperty<unknown>, runs = RUNS): void {
  test(`${title} (CORDON_SEED=${SEED})`, () => fc.assert(check, { numRuns: runs, seed: SEED }));
}

function read(text: string) {
  const { tree, diagnostics } = parseText(text);
  assert.equal(diagnostics.hasErrors(), false, `${JSON.stringify(diagnostics.all()[0])}\n${text}`);
  return tree;
}

property(
  'parse after print is the identity on trees',
  fc.property(trees, (tree) => {
    const text = print(tree);
    assert.equal(withoutSpans(read(text)), withoutSpans(tree), text);
  }),
);

property(
  'an expression that is printed alone reads back',
  fc.property(expressions, (expression) => {
    const text = printExpression(expression);
    const [definition] = read(`x := ${text}\n`).definitions;
    assert.equal(
      withoutSpans(definition?.body[0] ?? { kind: 'invalid', declared: [], mentioned: [], start: 0, end: 0 }),
      withoutSpans(expression),
    );
  }),
  RUNS * 10,
);

property(
  'print after parse is a fixed point, and so is format of it',
  fc.property(trees, (tree) => {
    const text = print(tree);
    assert.equal(print(read(text)), text);
    assert.deepEqual(format(text), { ok: true, value: text });
  }),
);

const texts = fc
  .tuple(trees, fc.array(fc.nat(1000), { minLength: 20, maxLength: 60 }))
  .map(([tree, choices]) => {
    return careless(print(tree), choices);
  });

function comments(text: string): readonly string[] {
  return text.match(/# ?(?:first|last|why|own line|behind|margin|deep|tight:)/g) ?? [];
}

property(
  'format keeps tree and comments, leaves no careless white space, and is idempotent',
  fc.property(texts, (text) => {
    const formatted = format(text);
    assert.ok(formatted.ok, `${JSON.stringify(formatted)}\n${text}`);
    assert.equal(withoutSpans(read(formatted.value)), withoutSpans(read(text)));
    assert.deepEqual(comments(formatted.value), comments(text));
    assert.deepEqual(format(formatted.value), formatted);
    assert.match(formatted.value, /^$|[^\n]\n$/);
  }),
);

property(
  'print of a text that was formatted is print of the text',
  fc.property(texts, (text) => {
    const formatted = format(text);
    assert.ok(formatted.ok);
    assert.equal(print(read(formatted.value)), print(read(text)));
  }),
);
