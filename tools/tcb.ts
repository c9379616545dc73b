/**
 * The trusted computing base, counted: code lines (no blanks, no comments) of every file of every package whose
 * `package.json` says ring 0. `npm run tcb` prints it; docs/tcb.md quotes it.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, sourceFiles } from './imports.ts';
import { packageNames } from './topology.ts';
export interface TrustedPackage {
  readonly name: string;
  readonly files: number;
  readonly lines: number;
}

export function trustedPackages(): readonly TrustedPackage[] {
  return packageNames()
    .filter((name) => ringOf(name) === 0)
    .map((name) => {
      const files = sourceFiles(`packages/${name}/src`);
      return { name, files: files.length, lines: files.reduce((sum, file) => sum + codeLines(file.text), 0) };
    });
}

/** 0: trusted. 1: may fail or be fooled. 2: hostile. */
export function ringOf(name: string): unknown {
  const manifest: { ring?: unknown } = JSON.parse(
    readFileSync(join(ROOT, 'packages', name, 'package.json'), 'utf8'),
  );
  return manifest.ring;
}

function codeLines(text: string): number {
  const plain = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
  return plain.split('\n').filter((line) => line.trim() !== '').length;
}

if (import.meta.main) {
  const packages = trustedPackages();
  const sum = (of: (one: TrustedPackage) => number) => packages.reduce((all, one) => all + of(one), 0);
  for (const { name, files, lines } of [
    ...packages,
    { name: 'all', files: sum((one) => one.files), lines: sum((one) => one.lines) },
  ])
    console.log(`${name.padEnd(16)} ${String(files).padStart(3)} files ${String(lines).padStart(6)} lines`);
}
