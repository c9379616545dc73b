/** A confined program from its start to its first answer, beside the same program bare; and one that waited warm. */
import type { InstalledApp } from '@cordon/core';
import {
  bare,
  fail,
  firstLine,
  INITIALIZE,
  killed,
  MeasuredHost,
  must,
  programApp,
  type Rig,
} from '@cordon/testkit/isolation/rig.ts';

/** Milliseconds from the start to the answer of MCP's `initialize`. */
export async function confinedStart(rig: Rig, app: InstalledApp): Promise<number> {
  const began = performance.now();
  const running = must(await rig.apps.launch(app, null, new AbortController().signal));
  running.stdin.write(INITIALIZE);
  const took = (await firstLine(running.stdout)) - began;
  running.kill();
  await running.ended;
  return took;
}

export async function bareStart(app: InstalledApp): Promise<number> {
  const { args, env } = app.source.kind === 'command' ? app.source : fail('it is no program');
  const began = performance.now();
  const child = bare(args, env);
  child.stdin?.write(INITIALIZE);
  const took = (await firstLine(child.stdout)) - began;
  await killed(child);
  return took;
}

export async function loopStart(rig: Rig): Promise<number> {
  const began = performance.now();
  const loop = must(await rig.loops.launch(new AbortController().signal));
  const took = (await firstLine(loop.link)) - began;
  loop.kill();
  await loop.ended;
  return took;
}

export interface WarmStart {
  /** From the need of the app until its tools are known; milliseconds. */
  readonly ready: number;
  readonly firstCall: number;
  readonly secondCall: number;
}

/** An app that has waited in the pool, as after the prompt of a chat. */
export async function warmStart(rig: Rig, app: InstalledApp, tool: string, args = {}): Promise<WarmStart> {
  const measured = new MeasuredHost(rig);
  await measured.host.warm([app]);
  await new Promise((resolve) => setTimeout(resolve, 100)); // what is compiled ahead
  const needed = performance.now();
  must(await measured.host.start(app));
  const ready = performance.now();
  must(await measured.call(app, tool, args));
  const called = performance.now();
  must(await measured.call(app, tool, args));
  const calledAgain = performance.now();
  await measured.host.stop();
  return { ready: ready - needed, firstCall: called - ready, secondCall: calledAgain - called };
}

export const ECHO = programApp('echo.mjs');
