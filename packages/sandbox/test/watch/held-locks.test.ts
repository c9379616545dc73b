/** Whose a lock is, as the watching thread sees it. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { areMapped } from '../../src/watch/held-locks.ts';
import { folder } from '../confined.ts';

const ORDINARY = 61_234;
/** No pid is so high. */
const ENDED = 2 ** 22 + 1;

/** How many locks of a process an ordinary user looks for in the open files of each sandbox. */
function lookedFor(owner: number): string {
  const code = `import { lockTable } from ${JSON.stringify(join(import.meta.dirname, '../../src/watch/held-locks.ts'))};
    console.log(String(lockTable('1: FLOCK  ADVISORY  WRITE ${owner} fe:00:17 0 EOF\\n').ofNobody.length))`;
  const identity = process.getuid?.() === 0 ? { uid: ORDINARY, gid: ORDINARY } : {};
  const args = ['--no-warnings', '--input-type=module', '-e', code];
  return execFileSync(process.execPath, args, { ...identity, encoding: 'utf8' }).trim();
}

test('a lock of another user costs no look through the open files of a sandbox', () => {
  assert.equal(lookedFor(1), '0');
});

test('a lock whose owner has ended is looked for', () => {
  assert.equal(lookedFor(ENDED), '1');
});

const MAPPING = '7f0000000000-7f0000001000 r--p 00000000 fe:00 17                        /usr/lib/some\n';
/** How long the lists of mappings of two processes may be. */
const LISTS: readonly (readonly [what: string, lines: number, file: string, isHeld: boolean])[] = [
  ['a mapped file is found', 10, 'fe:00 17', true],
  ['a file that is not mapped is not found', 10, 'fe:00 1', false],
  ['what is too long to be looked through counts as a lock that is held', 60_000, 'fe:00 1', true],
];

for (const [what, lines, file, isHeld] of LISTS)
  test(`in lists of mappings, ${what}`, (context) => {
    const process = folder(context);
    writeFileSync(join(process, 'maps'), MAPPING.repeat(lines));
    assert.equal(areMapped([process, process], new Set([file])), isHeld);
  });
