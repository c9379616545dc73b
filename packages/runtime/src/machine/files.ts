/** What is in folders of this machine. */
import { lstatSync } from 'node:fs';

/** What is at a path, links not followed. What cannot be looked at is something. */
export function lookAtPath(path: string): 'nothing' | 'folder' | 'other' {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return 'nothing';
    return found.isDirectory() ? 'folder' : 'other';
  } catch {
    return 'other';
  }
}
