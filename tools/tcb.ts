/**
 * The trusted computing base, counted: code lines (no blanks, no comments) of every file of a ring-0 package whose
 * header does not say `Ring 1`. `npm run tcb` prints it; docs/tcb.md quotes it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, type SourceFile, sourceFiles } from './imports.ts';

export interface TrustedPackage {
  readonly name: string;
  readonly files: number;
  readonly lines: number;
}

export function trustedPackages(): readonly TrustedPackage[] {
  return readdirSync(join(ROOT, 'packages'))
    .filter((name) => ring(name) === 0)
    .map((name) => {
      const files = sourceFiles(`packages/${name}/src`).filter(isTrusted);
      return { name, files: files.length, lines: files.reduce((sum, file) => sum + codeLines(file.text), 0) };
    });
}

function ring(name: string): unknown {
  const manifest: { ring?: unknown } = JSON.parse(
    readFileSync(join(ROOT, 'packages', name, 'package.json'), 'utf8'),
  );
  return manifest.ring;
}

/** The files of the command line that draw the consent question are listed by hand in docs/tcb.md. */
export function isTrusted(file: SourceFile): boolean {
  return !/^\s*\/\*\*(?:(?!\*\/)[\s\S])*Ring 1/.test(file.text);
}

function codeLines(text: string): number {
  const plain = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
  return plain.split('\n').filter((line) => line.trim() !== '').length;
}

if (import.meta.main) {
  const packages = trustedPackages();
  for (const { name, files, lines } of packages)
    console.log(`${name.padEnd(16)} ${String(files).padStart(3)} files ${String(lines).padStart(6)} lines`);
  console.log(
    `${'all'.padEnd(16)} ${' '.repeat(9)} ${String(packages.reduce((sum, { lines }) => sum + lines, 0)).padStart(6)} lines`,
  );
}
