/**
 * Where a link or a path leads: the host of a link, the folders above a file. Who names a host or a folder has named what lies below it
 * at one remove.
 */

/** `https://www.x.org/a`, `www.x.org/a`, `x.org/a`. */
const LINK = /^\s*(?:https?:\/\/)?((?:[a-z0-9_-]{1,63}\.){1,8}[a-z]{2,24})(?::\d{1,5})?(?:[/?#]\S*)?\s*$/i;
const PATH = /^\s*(?:~|\.|[a-z]:)?[\\/]\S/i;
/** Folders of a path that are looked for. Deeper paths have more, and the nearest count. */
const MOST_FOLDERS = 16;

/**
 * The places that hold what a value names, nearest first; empty: it names no link and no path, or one that leads upwards.
 *
 * Attack: `/downloads/../secrets`; `https://x.org@evil.example/`, whose host is not `x.org`.
 */
export function placesAbove(value: string): readonly string[] {
  if (PATH.test(value)) return foldersAbove(value.trim());
  const host = LINK.exec(value)?.[1];
  if (host === undefined) return [];
  const plain = host.replace(/^www\./i, '');
  return [host, plain, `www.${plain}`].filter((one, at, all) => all.indexOf(one) === at);
}

function foldersAbove(path: string): readonly string[] {
  if (/(?:^|[\\/])\.\.(?:[\\/]|$)|%2e/i.test(path)) return [];
  const folders: string[] = [];
  for (let end = lastSlash(path, path.length); end > 0 && folders.length < MOST_FOLDERS; ) {
    folders.push(path.slice(0, end));
    end = lastSlash(path, end);
  }
  return folders.filter((folder) => /[\p{L}\p{N}]/u.test(folder));
}

function lastSlash(path: string, before: number): number {
  return Math.max(path.lastIndexOf('/', before - 1), path.lastIndexOf('\\', before - 1));
}

/** Whether a text names a place as it is written: not as a part of a longer name, nor of a place below it. */
export function namesPlace(text: string, place: string): boolean {
  const lower = text.toLowerCase();
  const wanted = place.toLowerCase();
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, at + 1)) {
    const before = lower.charAt(at - 1);
    const after = lower.slice(at + wanted.length);
    if (!/[\p{L}\p{N}._@~\\-]/u.test(before) && !/^[\p{L}\p{N}_@-]|^\.[\p{L}\p{N}]/u.test(after)) return true;
  }
  return false;
}
