/**
 * From an app's command, as it stands in the user's configuration, to a sandbox specification: what is executed,
 * and which folders of code it can see. Files of the user are visible only where the manifest lists them.
 */
import { existsSync, lstatSync } from 'node:fs';
import { basename, isAbsolute, resolve } from 'node:path';
import { type AppLimits, type Fault, failed, fault, type NodeGrant, ok, type Result } from '@cordon/core';
import { type CheckedPath, checkPath } from '../spec/checked-path.ts';
import { isWithin, type Mount, NODE_INSIDE, type SandboxSpec, STATE_INSIDE } from '../spec/spec.ts';
import { type CodeFence, codeMounts } from './code-root.ts';
import { findInstalled, PACKAGE_INSIDE } from './installed.ts';
import { type LinkWalk, walkLinks } from './link-walk.ts';
import { makeFolder } from './make-folder.ts';
import { binInFolder, installedBin } from './npx.ts';
import { type PackageCall, parsePackageLauncher } from './package-launcher.ts';
import { readWrittenFolders, rememberWrittenFolders } from './written-folders.ts';

export interface AppCommand {
  /** The app's name for `cordon apps install` in remedies; absent: the command belongs to no app. */
  readonly app?: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Host path, absolute or relative to the configuration's folder; null: the app's own state folder. */
  readonly cwd: string | null;
  /** Absolute host paths; each is visible at the same path inside. */
  readonly files: { readonly read: readonly string[]; readonly write: readonly string[] };
  /**
   * A private folder of this app on the host, made if it is missing, visible as `/state`, and also at its own
   * path where `files.write` lists that. Null: none, and nothing that the app writes outlives it.
   */
  readonly stateFolder: string | null;
  readonly limits: AppLimits;
  /** For an app that runs on our Node. */
  readonly node: readonly NodeGrant[];
  /** Whether it may open Unix sockets; absent: it may not. */
  readonly unixSockets?: boolean;
}

/** Where the command is looked at from; the same for all apps of a configuration. */
export interface CommandContext {
  /** Absolute path of the folder with the configuration file: relative paths and `npx` packages start here. */
  readonly configFolder: string;
  /** Never visible, in whole or in part, to any app (except its own state folder): journal, grants, other apps. */
  readonly dataFolder: string;
  /** The user's home: never visible as a whole. Null if there is none. */
  readonly home: string | null;
  /** Files that no app may see, wherever they lie: keys, and the secrets of other apps. */
  readonly closed?: readonly string[];
  /** Folders that other apps may write: a link in one of them leads nowhere. This app's own count anyway. */
  readonly writable?: readonly string[];
  /** The file that keeps what any app of this user was ever granted for writing; absent: nothing is kept. */
  readonly writtenFolders?: string;
}

/** An app's command, and where it is looked at from. */
interface AppStart extends AppCommand, CommandContext {}

/** Size of an app's private /tmp. */
const TMP_MIB = 64;

/** Folders of programs that `usr: true` makes visible; a program elsewhere is refused with a remedy. */
const PROGRAM_FOLDERS = ['/usr/local/bin', '/usr/bin', '/bin', '/usr/local/sbin', '/usr/sbin', '/sbin'];

/** Interpreters whose first argument that is no option is a script. */
const INTERPRETERS = /^(python(\d+(\.\d+)?)?|bash|sh|dash|perl|ruby|lua|php)$/;

/** Refuses what cannot be resolved now; the fault names the remedy. Reads the file system and makes the state folder. */
export async function commandSpec(
  app: AppCommand,
  context: CommandContext,
): Promise<Result<SandboxSpec, Fault>> {
  const call = packageCall(app);
  if (!call.ok) return call;
  // First, since it takes its time: from the look at any other path to its mount it must not be long.
  const installed = call.value === null ? ok(null) : await findInstalled(call.value, context.dataFolder);
  if (!installed.ok) return installed;
  return specOf({ ...app, ...context }, { call: call.value, installed: installed.value });
}

/** What a launcher's command line asks for. */
interface PackageWish {
  /** Null: the command is no launcher. */
  readonly call: PackageCall | null;
  /** What is installed for it; null: nothing. */
  readonly installed: CheckedPath | null;
}

function specOf(start: AppStart, wish: PackageWish): Result<SandboxSpec, Fault> {
  const granted = grantedMounts(start);
  if (!granted.ok) return granted;
  const program = resolveProgram(start, wish);
  if (!program.ok) return program;
  const mounts = [...withoutCovered(program.value.code, granted.value), ...granted.value];
  const cwd = workingFolder(start, mounts);
  if (!cwd.ok) return cwd;
  const written = granted.value.filter(({ access }) => access === 'write');
  const paths = written.flatMap(({ host, inside }) => [host.host, inside]);
  const remembered = rememberWrittenFolders(start.writtenFolders, paths);
  if (!remembered.ok) return remembered;
  const { executable, args, usr, env } = program.value;
  const isNode = executable === NODE_INSIDE;
  const isTight = isNode && !start.node.includes('child-process');
  const isRestricted = isNode && !start.node.includes('unrestricted');
  return ok({
    executable,
    args,
    env: {
      HOME: homeOf(start),
      TMPDIR: '/tmp',
      PATH: usr ? '/usr/local/bin:/usr/bin:/bin' : '/opt/node/bin',
      LANG: 'C.UTF-8',
      ...env,
      ...start.env,
    },
    cwd: cwd.value,
    mounts,
    profile: start.unixSockets === true ? 'unix' : isTight ? 'tight' : 'spawn',
    nodeGrants: isRestricted ? start.node : null,
    limits: start.limits,
    tmpMiB: TMP_MIB,
    usr,
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
    link: false,
    network: { kind: 'none' },
  });
}

function homeOf({ stateFolder }: AppCommand): string {
  return stateFolder === null ? '/tmp' : STATE_INSIDE;
}

interface Program {
  readonly executable: string;
  readonly args: readonly string[];
  readonly usr: boolean;
  readonly code: readonly Mount[];
  /** What an installed package needs to be found by its interpreter. */
  readonly env?: Readonly<Record<string, string>>;
}

function unavailable(message: string, help?: string) {
  return failed(fault('app-unavailable', message, help));
}

function isNodeCommand({ command }: Pick<AppCommand, 'command'>): boolean {
  return ['node', 'nodejs'].includes(basename(command));
}

function packageCall(app: AppCommand): Result<PackageCall | null, Fault> {
  return isNodeCommand(app) ? ok(null) : parsePackageLauncher(basename(app.command), app.args);
}

function resolveProgram(start: AppStart, { call, installed }: PackageWish): Result<Program, Fault> {
  if (isNodeCommand(start)) return nodeProgram(start.args, start);
  if (call === null) return hostProgram(start);
  // What was installed for this very command goes before what happens to lie beside the configuration.
  return installed === null ? packageBeside(call, start) : installedProgram(call, installed, start);
}

/** JS and TS apps run on our own Node, whatever `node` the host has, and see no other program. */
function nodeProgram(args: readonly string[], start: AppStart): Result<Program, Fault> {
  const script = withScript(args, NODE_VALUE_OPTIONS, start);
  return script.ok ? ok(ownNode(script.value.args, start, script.value.code)) : script;
}

/** The arguments with the real path of the script among them, and the code that it needs to see. */
function withScript(
  args: readonly string[],
  withValue: ReadonlySet<string>,
  start: AppStart,
): Result<Pick<Program, 'args' | 'code'>, Fault> {
  const at = scriptIndex(args, withValue);
  if (at === null) return ok({ args, code: [] });
  const script = resolveScript(args[at] ?? '', start);
  if (!script.ok) return script;
  const code = codeMounts(script.value, fenceOf(start));
  return code.ok ? ok({ args: args.with(at, script.value), code: code.value }) : code;
}

function ownNode(args: readonly string[], { limits }: AppCommand, code: readonly Mount[]): Program {
  const heap = `--max-old-space-size=${Math.max(64, Math.floor(limits.memoryMiB / 2))}`;
  return { executable: NODE_INSIDE, args: [heap, ...args], usr: false, code };
}

function packageBeside(call: PackageCall, start: AppStart): Result<Program, Fault> {
  const beside = call.ecosystem === 'npm' ? installedBin(call, start.configFolder) : ok(null);
  if (!beside.ok) return beside;
  if (beside.value !== null) return nodeProgram([beside.value, ...call.args], start);
  const packages = call.packages.map(({ spec }) => spec);
  return unavailable(
    `\`${packages.join(' ')}\` is not installed, and nothing is fetched while an app starts`,
    `run \`cordon apps install ${start.app ?? `-- ${commandFor(call)}`}\``,
  );
}

/** A short command for the same packages, as it is typed in a shell. */
function commandFor({ ecosystem, packages }: PackageCall): string {
  const specs = packages.map(({ spec }) => (/^[\w@./=-]+$/.test(spec) ? spec : `'${spec}'`));
  const [first = '', ...others] = specs;
  if (ecosystem === 'python') return ['uvx', ...others.map((spec) => `--with ${spec}`), first].join(' ');
  return others.length === 0 ? `npx ${first}` : `npx ${specs.map((spec) => `-p ${spec}`).join(' ')}`;
}

function installedProgram(call: PackageCall, host: CheckedPath, start: AppStart): Result<Program, Fault> {
  const code: readonly Mount[] = [{ host, inside: PACKAGE_INSIDE, access: 'read' }];
  if (call.ecosystem === 'npm') {
    const bin = binInFolder(call, host.host);
    if (!bin.ok) return bin;
    return ok(ownNode([`${PACKAGE_INSIDE}${bin.value.slice(host.host.length)}`, ...call.args], start, code));
  }
  const python = systemProgram('python3');
  if (python === undefined)
    return unavailable('`python3` was not found in the folders of the system', 'install Python 3');
  const bin = call.bin ?? call.packages[0]?.name ?? '';
  if (!existsSync(`${host.host}/bin/${bin}`))
    return unavailable(`the package has no program \`${bin}\``, 'name it: `uvx --from package program`');
  // No bytecode is written, and nothing is taken from the user's own packages.
  const env = { PYTHONPATH: PACKAGE_INSIDE, PYTHONDONTWRITEBYTECODE: '1', PYTHONNOUSERSITE: '1' };
  return ok({
    executable: python,
    args: [`${PACKAGE_INSIDE}/bin/${bin}`, ...call.args],
    usr: true,
    code,
    env,
  });
}

function hostProgram(start: AppStart): Result<Program, Fault> {
  const executable = findHostProgram(start);
  if (!executable.ok) return executable;
  const isOwnFile = !PROGRAM_FOLDERS.some((folder) => isWithin(executable.value, folder));
  const own = isOwnFile ? fileMount(executable.value, start) : ok([]);
  if (!own.ok) return own;
  const runsScript = INTERPRETERS.test(basename(start.command));
  const script = runsScript ? withScript(start.args, NONE, start) : ok({ args: start.args, code: [] });
  if (!script.ok) return script;
  const { args, code } = script.value;
  return ok({ executable: executable.value, args, usr: true, code: [...own.value, ...code] });
}

/** A name is looked up in the system's folders only, a path is taken as it is; PATH of the hub has no say. */
function findHostProgram(start: AppStart): Result<string, Fault> {
  const { command } = start;
  if (command.includes('/')) {
    const asked = resolve(baseOf(start), command);
    const file = checkPath(asked);
    if (!file.ok) return unavailable(`the command \`${command}\` does not exist`);
    return codePath(asked, file.value.host, start);
  }
  const found = systemProgram(command);
  return found === undefined
    ? unavailable(
        `the command \`${command}\` was not found in ${PROGRAM_FOLDERS.slice(0, 3).join(', ')}`,
        'install it for the whole system, or give the absolute path of a program file',
      )
    : ok(found);
}

function systemProgram(name: string): string | undefined {
  return PROGRAM_FOLDERS.map((folder) => `${folder}/${name}`).find((path) => existsSync(path));
}

/** A single program file outside /usr: that file and nothing beside it. */
function fileMount(path: string, start: AppStart): Result<readonly Mount[], Fault> {
  const host = checkPath(path);
  if (!host.ok) return host;
  if (host.value.kind !== 'file') return unavailable(`the command \`${path}\` is not a file`);
  if (isWithin(host.value.host, start.dataFolder))
    return unavailable(`the command \`${path}\` lies in Cordon's own data folder`);
  if (isWithin(host.value.host, '/usr')) return ok([]);
  return ok([{ host: host.value, inside: host.value.host, access: 'read' }]);
}

/** Node's options that take their value as a separate argument; every other option stands for itself. */
const NODE_VALUE_OPTIONS: ReadonlySet<string> = new Set([
  '-r',
  '--require',
  '--import',
  '--loader',
  '--experimental-loader',
  '-C',
  '--conditions',
  '--env-file',
  '--env-file-if-exists',
  '--input-type',
  '--stack-trace-limit',
]);

/** Options of other interpreters are not known one by one. */
const NONE: ReadonlySet<string> = new Set();

/**
 * Where among the arguments of a command its program stands, which is looked up on the host and shown to the app as code. Null: no
 * argument is one.
 */
export function scriptAt({ command, args }: Pick<AppCommand, 'command' | 'args'>): number | null {
  if (isNodeCommand({ command })) return scriptIndex(args, NODE_VALUE_OPTIONS);
  return INTERPRETERS.test(basename(command)) ? scriptIndex(args, NONE) : null;
}

/** Where the script's path stands among the arguments; null when the code is given otherwise (`-e`, `-c`, `-m`). */
function scriptIndex(args: readonly string[], withValue: ReadonlySet<string>): number | null {
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? '';
    if (arg === '--') return at + 1 < args.length ? at + 1 : null;
    if (/^(-e|-p|-pe|-c|-m|--eval|--print)$/.test(arg)) return null;
    if (withValue.has(arg)) at++;
    else if (!arg.startsWith('-')) return at;
  }
  return null;
}

/** The script's real path: Node and Python look for modules from there. */
function resolveScript(path: string, start: AppStart): Result<string, Fault> {
  const asked = resolve(baseOf(start), path);
  const script = checkPath(asked);
  if (script.ok && script.value.kind === 'file') return codePath(asked, script.value.host, start);
  return unavailable(`the script \`${path}\` does not exist in \`${baseOf(start)}\``);
}

/**
 * The real path of a program or script. Attack: a link that an app planted in place of it, or above it, makes another folder
 * of the user visible as code. A link that stays in the folder with the link (`node_modules/.bin`) shows nothing more.
 */
function codePath(asked: string, real: string, start: AppStart): Result<string, Fault> {
  const walk = walkLinks(asked);
  const planted = linksOfApps(walk?.links ?? [], start);
  if (!planted.ok) return planted;
  const leadsOut = planted.value.some(({ folders }) => !folders.some((folder) => isWithin(real, folder)));
  if (walk?.end === real && !leadsOut) return ok(real);
  return unavailable(
    `the program \`${asked}\` leads over a link out of a folder that an app may write`,
    'an app may have put it there: look at the link, and name the file that is meant',
  );
}

function baseOf(start: AppStart): string {
  return resolve(start.configFolder, start.cwd ?? '.');
}

function fenceOf({ configFolder, dataFolder, home, closed = [] }: CommandContext): CodeFence {
  return { never: dataFolder, notWhole: [configFolder, ...(home === null ? [] : [home]), ...closed] };
}

/** The state folder and what the manifest lists; a listed path that is missing is a fault. */
function grantedMounts(start: AppStart): Result<readonly Mount[], Fault> {
  const state = start.stateFolder === null ? null : stateMount(start.stateFolder);
  if (state?.ok === false) return state;
  const mounts: Mount[] = state === null ? [] : [state.value];
  const listed = [
    ...start.files.read.map((path) => ({ path, access: 'read' as const })),
    ...start.files.write.map((path) => ({ path, access: 'write' as const })),
  ];
  for (const { path, access } of listed) {
    const isState = start.stateFolder !== null && resolve(path) === resolve(start.stateFolder);
    const mount =
      isState && state !== null
        ? ok({
            ...state.value,
            inside: resolve(path),
            access: access === 'write' ? ('own' as const) : access,
          })
        : listedMount(path, access, start);
    if (!mount.ok) return mount;
    const same = mounts.findIndex(({ inside }) => inside === mount.value.inside);
    if (same >= 0) mounts.splice(same, 1); // listed for reading and for writing: writing, which comes later
    mounts.push(mount.value);
  }
  return ok(mounts);
}

function stateMount(folder: string): Result<Mount, Fault> {
  try {
    makeFolder(folder);
  } catch {
    return failed(fault('sandbox-unavailable', `the app's folder \`${folder}\` cannot be made`));
  }
  if (lstatSync(folder).isSymbolicLink())
    return failed(
      fault('sandbox-unavailable', `the app's folder \`${folder}\` is a link`, 'put the folder itself there'),
    );
  const host = checkPath(folder);
  return host.ok ? ok({ host: host.value, inside: STATE_INSIDE, access: 'own' }) : host;
}

function listedMount(path: string, access: 'read' | 'write', start: AppStart): Result<Mount, Fault> {
  if (!isAbsolute(path)) return unavailable(`the file permission \`${path}\` is not an absolute path`);
  const inside = resolve(path);
  const host = checkPath(inside);
  if (!host.ok)
    return failed(
      fault('app-unavailable', host.fault.message, 'make it, or leave it out of what the app may use'),
    );
  const data = existsSync(start.dataFolder) ? checkPath(start.dataFolder) : null;
  const fences = [start.dataFolder, ...(data?.ok === true ? [data.value.host] : [])];
  const reals = [inside, host.value.host];
  const meets = (fence: string) => reals.some((real) => isWithin(fence, real) || isWithin(real, fence));
  if (reals.includes('/') || fences.some(meets))
    return unavailable(
      `the file permission \`${path}\` would show Cordon's own data folder or the whole disk`,
    );
  if ((start.closed ?? []).some((file) => reals.some((real) => isWithin(file, real))))
    return unavailable(`the file permission \`${path}\` would show the app a key that Cordon reads`);
  // Attack: whoever answers there is asked for anything, and a mount that cannot be written is no obstacle.
  if (access === 'read' && host.value.kind === 'socket')
    return unavailable(
      `the file permission \`${path}\` is a socket, and who connects to it does more than read`,
      'list it among what the app may write, if it is meant to',
    );
  if (host.value.kind === 'socket' && start.unixSockets !== true)
    return unavailable(
      `the file permission \`${path}\` is a socket, and the app may not open Unix sockets`,
      'set `unixSockets` in its manifest to true: it can then connect to every socket in the folders that it sees',
    );
  const walk = walkLinks(inside);
  const planted = linksOfApps(walk?.links ?? [], start);
  if (!planted.ok) return planted;
  // Compared with what was checked before: links that come and go in between lead elsewhere.
  if (walk?.end !== host.value.host || planted.value.length > 0)
    return unavailable(
      `the file permission \`${path}\` leads over a link in a folder that an app may write`,
      'an app may have put it there: look at the link, and list the folder that is meant',
    );
  return ok({ host: host.value, inside, access });
}

/** A link on the way of a path, in a folder that an app may write, or once might. */
interface PlantedLink {
  /** That folder, and where it really is. */
  readonly folders: readonly string[];
}

/** Links that an app can have put there. What was granted earlier is looked up only where there is a link at all. */
function linksOfApps(
  links: LinkWalk['links'],
  { files, writable = [], writtenFolders }: AppStart,
): Result<readonly PlantedLink[], Fault> {
  if (links.length === 0) return ok([]);
  const written = readWrittenFolders(writtenFolders);
  if (!written.ok) return written;
  const folders = [...files.write, ...writable, ...written.value].flatMap((folder) => [
    resolve(folder),
    walkLinks(folder)?.end ?? resolve(folder),
  ]);
  return ok(
    links
      .map((link) => ({ folders: folders.filter((folder) => isWithin(link, folder) && link !== folder) }))
      .filter((planted) => planted.folders.length > 0),
  );
}

/** A grant on the same place as a folder of code wins: it is what the user wrote. */
function withoutCovered(code: readonly Mount[], granted: readonly Mount[]): readonly Mount[] {
  const seen = new Set(granted.map(({ inside }) => inside));
  return code.filter(({ inside }) => !seen.has(inside) && seen.add(inside));
}

function workingFolder(start: AppStart, mounts: readonly Mount[]): Result<string, Fault> {
  if (start.cwd === null) return ok(homeOf(start));
  const wanted = resolve(start.configFolder, start.cwd);
  if (mounts.some(({ inside }) => isWithin(wanted, inside))) return ok(wanted);
  return unavailable(
    `the working directory \`${wanted}\` is not visible to the app`,
    'list it in `manifest.files.read`, or leave `cwd` out: the app then starts in its own folder',
  );
}
