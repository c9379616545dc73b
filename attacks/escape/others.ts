/**
 * The same attempts without a sandbox and in other sandboxes, each as its own documentation has it for a program
 * that is not trusted and needs no network. For the comparison only, and never as root: where nothing stops an
 * attempt it happens, bounded by its own numbers.
 */
import { spawn } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, relative } from 'node:path';
import { type Command, type Confinement, DEADLINE_MS } from './confinement.ts';
import type { Probe } from './probe.ts';
import type { Ended, Tools } from './program.ts';

export const OTHERS = ['no sandbox', 'bubblewrap', 'firejail', 'sandbox-runtime'] as const;
export type Other = (typeof OTHERS)[number];

const RUNTIME = join(import.meta.dirname, '../../node_modules/@anthropic-ai/sandbox-runtime');

/** What one of them runs in: a folder of its own, with copies of all that the attempts need. */
interface AppFolder {
  readonly path: string;
  readonly code: string;
  readonly state: string;
  readonly tmp: string;
  readonly tools: string;
}

type Wrap = (command: Command) => readonly string[];

export class OtherConfinement implements Confinement {
  readonly name: Other;
  readonly tools: Tools;
  readonly driver: string;
  readonly state: string;
  readonly place: Confinement['place'];
  readonly #wrap: Wrap;

  /** `base`: a folder in the user's home; `tools`: where the probe and the driver are. */
  constructor(name: Other, base: string, tools: string, probe: Probe) {
    const app = makeAppFolder(join(base, name.replace(/\W/g, '-')), tools, probe);
    const { wrap, inside } = wrapOf(name, app);
    this.name = name;
    this.state = app.state;
    this.place = { code: inside.code, state: inside.state, tmp: inside.tmp };
    this.driver = join(inside.tools, 'driver.mts');
    this.tools = {
      node: join(inside.tools, 'node'),
      probe: probe.kind === 'none' ? null : probeIn(inside.tools, probe),
      python: '/usr/bin/python3',
      shell: '/bin/sh',
    };
    this.#wrap = wrap;
  }

  prepare(): Promise<unknown> {
    return Promise.resolve();
  }

  run(command: Command): Promise<Ended> {
    const [program = '', ...args] = this.#wrap(command);
    return new Promise((resolve) => {
      const child = spawn(program, args, { cwd: this.state, stdio: ['pipe', 'pipe', 'pipe'] });
      let [out, error] = ['', ''];
      child.stdout.on('data', (chunk) => (out += chunk));
      child.stderr.on('data', (chunk) => (error += chunk));
      child.stdin.on('error', () => undefined).end(command.input ?? '');
      const deadline = setTimeout(() => child.kill('SIGKILL'), DEADLINE_MS);
      const end = (code: number | null, signal: string | null) => {
        clearTimeout(deadline);
        resolve({ ...ending(code, signal), out, error: error.slice(0, 2_000), isLimited: false });
      };
      child.on('error', (failure) => {
        error += failure.message;
        end(null, null);
      });
      child.on('close', end);
    });
  }
}

/** Shells and launchers report the death of what they ran as 128 and the signal's number. */
function ending(code: number | null, signal: string | null) {
  const signals = new Map([
    [159, 'SIGSYS'],
    [152, 'SIGXCPU'],
    [153, 'SIGXFSZ'],
    [137, 'SIGKILL'],
    [134, 'SIGABRT'],
    [133, 'SIGTRAP'],
    [132, 'SIGILL'],
  ]);
  const reported = code === null ? undefined : signals.get(code);
  return reported === undefined ? { code, signal } : { code: null, signal: reported };
}

function makeAppFolder(path: string, tools: string, probe: Probe): AppFolder {
  const app = {
    path,
    code: join(path, 'code'),
    state: join(path, 'state'),
    tmp: join(path, 'tmp'),
    tools: join(path, 'tools'),
  };
  for (const folder of [app.code, app.state, app.tmp, app.tools])
    mkdirSync(folder, { recursive: true, mode: 0o755 });
  writeFileSync(join(app.code, 'note.txt'), 'a note');
  copyFileSync(process.execPath, join(app.tools, 'node'));
  copyFileSync(join(tools, 'driver.mts'), join(app.tools, 'driver.mts'));
  if (probe.kind !== 'none') copyFileSync(probe.file, join(app.tools, probeName(probe)));
  for (const name of ['node', 'probe'])
    if (existsSync(join(app.tools, name))) chmodSync(join(app.tools, name), 0o755);
  return app;
}

function probeName(probe: Exclude<Probe, { kind: 'none' }>): string {
  return probe.kind === 'compiled' ? 'probe' : 'probe.py';
}

function probeIn(folder: string, probe: Exclude<Probe, { kind: 'none' }>): readonly string[] {
  const file = join(folder, probeName(probe));
  return probe.kind === 'compiled' ? [file] : ['/usr/bin/python3', file];
}

function wrapOf(
  name: Other,
  app: AppFolder,
): { readonly wrap: Wrap; readonly inside: Omit<AppFolder, 'path'> } {
  switch (name) {
    case 'no sandbox':
      return { wrap: ({ command }) => command, inside: app };
    case 'bubblewrap':
      return { wrap: bubblewrap(app), inside: { ...app, tmp: '/tmp' } };
    case 'firejail':
      return { wrap: firejail(app), inside: { ...inHome(app), tmp: '/tmp' } };
    case 'sandbox-runtime':
      return { wrap: sandboxRuntime(app), inside: app };
  }
}

/** Its README: mounts, `/proc` and `/dev` of its own, all namespaces, and a new session against TIOCSTI. */
function bubblewrap({ state }: AppFolder): Wrap {
  const options = [
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp', '--bind', state, state],
    ...['--unshare-all', '--new-session', '--die-with-parent', '--'],
  ];
  return ({ command }) => ['/usr/bin/bwrap', ...options, ...command];
}

/** firejail(1): its default profile, and what that page recommends for servers, with its own limits. */
function firejail(app: AppFolder): Wrap {
  const options = [
    ...['--quiet', '--net=none', `--private=${app.path}`, '--private-dev', '--private-tmp'],
    ...['--caps.drop=all', '--nonewprivs', '--noroot', '--nogroups', '--seccomp', '--ipc-namespace'],
    ...['--hostname=box', '--nodbus', '--restrict-namespaces', '--deterministic-exit-code'],
    ...[
      '--deterministic-shutdown',
      `--read-only=${join(homedir(), 'code')}`,
      `--read-only=${join(homedir(), 'tools')}`,
    ],
  ];
  return ({ command, setting }) => {
    const { cpuSeconds, openFiles, fileMiB, processes } = setting.limits ?? {};
    const limits = [
      ...(cpuSeconds === undefined ? [] : [`--rlimit-cpu=${cpuSeconds}`]),
      ...(openFiles === undefined ? [] : [`--rlimit-nofile=${openFiles}`]),
      ...(fileMiB === undefined ? [] : [`--rlimit-fsize=${fileMiB << 20}`]),
      // It counts all processes of the user.
      ...(processes === undefined ? [] : [`--rlimit-nproc=${processes + 200}`]),
    ];
    return ['/usr/bin/firejail', ...options, ...limits, '--', ...command];
  };
}

/** With `--private` the folder is the home. */
function inHome({ path, ...places }: AppFolder): Omit<AppFolder, 'path'> {
  const moved = (place: string) => join(homedir(), relative(path, place));
  return {
    code: moved(places.code),
    state: moved(places.state),
    tmp: moved(places.tmp),
    tools: moved(places.tools),
  };
}

/** Its README: nothing of the home but the app's folder, nothing to be written but its own, no domain. */
function sandboxRuntime(app: AppFolder): Wrap {
  const settings = join(app.path, '..', 'srt-settings.json');
  // Its helper runs inside; installed for all users it would not stand in the home.
  const helper = join(RUNTIME, 'vendor');
  const filesystem = {
    denyRead: ['~'],
    allowRead: [app.code, app.tools, app.state, app.tmp, helper],
    allowWrite: [app.state, app.tmp],
    denyWrite: [],
  };
  writeFileSync(settings, JSON.stringify({ network: { allowedDomains: [], deniedDomains: [] }, filesystem }));
  const program = join(RUNTIME, 'dist', 'cli.js');
  return ({ command }) => [process.execPath, program, '--settings', settings, ...command];
}
