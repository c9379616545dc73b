/**
 * Which program of installed npm packages a launcher means: in `node_modules` beside the configuration, or in a folder
 * that `cordon apps install` has filled.
 */
import { closeSync, constants, existsSync, fstatSync, openSync, readSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type Fault, isJsonObject, type JsonObject, ok, parseJson, type Result } from '@cordon/core';
import { isWithin } from '../spec/spec.ts';
import { type PackageCall, refused, type WantedPackage } from './package-launcher.ts';

/** Real path of the program's script, found in `node_modules` of `folder` or a folder above it; null: no such package. */
export function installedBin(call: PackageCall, folder: string): Result<string | null, Fault> {
  const found: FoundPackage[] = [];
  for (const wanted of call.packages) {
    const at = findPackage(wanted.name, folder);
    if (at === null) return ok(null);
    const described = readPackage(at);
    if (described === null) return refused(`the package \`${wanted.name}\` has no readable package.json`);
    if (wanted.version !== null && described.version !== wanted.version)
      return refused(
        `the package \`${wanted.name}\` is installed as ${String(described.version)}, not ${wanted.version}`,
        `run \`npm install ${wanted.spec}\` in \`${folder}\``,
      );
    found.push({ wanted, described, folder: at });
  }
  return binOf(call, found);
}

/** The same in a separate folder, whose `node_modules` holds the packages and whose versions were fixed before. */
export function binInFolder(call: PackageCall, folder: string): Result<string, Fault> {
  const found: FoundPackage[] = [];
  for (const wanted of call.packages) {
    const at = join(folder, 'node_modules', wanted.name);
    const described = readPackage(at);
    if (described === null) return refused(`the package \`${wanted.name}\` has no readable package.json`);
    found.push({ wanted, described, folder: at });
  }
  return binOf(call, found);
}

interface FoundPackage {
  readonly wanted: WantedPackage;
  readonly described: JsonObject;
  readonly folder: string;
}

function binOf(call: PackageCall, packages: readonly FoundPackage[]): Result<string, Fault> {
  for (const { wanted, described, folder } of call.bin === null ? packages.slice(0, 1) : packages) {
    const path = binPath(
      described.bin,
      call.bin ?? wanted.name.replace(/^@[^/]*\//, ''),
      wanted.name,
      call.bin === null,
    );
    if (path !== null) return checkedBin(wanted.name, folder, path);
  }
  const names = packages.map(({ wanted }) => `\`${wanted.name}\``).join(', ');
  return refused(`the package ${names} has no program of that name`);
}

function checkedBin(name: string, folder: string, path: string): Result<string, Fault> {
  const script = resolve(folder, path);
  if (!isWithin(script, folder) || !existsSync(script))
    return refused(`the program of the package \`${name}\` is missing`, 'install the package again');
  if (!isNodeScript(script))
    return refused(
      `the program of the package \`${name}\` is not a Node script`,
      'name its program as the command',
    );
  return ok(realpathSync(script));
}

/** npx's own choice: the program with the package's name, else the only one. A text stands for the package's name. */
function binPath(
  bin: JsonObject[string] | undefined,
  name: string,
  packageName: string,
  orOnly: boolean,
): string | null {
  if (typeof bin === 'string') return orOnly || packageName.replace(/^@[^/]*\//, '') === name ? bin : null;
  if (!isJsonObject(bin)) return null;
  const paths = new Map(Object.entries(bin));
  const path = paths.get(name) ?? (orOnly && paths.size === 1 ? [...paths.values()][0] : null);
  return typeof path === 'string' ? path : null;
}

function isNodeScript(path: string): boolean {
  const text = beginningOf(path, 256);
  if (text === null) return false;
  const [first = ''] = text.split('\n', 1);
  return first.startsWith('#!') ? /\bnode\b/.test(first) : /\.[cm]?[jt]s$/.test(path);
}

/** The folder of an installed package, as Node's resolution finds it from `folder`; null if there is none. */
export function findPackage(name: string, folder: string): string | null {
  for (let at = folder; ; at = dirname(at)) {
    const candidate = join(at, 'node_modules', name);
    if (existsSync(join(candidate, 'package.json'))) return candidate;
    if (dirname(at) === at) return null;
  }
}

/** The package.json in `folder`; null if it is missing, too large or no object. */
export function readPackage(folder: string): JsonObject | null {
  const text = beginningOf(join(folder, 'package.json'), LONGEST_PACKAGE_JSON + 1);
  const parsed = text === null || text.length > LONGEST_PACKAGE_JSON ? null : parseJson(text);
  return parsed?.ok === true && isJsonObject(parsed.value) ? parsed.value : null;
}

/** Characters; the largest of real packages have a few hundred thousand. */
const LONGEST_PACKAGE_JSON = 1024 * 1024;

/**
 * At most so many bytes, as text; null where there is no plain file. Attack: a package whose file is a pipe that nobody
 * writes to, or a link to a device that never ends, stops the hub.
 */
function beginningOf(path: string, most: number): string | null {
  let descriptor: number | null = null;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return null;
    const bytes = Buffer.alloc(Math.min(most, stats.size));
    return bytes.toString('utf8', 0, readSync(descriptor, bytes));
  } catch {
    return null;
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}
