/**
 * Which symbolic links a path leads over. A link in a folder that an app may write can have been put there by the app,
 * to be shown, at the next start, something else than what the user has listed.
 */
import { lstatSync, readlinkSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';

export interface LinkWalk {
  /** Where each link stands, in order; no link above it is left. */
  readonly links: readonly string[];
  /** Where the path ends when all are followed. */
  readonly end: string;
}

/** As many as Linux follows. */
const MOST_LINKS = 40;

/** `path`: absolute. Null where it leads nowhere. */
export function walkLinks(path: string): LinkWalk | null {
  const links: string[] = [];
  const rest = namesOf(path);
  let end = '';
  for (let name = rest.pop(); name !== undefined; name = rest.pop()) {
    if (name === '..') {
      end = end === '' ? '' : dirname(end).replace(/\/$/, '');
      continue;
    }
    const at = `${end}/${name}`;
    const target = targetOf(at);
    if (target === undefined) return null;
    if (target === null) {
      end = at;
      continue;
    }
    links.push(at);
    if (links.length > MOST_LINKS) return null;
    if (isAbsolute(target)) end = '';
    rest.push(...namesOf(target));
  }
  return { links, end: end === '' ? '/' : end };
}

/** Last one first. */
function namesOf(path: string): string[] {
  return path
    .split('/')
    .filter((name) => name !== '' && name !== '.')
    .reverse();
}

/** Null: no link. Undefined: nothing is there, or it may not be looked at. */
function targetOf(path: string): string | null | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : null;
  } catch {
    return undefined;
  }
}
