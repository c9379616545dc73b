import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExceededLimit } from '@cordon/sandbox';
import { RunReport } from '../../src/commands/run/run-report.ts';

const ENDED = { cause: 'limit', code: null, signal: 'SIGKILL', message: 'it went too far' } as const;

function told(limit: ExceededLimit, wantsJson = false): string {
  let text = '';
  new RunReport(wantsJson, (line) => {
    text += line;
  }).ended({ ...ENDED, limit });
  return text;
}

test('a limit of the manifest is named, so that the user raises that one', () => {
  for (const limit of [
    'memoryMiB',
    'cpuSeconds',
    'processes',
    'openFiles',
    'fileMiB',
    'storageMiB',
    'files',
  ] as const)
    assert.equal(
      told(limit),
      `cordon: the command was ended: it went too far; help: raise \`limits.${limit}\` in the manifest\n`,
    );
});

test('where no limit of the manifest helps, nobody is sent to raise one', () => {
  for (const limit of ['nesting', 'locks', 'unreadable', 'unwatched'] as const) {
    assert.match(told(limit), /help: `limits` cannot raise this: \w/);
    assert.doesNotMatch(told(limit), /help: raise/);
  }
});

test('programs read which limit it was', () => {
  assert.deepEqual(JSON.parse(told('nesting', true)), { kind: 'run.ended', ...ENDED, limit: 'nesting' });
});
