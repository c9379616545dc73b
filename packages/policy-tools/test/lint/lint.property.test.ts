/** Whatever a policy holds, the linter says something about places in it, or nothing, and never fails. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseText, Source } from '@cordon/policy';
import fc from 'fast-check';
import { lint, type ToolSchema } from '../../src/index.ts';
import '../../../../tools/seed.ts';
import { runs } from '../../../../tools/cases.ts';

const RUNS = runs(60, 150, 300);
const FOLDER = new URL('../../../../conformance/policy/', import.meta.url);

interface Cases {
  readonly cases?: readonly { readonly policy: readonly string[] }[];
}

/** Lines of rules of every construct. */
const LINES: readonly string[] = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.json'))
  .flatMap((name) => {
    const { cases = [] }: Cases = JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8'));
    return cases.flatMap(({ policy }) => policy);
  });

const LEAF = fc.record({ type: fc.constantFrom('string', 'integer', null) });

const SCHEMA = fc.letrec<{ schema: object }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    LEAF,
    fc.record(
      {
        type: fc.constantFrom('object', 'string', 'array', 'integer', 5, null),
        properties: fc.dictionary(
          fc.constantFrom('a', 'to', 'x', '__proto__', 'constructor'),
          tie('schema'),
          { maxKeys: 3 },
        ),
        enum: fc.constantFrom([], ['a'], [1, null], 'a'),
        anyOf: fc.array(tie('schema'), { maxLength: 2 }),
        $ref: fc.constantFrom('#', '#/$defs/a', '#/$defs/__proto__'),
        additionalProperties: fc.constantFrom(true, false, {}),
      },
      { requiredKeys: [] },
    ),
  ),
})).schema;

const TOOLS: fc.Arbitrary<readonly ToolSchema[]> = fc.array(
  fc.record({
    name: fc.constantFrom('f', 'g', 'send_mail', '', '*'),
    parameters: fc.option(SCHEMA.map((schema) => JSON.parse(JSON.stringify(schema)))),
  }),
  { maxLength: 3 },
);

function look(text: string, tools: readonly ToolSchema[]): void {
  // Also what does not load: a caller may have the tree of it.
  const { tree } = parseText(text);
  const lines = text.split('\n');
  for (const { range, message, help } of lint({ tree, source: new Source('a.gr', text) }, { tools })) {
    assert.ok(range !== undefined && range.line >= 1 && range.endLine <= lines.length, JSON.stringify(range));
    assert.ok(
      range.column >= 1 && range.column <= (lines[range.line - 1]?.length ?? 0) + 1,
      JSON.stringify(range),
    );
    assert.ok(range.endLine > range.line || range.endColumn >= range.column, JSON.stringify(range));
    assert.doesNotMatch(`${message}${help ?? ''}`, /\n|undefined|\[object/);
  }
}

const AT_MARGIN = LINES.filter((line) => /^\S/.test(line));
const IN_BLOCK = LINES.filter((line) => /^ {4}/.test(line));

/** Statements of the cases, each with lines below it that stand elsewhere there. */
const MIXED = fc
  .array(
    fc
      .tuple(
        fc.constantFrom('raise "x" if:', ...AT_MARGIN),
        fc.array(fc.constantFrom(...IN_BLOCK), { maxLength: 8 }),
      )
      .map(([statement, lines]) => [statement, ...lines].join('\n')),
    { maxLength: 5 },
  )
  .map((statements) => statements.join('\n'));

test('any lines of policies, in any order, are looked through', () => {
  fc.assert(
    fc.property(MIXED, TOOLS, (text, tools) => look(text, tools)),
    { numRuns: RUNS },
  );
});

test('damaged policies are, too', () => {
  const damaged = fc
    .tuple(
      fc.array(fc.constantFrom(...LINES), { minLength: 3, maxLength: 12 }),
      fc.nat(),
      fc.nat(9),
      fc.string(),
    )
    .map(([lines, at, length, text]) => {
      const whole = lines.join('\n');
      const place = at % (whole.length + 1);
      return whole.slice(0, place) + text + whole.slice(place + length);
    });
  fc.assert(
    fc.property(damaged, (text) => look(text, [])),
    { numRuns: RUNS },
  );
});

test('variables that range over each other are looked through', () => {
  look('raise "x" if:\n    (m: Message) in m.content', []);
  look('raise "x" if:\n    (a: Message) in b.content\n    (b: Message) in a.content\n', []);
});
