/**
 * Which code is measured: a digest of all sources that a result can depend on, and one of the policies alone. A version
 * number would not do, because it stays the same while the code is worked on.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { CODE_ROOT } from '../../places.ts';

/** Without tests, documentation, data and results: those change nothing that is measured, or are told apart. */
const SOURCES = ['packages', 'bench', 'policies', 'examples', 'attacks', 'testkit'];
const LEFT_OUT = new Set(['node_modules', 'test', 'data', 'results', 'documentation']);
const IS_SOURCE = /(?<!\.test)\.(?:ts|mjs|js|json|gr|c)$/;

export interface CodeVersion {
  /** Hexadecimal, shortened. */
  readonly code: string;
  readonly policy: string;
}

export function codeVersion(): CodeVersion {
  return { code: digestOf(SOURCES), policy: digestOf(['policies']) };
}

function digestOf(folders: readonly string[]): string {
  const hash = createHash('sha256');
  for (const folder of folders)
    for (const file of sourcesBelow(join(CODE_ROOT, folder)))
      hash
        .update(`${relative(CODE_ROOT, file)}\0`)
        .update(readFileSync(file))
        .update('\0');
  return hash.digest('hex').slice(0, 16);
}

function sourcesBelow(folder: string): readonly string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return LEFT_OUT.has(entry.name) ? [] : sourcesBelow(path);
    return entry.isFile() && IS_SOURCE.test(entry.name) ? [path] : [];
  });
}
