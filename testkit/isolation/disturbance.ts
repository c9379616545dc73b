/**
 * What a hostile app costs the hub: the time that the hub's event loop was busy from the call of a harmful tool until
 * the app was gone, and its longest pause meanwhile. Each kind of harm is a tool of `programs/trouble.mjs`, called once
 * for each of the two: to look for pauses every millisecond keeps the loop busy itself, by more than a silent app does.
 */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { MeasuredHost, must, programApp, type Rig } from './rig.ts';

/** All but the last three flood the hub, each in another way; the others exhaust something, or say nothing. */
export const HARMS = [
  ...['messages', 'long messages', 'many values', 'deep values', 'no messages', 'line ends', 'endless line'],
  ...['requests', 'standard error', 'memory bomb', 'fork bomb', 'spin', 'stop', 'silence', 'crash'],
] as const;

export interface Disturbance {
  /** Milliseconds that the event loop was busy. */
  readonly busy: number;
  /** The longest time that nothing else could run. */
  readonly longest: number;
}

type Harm = (typeof HARMS)[number];

export async function disturbance(rig: Rig, harm: Harm): Promise<Disturbance> {
  const { busy } = await oneDisturbance(rig, harm, false);
  const { longest } = await oneDisturbance(rig, harm, true);
  return { busy, longest };
}

async function oneDisturbance(rig: Rig, harm: Harm, looksForPauses: boolean): Promise<Disturbance> {
  const measured = new MeasuredHost(rig);
  const app = programApp('trouble.mjs', {
    callSeconds: 4,
    silentSeconds: 1,
    memoryMiB: 512,
    processes: 32,
    cpuSeconds: 3,
  });
  must(await measured.host.start(app));
  await new Promise((resolve) => setTimeout(resolve, 200)); // what the start leaves to do
  const delay = monitorEventLoopDelay({ resolution: 1 });
  if (looksForPauses) delay.enable();
  const before = performance.eventLoopUtilization();
  await measured.call(app, harm.replaceAll(' ', '-'));
  while (measured.stopped.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const { active } = performance.eventLoopUtilization(before);
  delay.disable();
  await measured.host.stop();
  return { busy: active, longest: delay.max / 1e6 };
}
