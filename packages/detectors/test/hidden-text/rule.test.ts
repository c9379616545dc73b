import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadPolicy } from '@cordon/policy';
import { analyze } from '@cordon/policy-tools';
import { standardDetectors } from '../../src/library/standard-library.ts';

function ranges(line: string, trace: unknown): readonly string[] {
  const text = `from invariant.detectors import unicode\nraise "x" if:\n    (e: ${line}\n`;
  const policy = loadPolicy(text, { detectors: standardDetectors() });
  assert.ok(policy.ok, JSON.stringify(policy.ok ? null : policy.fault));
  const analysis = analyze(policy.value, trace);
  assert.ok(analysis.ok);
  return analysis.value.errors.flatMap((error) => error.ranges);
}

test('unicode marks each character for itself, in code points', () => {
  const trace = [{ role: 'user', content: 'é😀AB' }];
  assert.deepEqual(ranges('Message)\n    "Lu" in unicode(e.content)', trace), [
    '0',
    '0.content:0-1',
    '0.content:1-2',
    '0.content:2-3',
    '0.content:3-4',
  ]);
  assert.deepEqual(ranges('Message)\n    any(unicode(e, ["Lu"]))', trace), [
    '0',
    '0.content:2-3',
    '0.content:3-4',
  ]);
});

test('unicode marks neighbours of one category together where there are thousands', () => {
  const trace = [{ role: 'user', content: `${'a'.repeat(3000)}B` }];
  assert.deepEqual(ranges('Message)\n    any(unicode(e))', trace), [
    '0',
    '0.content:0-3000',
    '0.content:3000-3001',
  ]);
});

test('a category that Unicode does not have is refused, or leaves the rule undecided where it is computed', () => {
  const load = (categories: string) =>
    loadPolicy(
      `from invariant.detectors import unicode\nraise "x" if:\n    (m: Message)\n    any(unicode(m, ${categories}))\n`,
      { detectors: standardDetectors() },
    );
  const refused = load('["Cf", "Format"]');
  assert.deepEqual(refused.ok ? [] : refused.fault.map(({ code }) => code), ['POL025']);
  const computed = load('[m.content]');
  assert.ok(computed.ok);
  const reasons = (content: string) => {
    const analysis = analyze(computed.value, [{ role: 'user', content }]);
    return analysis.ok ? analysis.value.undecided.map(({ reason }) => reason) : null;
  };
  assert.deepEqual(reasons('Format'), ['there is no general category "Format"']);
  assert.deepEqual(reasons('Cf'), []);
});
