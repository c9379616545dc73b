/**
 * One digest for a folder of code: every file with its path, content and whether it can be executed. Links and special
 * files are refused, so what was digested is all that there is.
 *
 * Ring 0.
 */
import { hash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { type Fault, failed, fault, ok, type Result } from '@cordon/core';

export interface TreeDigest {
  /** SHA-256, 64 hexadecimal digits. */
  readonly digest: string;
  /** Paths of all files, `/` between names, sorted. */
  readonly files: readonly string[];
  readonly bytes: number;
}

/** Of an installed tree, also of what an install step may write. */
export const TREE_LIMITS = { files: 60_000, bytes: 1024 * 1024 * 1024, depth: 48 } as const;

class Refusal extends Error {}

/** `folder`: a path that leads to exactly the folder that is meant, best one of an open descriptor. Never throws. */
export function digestTree(folder: string): Result<TreeDigest, Fault> {
  const lines = new Map<string, string>();
  const total = { bytes: 0 };
  try {
    digestFolder(folder, '', 0, lines, total);
  } catch (error) {
    const why = error instanceof Refusal ? error.message : 'it cannot be read';
    return failed(fault('app-unavailable', `the installed package is not accepted: ${why}`));
  }
  const files = [...lines.keys()].sort();
  const text = files.map((path) => `${lines.get(path)} ${JSON.stringify(path)}\n`).join('');
  return ok({ digest: hash('sha256', `cordon-tree-1\n${text}`), files, bytes: total.bytes });
}

function digestFolder(
  folder: string,
  prefix: string,
  depth: number,
  lines: Map<string, string>,
  total: { bytes: number },
): void {
  if (depth > TREE_LIMITS.depth) throw new Refusal('its folders are nested too deep');
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = `${prefix}${entry.name}`;
    if (entry.isDirectory()) digestFolder(`${folder}/${entry.name}`, `${path}/`, depth + 1, lines, total);
    else if (entry.isFile()) lines.set(path, digestFile(`${folder}/${entry.name}`, total));
    else throw new Refusal(`\`${path.slice(0, 200)}\` is a link or no file`);
    if (lines.size > TREE_LIMITS.files) throw new Refusal(`it has more than ${TREE_LIMITS.files} files`);
  }
}

function digestFile(path: string, total: { bytes: number }): string {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw new Refusal('a file became something else');
    total.bytes += stats.size;
    if (total.bytes > TREE_LIMITS.bytes) throw new Refusal('it is too large');
    const content = readFileSync(descriptor);
    return `${(stats.mode & 0o111) === 0 ? '-' : 'x'} ${content.length} ${hash('sha256', content)}`;
  } finally {
    closeSync(descriptor);
  }
}
