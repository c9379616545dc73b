/**
 * The npm of this machine: a folder of JavaScript that our own Node runs inside the sandbox. Cordon brings none along.
 *
 * Whatever is found there can do no more than fetch files into a sandbox.
 */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { isJsonObject, parseJson } from '@cordon/core';

const USUAL_FOLDERS = ['/usr/local/bin', '/usr/bin', '/opt/homebrew/bin'];

/** `path`: the user's PATH. The real folder of the package `npm`; null: none was found. */
export function findNpm(path: string): string | null {
  const named = path.split(delimiter).filter((folder) => isAbsolute(folder) && !isOfProject(folder));
  const folders = [...named, ...USUAL_FOLDERS];
  for (const folder of folders) {
    const found = npmBehind(join(folder, 'npm')) ?? npmAt(join(folder, '../lib/node_modules/npm'));
    if (found !== null) return found;
  }
  return npmAt('/usr/share/nodejs/npm');
}

/** Attack: npm puts the programs of the current folder first into PATH, where `npx cordon` is called; one of them is named npm. */
function isOfProject(folder: string): boolean {
  return /(?:^|\/)node_modules\/\.bin\/?$/.test(folder);
}

/** The command is mostly a link into its package; a version manager may put its own script there. */
function npmBehind(command: string): string | null {
  if (!existsSync(command)) return null;
  for (let folder = dirname(realpathSync(command)); folder !== dirname(folder); folder = dirname(folder)) {
    const found = npmAt(folder);
    if (found !== null) return found;
  }
  return null;
}

function npmAt(folder: string): string | null {
  try {
    const described = parseJson(readFileSync(join(folder, 'package.json'), 'utf8'));
    const isNpm = described.ok && isJsonObject(described.value) && described.value.name === 'npm';
    return isNpm && existsSync(join(folder, 'bin/npm-cli.js')) ? realpathSync(folder) : null;
  } catch {
    return null;
  }
}
