/** Files and folders that the arguments and variables of an app name. */
import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { absolutePath, covers, realPath } from '@cordon/config/reading';

export interface PathPlace {
  readonly folder: string;
  readonly home: string;
}

export interface NamedPath {
  /** As it is written. */
  readonly text: string;
  readonly path: string;
  /** An argument, or the variable. */
  readonly where: string;
  readonly access: 'read' | 'write';
  readonly state: 'exists' | 'missing' | 'too-wide';
}

const WRITTEN =
  /(?:^|[_-])(?:db|database|data|store|storage|cache|out|output|memory|log|logs|state|download|downloads)(?:[_-]|$)/i;
const PATH_VARIABLE = /(?:PATH|FILE|DIR|DIRECTORY|FOLDER|ROOT|DB|DATABASE|HOME)$/;
const SCRIPT = /\.(?:[cm]?[jt]s|py|sh|jar)$/;

/** Paths in arguments; `access`: as is known of the package; null: not known. */
export function pathsInArguments(
  args: readonly string[],
  { isPackage, access }: { readonly isPackage: boolean; readonly access: 'read' | 'write' | null },
  place: PathPlace,
): readonly NamedPath[] {
  return args.flatMap((arg, at) => {
    const [, option = '', text = arg] = /^(--?[\w-]+)=(.*)$/s.exec(arg) ?? [];
    if (!isPath(text)) return [];
    // The program itself, which the sandbox gives the app in any case.
    if (!isPackage && SCRIPT.test(text)) return [];
    const before = args[at - 1] ?? '';
    const name = option || (before.startsWith('--') ? before : '');
    return [named(text, 'an argument', access ?? (WRITTEN.test(name) ? 'write' : 'read'), place)];
  });
}

/** Paths in variables. */
export function pathsInVariables(
  env: Readonly<Record<string, string>>,
  place: PathPlace,
): readonly NamedPath[] {
  return Object.entries(env).flatMap(([key, value]) =>
    PATH_VARIABLE.test(key) && isPath(value) && key !== 'PATH'
      ? [named(value, key, WRITTEN.test(key) ? 'write' : 'read', place)]
      : [],
  );
}

function isPath(text: string): boolean {
  return /^(?:\/[^/]|\/$|~(?:\/|$)|\.{1,2}(?:\/|$))/.test(text) && !/[\n$*?]/.test(text);
}

function named(text: string, where: string, access: NamedPath['access'], place: PathPlace): NamedPath {
  const path = absolutePath(text, place.folder, place.home);
  return { text, path, where, access, state: stateOf(path, place.home) };
}

function stateOf(path: string, home: string): NamedPath['state'] {
  if (covers(realPath(path), realPath(home))) return 'too-wide';
  return existsSync(path) ? 'exists' : 'missing';
}

/** A file that is not there yet, in a folder that is not either: an example of a README. */
export function isInventedFile(path: string): boolean {
  return !existsSync(path) && !existsSync(dirname(path)) && basename(path).includes('.');
}
