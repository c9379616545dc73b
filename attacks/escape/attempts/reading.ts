/** What an app must not be able to read. */

import { SHOWN_PROC } from '@cordon/sandbox/parts';
import { type Attempt, BAIT, BAIT_VARIABLE } from '../attempt.ts';
import { findsBait, node, quoted, reads, SHARED, tries } from './words.ts';

const readsNote: Attempt['twin'] = ({ code }) => reads(`${code}/note.txt`);

/** A file of the user, by one way or another. */
function file(id: string, title: string, path: (home: string) => string): Attempt {
  return {
    id,
    group: 'reading',
    title,
    program: ({ baits }) => reads(path(baits.home)),
    twin: readsNote,
    stops: ['ENOENT'],
    layers: ['file-view', 'separate-user'],
    setting: SHARED,
  };
}

/** A file of /proc that is the same for everybody on this machine. */
function ofKernel(id: string, title: string, path: string): Attempt {
  return {
    id,
    group: 'reading',
    title,
    program: () => reads(path),
    twin: () => reads('/proc/uptime'),
    stops: ['EACCES', 'ENOENT'],
    layers: ['file-view'],
    kernelMayRefuse: ['empty', 'ENOENT'],
    setting: SHARED,
  };
}

function hiddenOfKernel(id: string, title: string, path: string): Attempt {
  return { ...ofKernel(id, title, path), cordonOnly: true };
}

/** Looks through what a file of /proc says about everybody it can see, except itself. */
function everybodys(what: string): string {
  return `fs.readdirSync('/proc').filter((name) => Number(name) > 0 && Number(name) !== process.pid)
    .map((pid) => { try { return fs.readFileSync('/proc/' + pid + '/${what}', 'latin1') } catch { return '' } }).join()`;
}

export const READING: readonly Attempt[] = [
  file('user-key', "reads the user's SSH key", (home) => `${home}/.ssh/id_ed25519`),
  file('journal', "reads the hub's journal", (home) => `${home}/data/journal.sqlite`),
  file('other-app', "reads another app's folder", (home) => `${home}/data/apps/other/state.json`),
  file(
    'user-key-by-root',
    'reads it below /proc/self/root',
    (home) => `/proc/self/root${home}/.ssh/id_ed25519`,
  ),
  {
    ...file(
      'user-key-by-init',
      'reads it below /proc/1/root',
      (home) => `/proc/1/root${home}/.ssh/id_ed25519`,
    ),
    stops: ['EACCES', 'ENOENT'],
    layers: ['file-view', 'separate-user', 'own-init'],
  },
  file(
    'user-key-by-dots',
    'reads it by going up from its own folder',
    (home) => `/proc/self/cwd/../../../../../../..${home}/.ssh/id_ed25519`,
  ),
  {
    id: 'user-key-by-link',
    group: 'reading',
    title: 'reads it by a link that it left in its folder',
    program: ({ baits, state }) =>
      tries(`fs.rmSync('${state}/to-key', { force: true });
        fs.symlinkSync(${quoted(`${baits.home}/.ssh/id_ed25519`)}, '${state}/to-key');
        fs.readFileSync('${state}/to-key')`),
    twin: ({ code, state }) =>
      tries(`fs.rmSync('${state}/to-note', { force: true });
        fs.symlinkSync('${code}/note.txt', '${state}/to-note'); fs.readFileSync('${state}/to-note')`),
    stops: ['ENOENT'],
    layers: ['file-view', 'separate-user'],
    setting: SHARED,
  },
  {
    id: 'shadow',
    group: 'reading',
    title: 'reads /etc/shadow',
    program: () => reads('/etc/shadow'),
    twin: readsNote,
    stops: ['ENOENT'],
    layers: ['file-view', 'separate-user'],
    rootOnly: true,
    setting: SHARED,
  },
  {
    id: 'groups',
    group: 'reading',
    title: 'reads who else is on this machine',
    program: () => reads('/etc/group'),
    twin: readsNote,
    stops: ['ENOENT'],
    layers: ['file-view'],
    setting: SHARED,
  },
  {
    id: 'sys',
    group: 'reading',
    title: 'reads about the hardware in /sys',
    program: () => tries(`if (fs.readdirSync('/sys').length === 0) refused('empty')`),
    twin: ({ code }) => tries(`fs.readdirSync('${code}')`),
    stops: ['ENOENT', 'empty'],
    layers: [],
    also: 'bubblewrap',
    setting: SHARED,
  },
  {
    id: 'devices',
    group: 'reading',
    title: 'opens devices of the machine',
    program: () =>
      node(`const few = ['null', 'zero', 'full', 'random', 'urandom', 'tty', 'console', 'ptmx'];
        let last = 'ENOENT';
        const look = (folder) => {
          for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
            const path = folder + '/' + entry.name;
            if (entry.isDirectory() && !['pts', 'shm', 'fd', 'mqueue'].includes(entry.name)) look(path);
            if (!entry.isCharacterDevice() && !entry.isBlockDevice()) continue;
            if (few.includes(entry.name)) continue;
            try { fs.closeSync(fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK)); through(); }
            catch (error) { last = error.code; }
          }
        };
        look('/dev'); refused(last)`),
    twin: () => tries(`fs.closeSync(fs.openSync('/dev/urandom'))`),
    stops: ['ENOENT'],
    layers: [],
    also: 'bubblewrap',
    setting: SHARED,
  },
  {
    id: 'hub-command-line',
    group: 'reading',
    title: "reads the hub's command line",
    program: () => findsBait(everybodys('cmdline'), BAIT),
    twin: () => findsBait(`fs.readFileSync('/proc/self/cmdline', 'latin1')`, 'node'),
    stops: ['absent'],
    layers: ['pid-namespace'],
    setting: SHARED,
  },
  {
    id: 'hub-environment',
    group: 'reading',
    title: "reads the hub's environment in /proc",
    program: ({ baits }) =>
      findsBait(`fs.readFileSync('/proc/${baits.hub}/environ', 'latin1')`, BAIT_VARIABLE),
    twin: () => tries(`fs.readFileSync('/proc/self/environ')`),
    stops: ['ENOENT', 'EACCES', 'absent'],
    layers: ['pid-namespace'],
    also: 'user-namespace',
    setting: SHARED,
  },
  {
    id: 'hub-descriptors',
    group: 'reading',
    title: "opens the hub's open files in /proc",
    program: ({ baits }) => tries(`fs.readdirSync('/proc/${baits.hub}/fd')`),
    twin: () => tries(`fs.readdirSync('/proc/self/fd')`),
    stops: ['ENOENT', 'EACCES'],
    layers: ['pid-namespace'],
    also: 'user-namespace',
    setting: SHARED,
  },
  {
    id: 'launcher-environment',
    group: 'reading',
    title: 'finds a key of the hub in the environment of what started it',
    program: () => findsBait(everybodys('environ'), BAIT_VARIABLE),
    twin: () => tries(`fs.readFileSync('/proc/self/environ')`),
    stops: ['absent'],
    layers: ['environment', 'own-init'],
    setting: SHARED,
  },
  {
    id: 'own-environment',
    group: 'reading',
    title: 'finds a key of the hub in its own environment',
    program: () => findsBait('Object.keys(process.env)', BAIT_VARIABLE),
    twin: () => findsBait('Object.keys(process.env)', 'PWD'),
    stops: ['absent'],
    layers: ['environment'],
    setting: SHARED,
  },
  {
    id: 'launcher-command-line',
    group: 'reading',
    title: 'learns how its sandbox was made from the command line of what started it',
    program: () => findsBait(everybodys('cmdline'), '--unshare-'),
    twin: () => findsBait(`fs.readFileSync('/proc/self/cmdline', 'latin1')`, 'node'),
    stops: ['absent'],
    layers: ['arguments', 'own-init'],
    setting: SHARED,
  },
  {
    id: 'inherited-descriptors',
    group: 'reading',
    title: 'reads a file that was open when the hub was started',
    program: () =>
      findsBait(
        `fs.readdirSync('/proc/self/fd').map((name) => {
          try { return fs.fstatSync(Number(name)).isFile() ? fs.readFileSync('/proc/self/fd/' + name) : '' } catch { return '' }
        }).join()`,
        BAIT,
      ),
    twin: () => tries(`fs.readlinkSync('/proc/self/fd/1')`),
    stops: ['absent'],
    layers: ['descriptors'],
    setting: SHARED,
  },
  ofKernel('typing', "learns when the user types from the machine's interrupts", '/proc/interrupts'),
  ofKernel('key-names', "reads the names of the user's keys in the kernel", '/proc/keys'),
  {
    ...ofKernel('typing-by-stat', 'learns it from the counters of the processors', '/proc/stat'),
    program: () =>
      tries(`if (!/^intr [1-9]/m.test(fs.readFileSync('/proc/stat', 'latin1'))) refused('absent')`),
    twin: () => tries(`if (require('node:os').cpus().length === 0) refused('absent')`),
    stops: ['absent'],
    cordonOnly: true,
  },
  hiddenOfKernel('typing-by-softirqs', 'learns it from deferred interrupts', '/proc/softirqs'),
  hiddenOfKernel('memory-activity', 'watches how the machine uses its memory', '/proc/vmstat'),
  hiddenOfKernel('memory-zones', 'watches which memory of the machine is free', '/proc/zoneinfo'),
  hiddenOfKernel('disk-activity', 'watches which disks of the machine are used, and when', '/proc/diskstats'),
  hiddenOfKernel('pressure', 'watches how busy the machine is', '/proc/pressure/cpu'),
  hiddenOfKernel('locks', 'learns who locks which files', '/proc/locks'),
  hiddenOfKernel('boot-options', 'reads with which options the machine was started', '/proc/cmdline'),
  hiddenOfKernel('kernel-addresses', 'reads the addresses of the kernel', '/proc/kallsyms'),
  {
    ...hiddenOfKernel('open-files', 'counts the open files of the machine', '/proc/sys/fs/file-nr'),
    layers: ['kernel-settings'],
  },
  {
    id: 'unlisted-proc',
    group: 'reading',
    title: 'finds in /proc what nobody decided to show',
    program: () =>
      node(`const shown = ${quoted([...SHOWN_PROC.keys()].join(' '))}.split(' ');
        const opens = (path) => { try { fs.closeSync(fs.openSync(path)); return true } catch { return false } };
        fs.readdirSync('/proc', { withFileTypes: true }).some((entry) => entry.isFile() && !shown.includes(entry.name)
          && opens('/proc/' + entry.name)) ? through() : refused('absent')`),
    twin: () => tries(`fs.readFileSync('/proc/meminfo')`),
    stops: ['absent'],
    layers: ['file-view'],
    cordonOnly: true,
    setting: SHARED,
  },
  {
    id: 'mount-table',
    group: 'reading',
    title: 'learns from which folders of the host its own come',
    program: () => findsBait(`fs.readFileSync('/proc/self/mountinfo', 'latin1')`, '.cordon-attack-'),
    twin: () => tries(`fs.readFileSync('/proc/self/mountinfo')`),
    stops: [],
    layers: [],
    known:
      'the kernel shows the sources of its mounts to every process; paths of code and granted folders only',
    setting: SHARED,
  },
];
