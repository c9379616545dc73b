/**
 * Which folders of code an app's script needs to see: its own package, the `node_modules` folders in which Node
 * looks for its dependencies, and the real folders behind workspace links among these. All read-only, at the same
 * path as on the host, because links between them are resolved by path.
 */
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { type Fault, failed, fault, isJsonObject, ok, type Result } from '@cordon/core';
import { checkPath } from '../spec/checked-path.ts';
import { isWithin, type Mount } from '../spec/spec.ts';
import { findPackage, readPackage } from './npx.ts';

export interface CodeFence {
  /** No part of it is ever mounted, and nothing that holds it. */
  readonly never: string;
  /** Never mounted as a whole, nor a folder that holds one of them: the configuration's folder, the user's home. */
  readonly notWhole: readonly string[];
}

const PACKAGE_FILES = ['package.json', 'pyproject.toml'];

/** `script`: real path of a file. Refused when it lies in a folder that no app may see. */
export function codeMounts(script: string, fence: CodeFence): Result<readonly Mount[], Fault> {
  if (isWithin(script, fence.never))
    return failed(fault('app-unavailable', `the script \`${script}\` lies in Cordon's own data folder`));
  const folders = [...ownCode(script, fence), ...dependencies(script, fence)];
  const outermost = folders.filter(
    (path) => !folders.some((other) => other !== path && isWithin(path, other)),
  );
  const mounts: Mount[] = [];
  for (const path of new Set(outermost)) {
    const host = checkPath(path);
    if (!host.ok) return host;
    mounts.push({ host: host.value, inside: path, access: 'read' });
  }
  return ok(mounts);
}

/**
 * The package that holds the script. Where that is a folder which must not be shown as a whole (a script in the
 * middle of the user's project, or of their home), only the part of it that the script stands in.
 */
function ownCode(script: string, fence: CodeFence): readonly string[] {
  const root = nearestPackage(script);
  if (root === null) return isShowable(dirname(script), fence) ? [dirname(script)] : [script];
  if (isShowable(root, fence)) return [root];
  const [part = ''] = relative(root, script).split(sep);
  const shown = join(root, part);
  const files = PACKAGE_FILES.map((name) => join(root, name)).filter((path) => existsSync(path));
  return [...files, isShowable(shown, fence) ? shown : script];
}

function nearestPackage(script: string): string | null {
  for (let folder = dirname(script); folder !== dirname(folder); folder = dirname(folder)) {
    if (folder.endsWith(`${sep}node_modules`)) return null;
    if (PACKAGE_FILES.some((name) => existsSync(join(folder, name)))) return folder;
  }
  return null;
}

function isShowable(folder: string, { never, notWhole }: CodeFence): boolean {
  return (
    folder !== '/' &&
    ![never, ...notWhole].some((fenced) => isWithin(realOf(fenced), folder) || isWithin(fenced, folder))
  );
}

function realOf(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

/** `node_modules` of each folder above the script, and what their links to other packages lead to. */
function dependencies(script: string, fence: CodeFence): readonly string[] {
  const folders: string[] = [];
  for (let folder = dirname(script); folder !== dirname(folder); folder = dirname(folder)) {
    const modules = folder.endsWith(`${sep}node_modules`) ? folder : join(folder, 'node_modules');
    if (isFolder(modules) && !isWithin(modules, fence.never)) folders.push(modules);
  }
  const root = nearestPackage(script);
  return root === null || folders.length === 0
    ? folders
    : [...folders, ...linkedPackages(root, folders, fence)];
}

function isFolder(path: string): boolean {
  try {
    readdirSync(path);
    return true;
  } catch {
    return false;
  }
}

/**
 * Packages that `node_modules` holds as links to elsewhere (workspaces, `npm link`), followed from what the
 * app's package.json names: a workspace's other packages are none of the app's business.
 */
function linkedPackages(root: string, visible: readonly string[], fence: CodeFence): readonly string[] {
  const linked = new Set<string>();
  const open = [root];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const name of dependencyNames(at)) {
      const found = findPackage(name, at);
      if (found === null) continue;
      const real = realpathSync(found);
      if (linked.has(real) || visible.some((folder) => isWithin(real, folder)) || !isShowable(real, fence))
        continue;
      linked.add(real);
      open.push(real);
    }
  }
  return [...linked];
}

function dependencyNames(folder: string): readonly string[] {
  const described = readPackage(folder);
  return ['dependencies', 'optionalDependencies', 'peerDependencies'].flatMap((field) => {
    const entries = described?.[field];
    return isJsonObject(entries) ? Object.keys(entries) : [];
  });
}
