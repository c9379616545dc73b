/** What no file of the repository may hold: traces of one machine, and loose ends. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from './imports.ts';

interface Finding {
  readonly what: string;
  readonly pattern: RegExp;
  readonly in: (path: string) => boolean;
}

const SELF = 'tools/repository.test.ts';
const isTest = (path: string) => /\.(test|property)\.ts$/.test(path);
const isOurs = (path: string) => path !== SELF && !path.startsWith('node_modules/');

/** `/home/me` and `/home/project` are examples; nobody is called so. */
const FORBIDDEN: readonly Finding[] = [
  {
    what: 'a path of one machine',
    pattern:
      /(?<![\w.$}-])\/(?:work|root|farm|Users\/\w+|home\/(?!(?:me|project|user|ada|someone)\b)[a-z][\w-]*)\//,
    in: isOurs,
  },
  {
    what: 'the address of a package registry',
    pattern:
      /(?<![\w.#])(?:registry\.(?!test\.ts)[a-z0-9-]+\.[a-z]+|[a-z0-9.-]*(?:artifactory|nexus|verdaccio|pkgs\.dev)[a-z0-9.-]*\.[a-z]+)/i,
    in: isOurs,
  },
  {
    what: 'an address in the lock file',
    pattern: /"resolved": "[a-z+]+:/,
    in: (path) => path === 'package-lock.json',
  },
  { what: 'something left to do', pattern: /\b(?:TODO|FIXME|XXX|HACK)\b/, in: isOurs },
  {
    what: 'a test that hides the others',
    pattern: /\b(?:test|it|describe|suite)\.only\(|\bonly:\s*true/,
    in: (path) => isOurs(path) && isTest(path),
  },
  {
    what: 'a test that is left out',
    pattern: /\b(?:test|it|describe|suite)\.(?:skip|todo)\(|\b(?:skip|todo):\s*(?:true|['"`])/,
    in: (path) => isOurs(path) && isTest(path),
  },
];

const TRACKED: readonly string[] = trackedFiles();

test('the tracked files are known', () => {
  assert.ok(TRACKED.length > 100);
});

for (const { what, pattern, in: applies } of FORBIDDEN) {
  test(`no file holds ${what}`, () => {
    const found = TRACKED.filter(applies).flatMap((path) =>
      linesOf(path).flatMap((line, index) =>
        pattern.test(line) ? [`${path}:${index + 1}: ${line.slice(0, 120)}`] : [],
      ),
    );
    assert.deepEqual(found, []);
  });
}

for (const [text, isFound] of [
  [['const root = "', 'work/main/packages";'].join('/'), true],
  ['cd /root/cordon', true],
  ['/home/somebody/notes', true],
  ['/home/me/notes', false],
  ['docs/work/notes', false],
  [['$', '{folder}', '/', 'work/notes'].join(''), false],
] as const) {
  test(`\`${text}\` is ${isFound ? '' : 'not '}a path of one machine`, () => {
    assert.equal(FORBIDDEN[0]?.pattern.test(text), isFound);
  });
}

function linesOf(path: string): readonly string[] {
  const text = readFileSync(join(ROOT, path), 'utf8');
  return text.includes('\0') ? [] : text.split('\n');
}

/** Files that were deleted but not yet committed are none. */
function trackedFiles(): readonly string[] {
  const listed = spawnSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' });
  return listed.stdout.split('\0').filter((path) => path !== '' && existsSync(join(ROOT, path)));
}
