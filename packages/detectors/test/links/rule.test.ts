import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadPolicy } from '@cordon/policy';
import { analyze } from '@cordon/policy-tools';
import { standardDetectors } from '../../src/library/standard-library.ts';

function violations(line: string, trace: unknown): number {
  const text = `from invariant.parsers import html_code, links\nraise "x" if:\n    (e: ToolCall)\n    ${line}\n`;
  const policy = loadPolicy(text, { detectors: standardDetectors() });
  assert.ok(policy.ok, JSON.stringify(policy.ok ? null : policy.fault));
  const analysis = analyze(policy.value, trace);
  assert.ok(analysis.ok);
  assert.deepEqual(analysis.value.undecided, []);
  return analysis.value.errors.length;
}

function callWith(text: string): unknown {
  return [{ id: '1', type: 'function', function: { name: 'f', arguments: { page: [text] } } }];
}

test('html_code and links of a call read the texts of its arguments', () => {
  const page = callWith('<img alt="A cat"> <a href="https://a.example/">x</a>');
  assert.equal(violations('"https://a.example/" in html_code(e).links', page), 1);
  assert.equal(violations('html_code(e).alt_texts == ["A cat"]', page), 1);
  assert.equal(violations('links(e) == ["https://a.example/"]', page), 1);
  assert.equal(violations('any(links(e)) or any(html_code(e).links)', callWith('no page')), 0);
});
