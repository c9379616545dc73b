/**
 * Finds the unit tests of policies: files that are named, and below folders every `NAME.test.json` with a `NAME.gr`
 * beside it, because other programs have files of such names, too.
 */
import { readdirSync, statSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { policyBeside, TEST_FILE_END } from './test-file.ts';

/** More than real folders have; a loop of mounts might have more. */
const MOST_FOLDERS = 20_000;

/** Paths in a steady order. A named file is taken whatever its name is; for a policy, the tests beside it. */
export function findTestFiles(named: readonly string[]): readonly string[] {
  const found = named.flatMap((path) => {
    if (isFolder(path)) return testsBelow(path);
    return [path.endsWith('.gr') ? `${path.slice(0, -'.gr'.length)}${TEST_FILE_END}` : path];
  });
  return [...new Set(found)];
}

function testsBelow(root: string): readonly string[] {
  const found: string[] = [];
  const folders = [root];
  for (let index = 0; index < Math.min(folders.length, MOST_FOLDERS); index++) {
    const folder = folders[index] ?? root;
    const entries = entriesOf(folder);
    const names = new Set(entries.map(({ name }) => name));
    for (const entry of entries) {
      const path = normalize(join(folder, entry.name));
      if (entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
        folders.push(path);
      const isTest = entry.isFile() && entry.name.endsWith(TEST_FILE_END);
      if (isTest && names.has(policyBeside(entry.name))) found.push(path);
    }
  }
  return found.sort();
}

/** A folder that may not be read holds no tests; links are not followed. */
function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
