/** Processes for tests: the real sandbox, with our program in it or with another one in its place. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Fault, Result } from '@cordon/core';
import { type ConfinedProcess, checkPath, openSandbox } from '@cordon/sandbox';
import { lentSelfTest } from '@cordon/testkit/lent-results.ts';
import type { Launch, Work } from '../src/index.ts';
import { detectorLauncher, detectorSpec } from '../src/launch.ts';

export const CODE_ROOT = resolve(import.meta.dirname, '../../..');
export const SANDBOX = openSandbox({ node: process.execPath, cacheFile: lentSelfTest() });
/** Our own program. */
export const honest = detectorLauncher(SANDBOX, CODE_ROOT);

const FOLDER = mkdtempSync(join(tmpdir(), 'cordon-detectors-'));
process.once('exit', () => rmSync(FOLDER, { recursive: true, force: true }));
let programs = 0;

/** Confined as for that work, but what runs is this JavaScript, which has `link` and, as `each(answer)`, every question. */
export function program(source: string, work: Work = 'parsers'): Launch {
  const folder = join(FOLDER, String(++programs));
  mkdirSync(folder);
  writeFileSync(join(folder, 'main.mjs'), `${BEGINNING}\n${source}`);
  return async (signal): Promise<Result<ConfinedProcess, Fault>> => {
    const spec = detectorSpec(CODE_ROOT, work);
    const own = checkPath(folder);
    if (!spec.ok) return spec;
    if (!own.ok) return own;
    const mounts = [...spec.value.mounts, { host: own.value, inside: '/program', access: 'read' as const }];
    return SANDBOX.spawn({ ...spec.value, mounts, args: ['/program/main.mjs'] }, signal);
  };
}

const BEGINNING = `import { Socket } from 'node:net';
import { deserialize } from 'node:v8';
const link = new Socket({ fd: 3, readable: true, writable: true });
link.on('error', () => process.exit(0));
link.on('close', () => process.exit(0));
const say = (message) => link.write(JSON.stringify(message) + '\\n');
const each = async (answer) => {
  let rest = Buffer.alloc(0);
  for await (const chunk of link) {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 4 && rest.length >= 4 + rest.readUInt32LE()) {
      const end = 4 + rest.readUInt32LE();
      const { id, work } = deserialize(rest.subarray(4, end));
      rest = rest.subarray(end);
      const said = await answer(work.text ?? work.texts[0], id);
      if (said !== undefined) say({ id, answer: said });
    }
  }
};`;

/** The same, and what it has started so far. */
export function watched(launch: Launch): { readonly launch: Launch; readonly started: ConfinedProcess[] } {
  const started: ConfinedProcess[] = [];
  return {
    started,
    launch: async (signal) => {
      const process = await launch(signal);
      if (process.ok) started.push(process.value);
      return process;
    },
  };
}

/** No process at all. */
export const refused: Launch = async () => ({
  ok: false,
  fault: { kind: 'sandbox-unavailable', message: 'there is no sandbox' },
});

/** Refused so often, then as it is. */
export function refusedAtFirst(times: number, launch: Launch): Launch {
  let left = times;
  return (signal) => (left-- > 0 ? refused(signal) : launch(signal));
}
