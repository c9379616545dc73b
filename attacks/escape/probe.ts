/**
 * The probe that makes system calls: compiled from `probe.c` where there is a compiler, else the same in Python,
 * else none, and attempts that need it are not run.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';

export type Probe =
  | { readonly kind: 'compiled' | 'python'; readonly file: string }
  | { readonly kind: 'none' };

const COMPILERS = ['/usr/bin/cc', '/usr/bin/gcc', '/usr/bin/clang', '/usr/local/bin/cc'];
export const PYTHON = '/usr/bin/python3';

/** Puts the probe into `folder`. Static, so that it runs where no library is visible. */
export function makeProbe(folder: string): Probe {
  const source = join(import.meta.dirname, 'probe.c');
  const file = join(folder, 'probe');
  for (const compiler of COMPILERS.filter((path) => existsSync(path)))
    if (spawnSync(compiler, ['-static', '-O1', '-o', file, source], { stdio: 'ignore' }).status === 0) {
      chmodSync(file, 0o755);
      return { kind: 'compiled', file };
    }
  if (!existsSync(PYTHON)) return { kind: 'none' };
  const script = join(folder, 'probe.py');
  copyFileSync(join(import.meta.dirname, 'probe.py'), script);
  return { kind: 'python', file: script };
}
