/**
 * Reads the real imports of the sources: what the repository's rules are checked against.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '..');

export interface SourceFile {
  /** Relative to the repository, with `/`. */
  readonly path: string;
  readonly text: string;
  /** Module specifiers, also of type-only and dynamic imports. */
  readonly imports: readonly string[];
}

export function sourceFiles(folder: string): readonly SourceFile[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter(
      (entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.parentPath.includes('node_modules'),
    )
    .map((entry) => read(join(entry.parentPath, entry.name)))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** `import … from 'x'`, `export … from 'x'`, `import 'x'`, `import('x')`. */
const IMPORT = /^(?:import|export)\s[^'"`;]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\(\s*'([^']+)'/gm;

function read(file: string): SourceFile {
  const text = readFileSync(file, 'utf8');
  const found = [...text.matchAll(IMPORT)].map((match) => match[1] ?? match[2] ?? match[3] ?? '');
  return { path: relative(ROOT, file), text, imports: found };
}

/** A relative specifier as a path of the repository; null for packages. */
export function localTarget(file: SourceFile, specifier: string): string | null {
  if (!specifier.startsWith('.')) return null;
  return relative(ROOT, resolve(ROOT, dirname(file.path), specifier));
}
