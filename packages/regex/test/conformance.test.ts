/** Runs what Python's `re` was seen to find (`conformance/regex`) against the engines. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { BudgetedMatcher } from '../src/budgeted.ts';
import { compilePattern, type Pattern } from '../src/index.ts';
import { LinearMatcher } from '../src/linear.ts';
import { compileProgram } from '../src/program.ts';
import { parsePattern } from '../src/python-syntax.ts';

type Engine = Pick<Pattern, 'startsWith' | 'findAll'>;

interface Case {
  readonly pattern: string;
  readonly dotAll?: boolean;
  readonly isRefused?: boolean;
  readonly texts?: readonly (readonly [string, boolean, readonly (readonly [number, number])[]])[];
}

const FOLDER = new URL('../../../conformance/regex/', import.meta.url);

for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.json'))) {
  const { title, cases }: { title: string; cases: readonly Case[] } = JSON.parse(
    readFileSync(new URL(file, FOLDER), 'utf8'),
  );
  test(`${file}: ${title} (${cases.length} patterns)`, () => {
    for (const one of cases) run(one);
  });
}

function run({ pattern, dotAll = false, isRefused = false, texts = [] }: Case): void {
  const shown = JSON.stringify({ pattern, dotAll });
  const compiled = compilePattern(pattern, { dotAll });
  assert.equal(!compiled.ok, isRefused, compiled.ok ? shown : `${shown}: ${compiled.fault}`);
  for (const [name, engine] of isRefused ? [] : enginesOf(pattern, dotAll)) {
    for (const [text, starts, spans] of texts) {
      const matches = engine.findAll(text);
      const found = {
        starts: engine.startsWith(text),
        spans:
          matches === 'exhausted'
            ? matches
            : matches.map(({ start, end }) => [codePoints(text, start), codePoints(text, end)]),
      };
      assert.deepEqual(found, { starts, spans }, `${name}: ${shown} in ${JSON.stringify(text)}`);
    }
  }
}

/** What rules get, and each engine that can run the pattern, without what is looked at before an engine runs. */
function enginesOf(pattern: string, dotAll: boolean): readonly [string, Engine][] {
  const compiled = compilePattern(pattern, { dotAll });
  const tree = parsePattern(pattern, dotAll);
  assert.ok(compiled.ok && tree.ok);
  const engines: [string, Engine][] = [
    ['compiled', compiled.value],
    ['budgeted', new BudgetedMatcher(tree.value)],
  ];
  if (!tree.value.needsBudget) {
    const program = compileProgram(tree.value.root);
    assert.ok(program.ok);
    engines.push(['linear', new LinearMatcher(program.value, false)]);
  }
  return engines;
}

/** How many there are before an offset. */
function codePoints(text: string, offset: number): number {
  return Array.from(text.slice(0, offset)).length;
}
