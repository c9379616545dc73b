/**
 * The modules of the user's predicates: each is a file in a separate folder, and its process sees nothing else of this machine.
 * All files of the folder are digested when the configuration is read, and other files never run.
 */
import { dirname, extname } from 'node:path';
import { failed, ok, type Result } from '@cordon/core';
import { digestTree } from '@cordon/sandbox/tree-digest';
import { quoted } from '../reading/config-reader.ts';
import { absolutePath, covers, isFile, realPath } from '../reading/paths.ts';

export interface ModuleSettings {
  /** Absolute path. */
  readonly file: string;
  /** SHA-256 of all files of its folder. */
  readonly digest: string;
  /** What it may reach, in the shortest spelling of a manifest's `network`; empty: nothing. */
  readonly network: readonly string[];
}

export interface ModulePlaces {
  /** Relative paths begin here. */
  readonly folder: string;
  readonly home: string;
  /** Folders that no module may see as a whole: with secrets, with the journal. */
  readonly closed: readonly string[];
}

const ENDINGS: readonly string[] = ['.js', '.mjs', '.ts', '.mts'];

/**
 * One module, its folder digested. Refuses what is no file of JavaScript or TypeScript, a folder that holds one of `closed` or
 * the home folder, and a folder with links or without bounds.
 */
export function moduleAt(
  path: string,
  network: readonly string[],
  { folder, home, closed }: ModulePlaces,
): Result<ModuleSettings, { readonly message: string; readonly help: string }> {
  const file = realPath(absolutePath(path, folder, home));
  const own = dirname(file);
  if (!isFile(file))
    return failed({ message: `there is no file ${quoted(path)}`, help: 'name the file of the module' });
  if (!ENDINGS.includes(extname(file)))
    return failed({
      message: `${quoted(path)} is no module`,
      help: `its name ends in ${ENDINGS.join(', ')}`,
    });
  if ([home, ...closed].some((one) => covers(own, realPath(one))))
    return failed({
      message: `the process of ${quoted(path)} would see all of the folder ${quoted(own)}`,
      help: 'put the module and the files that it needs into a separate folder',
    });
  const tree = digestTree(own, 'the folder of the module');
  return tree.ok
    ? ok({ file, digest: tree.value.digest, network })
    : failed({ message: tree.fault.message, help: 'put nothing but its own plain files beside the module' });
}
