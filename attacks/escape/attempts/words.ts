/** Words that the attempts share: short ways to write a program. */
import type { Program, Setting } from '../attempt.ts';

/** The others share a sandbox, so that eighty attempts need a second and not ten. */
export const SHARED: Setting = { in: 'shared' };
export const ALONE: Setting = { in: 'alone' };

export function node(code: string): Program {
  return { kind: 'node', code };
}

/** An action that throws where it is refused. */
export function tries(action: string): Program {
  return node(`${action}; through()`);
}

/** Reads a file that must not be readable. */
export function reads(path: string): Program {
  return tries(`if (fs.readFileSync(${quoted(path)}).length === 0) refused('empty')`);
}

/** Opens a file for writing and writes nothing. */
export function opensForWriting(path: string): Program {
  return tries(`fs.closeSync(fs.openSync(${quoted(path)}, 'r+'))`);
}

export function creates(path: string): Program {
  return tries(`fs.writeFileSync(${quoted(path)}, 'x'); fs.rmSync(${quoted(path)})`);
}

export function quoted(text: string): string {
  return JSON.stringify(text);
}

/** What is tried in vain is made to look for the bait, and says whether it was there. */
export function findsBait(expression: string, bait: string): Program {
  return node(`String(${expression}).includes(${quoted(bait)}) ? through() : refused('absent')`);
}
