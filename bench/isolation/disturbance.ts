/**
 * What a hostile app costs the hub: the time that the hub's event loop was busy from the call of a harmful tool until
 * the app was gone, less what it is busy with a call that does nothing. Each kind of harm is a tool of
 * `programs/trouble.mjs`.
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
  /** Milliseconds until the call had failed and the process was gone. */
  readonly until: number;
  readonly reason: string;
}

export async function disturbance(rig: Rig, harm: (typeof HARMS)[number]): Promise<Disturbance> {
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
  delay.enable();
  const before = performance.eventLoopUtilization();
  const began = performance.now();
  const outcome = await measured.call(app, harm.replaceAll(' ', '-'));
  while (measured.stopped.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const until = performance.now() - began;
  const { active } = performance.eventLoopUtilization(before);
  delay.disable();
  await measured.host.stop();
  const reason = outcome.ok ? 'it answered' : outcome.fault.message;
  return { busy: active, longest: delay.max / 1e6, until, reason: `${reason}; ${measured.stopped[0] ?? ''}` };
}
