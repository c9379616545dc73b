/**
 * What a launcher's command line asks for: `npx -y package args`, `uvx --from package tool`, and their like in other
 * package managers. Pure: nothing is looked up or fetched here; an app that is started must not decide what code it is.
 */
import { type Fault, failed, fault, ok, type Result } from '@cordon/core';

export type Ecosystem = 'npm' | 'python';

export interface WantedPackage {
  /** With its scope (npm), or in its normal form (PEP 503). */
  readonly name: string;
  /** In the package manager's form: `name`, `name@^1.2`, `name[extra]==1.2`. */
  readonly spec: string;
  /** The one version that is asked for; null: a range, a tag or nothing. */
  readonly version: string | null;
}

export interface PackageCall {
  readonly ecosystem: Ecosystem;
  /** At least one; the first is the app's own. */
  readonly packages: readonly WantedPackage[];
  /** Name of the program in the packages; null: the one that the launcher would choose. */
  readonly bin: string | null;
  readonly args: readonly string[];
}

/** Under which installed packages are found again: the same words of a command mean the same installation. */
export function requestOf({ ecosystem, packages }: PackageCall): string {
  return `${ecosystem}:${packages.map(({ spec }) => spec).join(' ')}`;
}

interface PackageLauncher {
  readonly ecosystem: Ecosystem;
  /** Words that may follow the command, one of which must; none: the command itself is the launcher. */
  readonly subcommands: readonly string[];
  /** Options without a value that change nothing for an installed package. */
  readonly flags: readonly string[];
  /** Options whose value is the package that holds the program. */
  readonly from: readonly string[];
  /** Options whose value is one more package. */
  readonly also: readonly string[];
  /** Whether the package manager keeps options behind the program's name for itself, up to `--`. */
  readonly keepsOptions: boolean;
}

const QUIET = ['-q', '--quiet', '-s', '--silent'];
const NPX: PackageLauncher = {
  ecosystem: 'npm',
  subcommands: [],
  flags: ['-y', '--yes', ...QUIET],
  from: ['-p', '--package'],
  also: [],
  keepsOptions: false,
};
const UVX: PackageLauncher = {
  ecosystem: 'python',
  subcommands: [],
  flags: ['--isolated', '--no-progress', ...QUIET],
  from: ['--from'],
  also: ['--with'],
  keepsOptions: false,
};

const LAUNCHERS: ReadonlyMap<string, PackageLauncher> = new Map([
  ['npx', NPX],
  ['bunx', NPX],
  ['pnpx', NPX],
  ['npm', { ...NPX, subcommands: ['exec', 'x'], keepsOptions: true }],
  ['pnpm', { ...NPX, subcommands: ['dlx'] }],
  ['yarn', { ...NPX, subcommands: ['dlx'] }],
  ['bun', { ...NPX, subcommands: ['x'] }],
  ['uvx', UVX],
  ['uv', { ...UVX, subcommands: ['tool run'] }],
  ['pipx', { ...UVX, subcommands: ['run'], from: ['--spec'], also: [], flags: ['--no-cache', ...QUIET] }],
]);

/** Clients of a service that starts containers with the service's rights. */
const DAEMONS: ReadonlySet<string> = new Set(['docker', 'podman', 'nerdctl']);

export function refused(message: string, help?: string) {
  return failed(fault('app-unavailable', message, help));
}

/** `command`: the program's name without folders. Null: it is no launcher. An option that is not known is refused. */
export function parsePackageLauncher(
  command: string,
  args: readonly string[],
): Result<PackageCall | null, Fault> {
  if (DAEMONS.has(command))
    return refused(
      `\`${command}\` asks a service outside of the sandbox to start the app, so nothing here would confine it`,
      'name the program that the container starts, or a package of it with `npx` or `uvx`',
    );
  const launcher = LAUNCHERS.get(command);
  if (launcher === undefined) return ok(null);
  const words = launcher.subcommands.find((known) => args.slice(0, wordsIn(known)).join(' ') === known);
  if (launcher.subcommands.length > 0 && words === undefined)
    return refused(
      `of \`${command}\`, only \`${command} ${launcher.subcommands[0]}\` can start an app`,
      'name the program or script itself as the command',
    );
  const rest = args.slice(words === undefined ? 0 : wordsIn(words));
  return parseOptions([command, words].join(' ').trim(), launcher, rest);
}

function wordsIn(text: string): number {
  return text.split(' ').length;
}

function parseOptions(
  shown: string,
  launcher: PackageLauncher,
  args: readonly string[],
): Result<PackageCall, Fault> {
  const from: string[] = [];
  const also: string[] = [];
  let at = 0;
  for (; at < args.length; at++) {
    const arg = args[at] ?? '';
    if (arg === '--') {
      at++;
      break;
    }
    if (!arg.startsWith('-')) break;
    if (launcher.flags.includes(arg)) continue;
    const equals = arg.indexOf('=');
    const name = equals < 0 ? arg : arg.slice(0, equals);
    const into = launcher.from.includes(name) ? from : launcher.also.includes(name) ? also : null;
    if (into === null) return refused(`the option \`${arg}\` of \`${shown}\` is not understood`);
    into.push(equals < 0 ? (args[++at] ?? '') : arg.slice(equals + 1));
  }
  const [program, ...rest] = args.slice(at);
  const passed = launcher.keepsOptions ? behindDashes(shown, rest) : ok(rest);
  return passed.ok ? callOf(shown, launcher, from, also, program, passed.value) : passed;
}

/** `npm exec package --flag` gives the flag to npm and not to the program, which nobody means. */
function behindDashes(shown: string, rest: readonly string[]): Result<readonly string[], Fault> {
  const dashes = rest.indexOf('--');
  const before = dashes < 0 ? rest : rest.slice(0, dashes);
  const option = before.find((arg) => arg.startsWith('-'));
  if (option !== undefined)
    return refused(`\`${shown}\` keeps \`${option}\` for itself`, 'write `--` before the program');
  return ok(dashes < 0 ? rest : [...before, ...rest.slice(dashes + 1)]);
}

const PROGRAM = /^[A-Za-z0-9][\w.-]{0,127}$/;

function callOf(
  shown: string,
  { ecosystem }: PackageLauncher,
  from: readonly string[],
  also: readonly string[],
  program: string | undefined,
  args: readonly string[],
): Result<PackageCall, Fault> {
  if (program === undefined && from.length === 0) return refused(`\`${shown}\` names no package`);
  const bin = from.length === 0 ? null : (program ?? null);
  if (bin !== null && !PROGRAM.test(bin)) return refused(`\`${bin}\` is not the name of a program`);
  const packages: WantedPackage[] = [];
  for (const text of [...(from.length === 0 ? [program ?? ''] : from), ...also]) {
    const wanted = ecosystem === 'npm' ? npmPackage(text) : pythonPackage(text);
    if (wanted === null)
      return refused(
        `\`${text}\` is not the name of a package in a registry`,
        'addresses, folders, repositories and aliases are not fetched; write `name` or `name@version`',
      );
    packages.push(wanted);
  }
  return ok({ ecosystem, packages, bin, args });
}

const NPM_SPEC = /^((?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*)(?:@([\w.^~<>=|* +-]{1,100}))?$/i;
const EXACT_NPM = /^\d+\.\d+\.\d+[\w.+-]*$/;

function npmPackage(text: string): WantedPackage | null {
  const [, name, version] = NPM_SPEC.exec(text) ?? [];
  // No name of a package begins with a dash: it would be an option.
  if (name === undefined || name.startsWith('-') || name.length > 214) return null;
  return { name, spec: text, version: version !== undefined && EXACT_NPM.test(version) ? version : null };
}

const VERSION = String.raw`[A-Za-z0-9][\w.!+]*`;
const PYTHON_SPEC = new RegExp(
  String.raw`^([A-Za-z0-9](?:[\w.-]{0,98}[A-Za-z0-9])?)(\[[\w.,-]{1,200}\])?` +
    String.raw`(?:@(${VERSION})|((?:==|~=|!=|>=?|<=?)${VERSION}(?:\.\*)?(?:,(?:==|~=|!=|>=?|<=?)${VERSION}(?:\.\*)?){0,8}))?$`,
);

/** `tool@1.2` and `tool==1.2` are the same, `tool@latest` is `tool`. */
function pythonPackage(text: string): WantedPackage | null {
  const [, written, extras = '', at, range] = PYTHON_SPEC.exec(text.replaceAll(' ', '')) ?? [];
  if (written === undefined) return null;
  const name = written.toLowerCase().replace(/[-_.]+/g, '-');
  const pinned = at !== undefined && at !== 'latest' ? at : /^==([^*,]+)$/.exec(range ?? '')?.[1];
  const version = pinned ?? null;
  return { name, spec: `${name}${extras}${version === null ? (range ?? '') : `==${version}`}`, version };
}
