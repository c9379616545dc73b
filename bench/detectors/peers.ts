/**
 * Packages of others that do the same job. They are not installed with Cordon; to measure beside them:
 *
 *     npm install --prefix bench/detectors/peers --ignore-scripts --workspaces=false --no-package-lock
 *
 * Without them the benchmark runs and says that they are missing.
 */
import { moduleIfInstalled } from '../installed-module.ts';
import type { Label } from './labelled.ts';
import { peerImport } from './peers/module.ts';
import type { Find, Peer } from './suite.ts';

export function peerModule<Module>(name: string): Promise<Module | null> {
  return moduleIfInstalled<Module>(() => peerImport(name));
}

/** A package that is there or not, and what it finds. `rows`: those that it says something about; null: all. */
export function packagePeer<Module>(
  name: string,
  specifier: string,
  rows: readonly string[] | null,
  make: (module: Module) => Find,
): Peer {
  return {
    name,
    rows,
    load: async () => {
      const module = await peerModule<Module>(specifier);
      return module === null ? null : make(module);
    },
  };
}

/**
 * What was replaced, where a peer gives back nothing but the text with its findings replaced. What stands between two
 * replacements is looked up in the original, from left to right.
 *
 * @param replacement matches one replacement; its first group is the kind
 */
export function replaced(original: string, redacted: string, replacement: RegExp): readonly Label[] {
  const found: Label[] = [];
  let at = 0;
  let read = 0;
  let open: { kind: string; start: number } | null = null;
  const close = (piece: string): void => {
    const next = open === null ? at : piece === '' ? original.length : original.indexOf(piece, at);
    const start = next < 0 ? at : next;
    if (open !== null) found.push({ kind: open.kind, start: open.start, end: start });
    at = start + piece.length;
  };
  for (const match of redacted.matchAll(replacement)) {
    const piece = redacted.slice(read, match.index);
    // Two replacements side by side: nobody can tell where the first ends.
    if (open === null || piece !== '') {
      close(piece);
      open = { kind: match[1] ?? '', start: at };
    }
    read = match.index + match[0].length;
  }
  close(redacted.slice(read));
  return found;
}
