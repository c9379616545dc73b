/**
 * The layers of the sandbox by name: what each does, and what one gives up without it. Every launch has all of
 * them unless the user named some in `--sandbox weaker=…`; nothing else ever leaves one out.
 */
import { type Fault, failed, fault, ok, type Result } from '@cordon/core';

export type LayerName = keyof typeof LAYERS;

export interface Layer {
  /** What it does; one clause. */
  readonly does: string;
  /** What an app can do without it; one clause, shown at every start that lacks it. */
  readonly without: string;
  /** `user`: the user may. `tests`: only our own tests, which show that somebody notices. `never`: nothing runs without. */
  readonly mayBeLeftOut: 'user' | 'tests' | 'never';
}

export const LAYERS = {
  'user-namespace': {
    does: 'the process owns nothing of the host',
    without: 'nothing else could be set up',
    mayBeLeftOut: 'never',
  },
  'separate-user': {
    does: 'apps are never user 0 of the host',
    without: 'an app is root where the kernel checks only the user',
    mayBeLeftOut: 'tests',
  },
  'file-view': {
    does: 'only programs and the files that the manifest names exist',
    without: 'apps read every file that your user can read',
    mayBeLeftOut: 'user',
  },
  'read-only-root': {
    does: 'nothing outside the private folders can be written',
    without: 'apps fill memory with files that no limit counts',
    mayBeLeftOut: 'user',
  },
  landlock: {
    does: 'apps cannot open read-only paths for writing, whatever kind of file they are',
    without: 'apps write to named pipes in folders that they may only read',
    mayBeLeftOut: 'user',
  },
  'kernel-settings': {
    does: 'the settings of the kernel (/proc/sys) cannot be written',
    without: 'apps write settings of the kernel where their user may',
    mayBeLeftOut: 'user',
  },
  'pid-namespace': {
    does: 'processes of the host cannot be seen or signalled',
    without: 'apps see and signal your other processes, and may leave processes running',
    mayBeLeftOut: 'user',
  },
  'own-init': {
    does: 'the app ends with Cordon, and cannot reach the process that ends it',
    without: 'apps write into the process that ends them, and outlive Cordon',
    mayBeLeftOut: 'tests',
  },
  'network-namespace': {
    does: 'what the hub listens on inside is the only network',
    without: 'apps reach the Internet, your network and this machine without a decision of the policy',
    mayBeLeftOut: 'user',
  },
  'ipc-namespace': {
    does: 'shared memory and queues of the host do not exist',
    without: 'apps read and write shared memory and queues of your other programs',
    mayBeLeftOut: 'user',
  },
  'uts-namespace': {
    does: 'the name of the host is hidden',
    without: 'apps learn the name of this machine',
    mayBeLeftOut: 'user',
  },
  'cgroup-namespace': {
    does: 'the control groups of the host are hidden',
    without: 'apps learn how this machine groups its services',
    mayBeLeftOut: 'user',
  },
  'no-nested-namespaces': {
    does: 'no further user namespace can be made',
    without: 'apps reach parts of the kernel that only namespaces open',
    mayBeLeftOut: 'user',
  },
  capabilities: {
    does: 'every Linux capability is dropped and none can be gained',
    without:
      'apps are root of their own namespaces: they reach the process that ends them, and parts of the kernel in which many bugs were found',
    mayBeLeftOut: 'user',
  },
  session: {
    does: 'the process has no terminal',
    without: 'apps write to your terminal and may type into it',
    mayBeLeftOut: 'user',
  },
  seccomp: {
    does: 'only listed system calls are allowed',
    without: 'apps reach every part of the kernel',
    mayBeLeftOut: 'user',
  },
  'resource-limits': {
    does: 'each process is bounded in memory, CPU time, files and children',
    without: 'an app can use up memory, descriptors and processes of this machine',
    mayBeLeftOut: 'user',
  },
  watchdog: {
    does: 'memory, CPU time and files of the whole tree of processes are bounded',
    without: 'an app that starts many processes has many times its limits',
    mayBeLeftOut: 'user',
  },
  environment: {
    does: "the hub's environment variables do not exist inside",
    without: "apps read Cordon's environment, with the keys in it",
    mayBeLeftOut: 'user',
  },
  arguments: {
    does: 'the command line of the sandbox reveals nothing',
    without: 'apps learn how their sandbox was made, with its variables and mounts',
    mayBeLeftOut: 'user',
  },
  descriptors: {
    does: 'open files that Cordon inherited are closed to apps',
    without: 'apps read and write files that were open when Cordon started',
    mayBeLeftOut: 'user',
  },
  'node-permission': {
    does: 'Node itself refuses files, programs and addons that were not granted (JavaScript apps)',
    without: 'one layer less against a kernel bug',
    mayBeLeftOut: 'user',
  },
} as const satisfies Record<string, Layer>;

export const LAYER_NAMES = Object.keys(LAYERS).filter(isLayerName);

export function isLayerName(name: string): name is LayerName {
  return Object.hasOwn(LAYERS, name);
}

/** `a,b` as in `--sandbox weaker=a,b`. Refuses unknown names, and layers that the user may not leave out. */
export function parseWeaker(text: string): Result<readonly LayerName[], Fault> {
  const names = text.split(',').map((name) => name.trim());
  const layers: LayerName[] = [];
  for (const name of names) {
    if (!isLayerName(name)) return refused(`there is no layer \`${name.slice(0, 40)}\``);
    if (LAYERS[name].mayBeLeftOut !== 'user') return refused(`the layer \`${name}\` cannot be left out`);
    if (!layers.includes(name)) layers.push(name);
  }
  return ok(layers);
}

function refused(message: string) {
  const free = LAYER_NAMES.filter((name) => LAYERS[name].mayBeLeftOut === 'user');
  return failed(fault('sandbox-unavailable', message, `layers that can be left out: ${free.join(', ')}`));
}
