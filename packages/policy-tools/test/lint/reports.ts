/** What the linter says about a policy, in the form that its tests compare. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadPolicy } from '@cordon/policy';
import { type LintOptions, lint } from '../../src/index.ts';

/** `CODE line: the text that is underlined`, in the order of the text. */
export function reports(policy: string, options: LintOptions = {}): readonly string[] {
  const loaded = loadPolicy(policy);
  assert.ok(loaded.ok, loaded.ok ? '' : JSON.stringify(loaded.fault));
  return lint(loaded.value, options).map(({ code, severity, range }) => {
    assert.equal(severity, 'warning');
    assert.ok(range !== undefined);
    const line = policy.split('\n')[range.line - 1] ?? '';
    const end = range.endLine === range.line ? range.endColumn - 1 : line.length;
    const more = range.endLine === range.line ? '' : ` … line ${range.endLine}`;
    return `${code} ${range.line}: ${line.slice(range.column - 1, end)}${more}`;
  });
}

export interface Pair {
  readonly name: string;
  readonly policy: string;
  readonly expected: readonly string[];
  /** Nearly the same, with nothing wrong. */
  readonly innocent: string;
}

/** Each problem with its place, and a twin of which nothing is said. */
export function testPairs(pairs: readonly Pair[], options: LintOptions = {}): void {
  for (const { name, policy, expected, innocent } of pairs) {
    test(name, () => {
      assert.deepEqual(reports(policy, options), expected);
      assert.deepEqual(reports(innocent, options), []);
    });
  }
}

/** A rule over one call, with these lines below it. */
export function aboutCall(...lines: readonly string[]): string {
  return rule('(c: ToolCall)', ...lines);
}

export function aboutMessage(...lines: readonly string[]): string {
  return rule('(m: Message)', ...lines);
}

export function rule(...lines: readonly string[]): string {
  return `raise "x" if:\n${lines.map((line) => `    ${line}\n`).join('')}`;
}
