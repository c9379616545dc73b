/**
 * `hub-process FOLDER FILE`: plays the scenario of FILE over the store of FOLDER with apps in processes of their own, and
 * is killed by a signal at the step that FILE says.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ok } from '@cordon/core';
import type { AppLauncher } from '../../src/index.ts';
import { effectsFile, openIn, play, raiseRig } from './rig.ts';
import type { AppSpec } from './scenario.ts';

const [folder = '', file = ''] = process.argv.slice(2);
const { scenario, death } = JSON.parse(readFileSync(file, 'utf8'));
const program = fileURLToPath(new URL('./counting-app.mjs', import.meta.url));

const launcher = (): AppLauncher => ({
  launch: async ({ id }) => {
    const spec = scenario.apps.find(({ name }: AppSpec) => name === id);
    const args = [program, effectsFile(folder), JSON.stringify(spec)];
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    const ended = new Promise<string>((resolve) => child.once('exit', () => resolve('it ended')));
    const { stdin, stdout } = child;
    return ok({ stdin, stdout, layers: [], ended, stderrTail: () => '', kill: () => child.kill('SIGKILL') });
  },
});

function end(): never {
  process.kill(process.pid, 'SIGKILL');
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

const rig = raiseRig({ folder, scenario, death, end, launcher });
const session = openIn(rig);
await play(session, scenario, 0);
await session.close('suspend');
rig.store.close();
