/**
 * `npx [-y] package args`: which installed program that means. Nothing is ever fetched: an app that is started
 * must not decide what code it is.
 *
 * Ring 0.
 */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import {
  type Fault,
  failed,
  fault,
  isJsonObject,
  type JsonObject,
  ok,
  parseJson,
  type Result,
} from '@cordon/core';
import { isWithin } from './spec.ts';

export interface NpxCall {
  /** Name of the package, with its scope. */
  readonly name: string;
  /** Exact version, if one was asked for; ranges and tags ask for what is installed. */
  readonly version: string | null;
  /** Name of the program in the package; null: the one that npx would choose. */
  readonly bin: string | null;
  readonly args: readonly string[];
}

function refused(message: string, help?: string) {
  return failed(fault('app-unavailable', message, help));
}

/** Understands `-y`, `--yes`, `-q`, `--quiet`, `-p`/`--package`, `--`; any other option is refused. */
export function parseNpx(args: readonly string[]): Result<NpxCall, Fault> {
  let wanted: string | null = null;
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? '';
    if (['-y', '--yes', '-q', '--quiet', '--'].includes(arg)) continue;
    if (arg === '-p' || arg === '--package') wanted = args[++at] ?? '';
    else if (arg.startsWith('--package=')) wanted = arg.slice('--package='.length);
    else if (arg.startsWith('-')) return refused(`\`npx ${arg}\` is not understood`);
    else return callOf(wanted ?? arg, wanted === null ? null : arg, args.slice(at + 1));
  }
  return wanted === null ? refused('`npx` names no package') : callOf(wanted, null, []);
}

const PACKAGE = /^((?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*)(?:@(.+))?$/i;

function callOf(spec: string, bin: string | null, args: readonly string[]): Result<NpxCall, Fault> {
  const [, name, version] = PACKAGE.exec(spec) ?? [];
  if (name === undefined) return refused(`\`${spec}\` is not the name of a package`);
  const exact = version !== undefined && /^\d+\.\d+\.\d+[\w.+-]*$/.test(version) ? version : null;
  return ok({ name, version: exact, bin, args });
}

/** Real path of the program's script, found in `node_modules` of `folder` or a folder above it. */
export function installedBin(call: NpxCall, folder: string): Result<string, Fault> {
  const found = findPackage(call.name, folder);
  if (found === null)
    return refused(
      `the package \`${call.name}\` is not installed`,
      `run \`npm install ${call.name}\` in \`${folder}\`; apps are never fetched while they start`,
    );
  const described = readPackage(found);
  if (described === null) return refused(`the package \`${call.name}\` has no readable package.json`);
  if (call.version !== null && described.version !== call.version)
    return refused(
      `the package \`${call.name}\` is installed as ${String(described.version)}, not ${call.version}`,
      `run \`npm install ${call.name}@${call.version}\` in \`${folder}\``,
    );
  return binOf(call, described, found);
}

function binOf(call: NpxCall, described: JsonObject, folder: string): Result<string, Fault> {
  const path = binPath(described.bin, call.bin ?? call.name.replace(/^@[^/]*\//, ''), call.bin === null);
  if (path === null) return refused(`the package \`${call.name}\` has no program of that name`);
  const script = resolve(folder, path);
  if (!isWithin(script, folder) || !existsSync(script))
    return refused(
      `the program of the package \`${call.name}\` is missing`,
      `run \`npm install ${call.name}\` again`,
    );
  if (!isNodeScript(script))
    return refused(
      `the program of the package \`${call.name}\` is not a Node script`,
      'name its program as the command',
    );
  return ok(realpathSync(script));
}

/** npx's own choice: the program with the package's name, else the only one. */
function binPath(bin: JsonObject[string] | undefined, name: string, orOnly: boolean): string | null {
  if (typeof bin === 'string') return bin;
  if (!isJsonObject(bin)) return null;
  const paths = new Map(Object.entries(bin));
  const path = paths.get(name) ?? (orOnly && paths.size === 1 ? [...paths.values()][0] : null);
  return typeof path === 'string' ? path : null;
}

function isNodeScript(path: string): boolean {
  const [first = ''] = readFileSync(path, 'utf8').split('\n', 1);
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
  try {
    const parsed = parseJson(readFileSync(join(folder, 'package.json'), 'utf8'));
    return parsed.ok && isJsonObject(parsed.value) ? parsed.value : null;
  } catch {
    return null;
  }
}
