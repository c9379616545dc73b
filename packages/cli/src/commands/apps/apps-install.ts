/**
 * `cordon apps install`: the step in which packages of apps are fetched, in a sandbox without the user's data, so that
 * no app ever fetches what it runs.
 */
import { basename } from 'node:path';
import { type Configuration, mark } from '@cordon/config';
import { type Fault, fault, type InstalledApp, type Result } from '@cordon/core';
import {
  type Difference,
  type Fetched,
  fetchPackages,
  type Installer,
  type InstallProgress,
  type InstallRecord,
  installedRecord,
} from '@cordon/install';
import { renderTable } from '@cordon/print';
import {
  findInstalled,
  type PackageCall,
  parsePackageLauncher,
  recordFile,
  requestOf,
} from '@cordon/sandbox';
import type { CommandContext } from '../../context/command-context.ts';
import { EXIT, type ExitCode } from '../../context/exit.ts';
import { installerOf } from '../../context/installer.ts';
import { noSuchApp } from './no-such-app.ts';

export interface InstallOptions {
  /** Fetches also what is installed, and shows what would change. */
  readonly again?: boolean;
  /** Puts changes in force without asking. */
  readonly yes?: boolean;
}

/** Something to install: an app of the configuration, or a command that was typed. */
interface Wanted {
  /** The app's id, or the command. */
  readonly label: string;
  readonly call: Result<PackageCall | null, Fault>;
  /** Named by the user, so that having nothing to install is worth a line. */
  readonly isNamed: boolean;
}

/** `words`: ids of apps, none for all; or a command, which stands behind `--`. */
export async function installApps(
  context: CommandContext,
  words: readonly string[],
  { again = false, yes = false }: InstallOptions,
): Promise<ExitCode> {
  const configuration = context.configuration();
  if (configuration === null) return EXIT.failed;
  // Also for a command that was typed: the file says where packages are kept, and which layers their sandbox has.
  if (!(await context.agrees(configuration))) return EXIT.failed;
  const isCommand = process.argv.includes('--');
  const wanted = isCommand ? [commandOf(words)] : appsOf(context, configuration, words);
  if (wanted === null) return EXIT.failed;
  const { code, isStopped } = await installAll(context, configuration, wanted, { again, yes });
  return isStopped && code === EXIT.done ? EXIT.refused : code;
}

/** The packages of apps that stand in no file yet. The user has said yes to fetching them. */
export function installPackagesOf(
  context: CommandContext,
  configuration: Configuration,
  apps: readonly InstalledApp[],
): Promise<Installation> {
  const wanted = apps.flatMap((app) => wantedOf(app, false));
  return installAll(context, configuration, wanted, { again: false, yes: false });
}

/** How it ended. */
interface Installation {
  /** The largest of all packages; 1: the user did not want a change. */
  readonly code: ExitCode;
  /** The user stopped it. */
  readonly isStopped: boolean;
}

function installAll(
  context: CommandContext,
  configuration: Configuration,
  wanted: readonly Wanted[],
  options: Required<InstallOptions>,
): Promise<Installation> {
  return context.untilInterrupted(async (signal) => {
    const run = new Run(context, configuration, options, signal);
    let code: ExitCode = EXIT.done;
    for (const one of wanted) {
      if (signal.aborted) break;
      const next = await installed(run, one, context, configuration);
      // What was stopped did not fail.
      if (next > code && !signal.aborted) code = next;
    }
    run.reportRepeated();
    return { code, isStopped: signal.aborted };
  });
}

/** Installs one entry. From then on it counts as an app, which Cordon shows to the user before its first use. */
async function installed(
  run: Run,
  wanted: Wanted,
  context: CommandContext,
  { installableApps, apps, ownDataFolder, folder, entries }: Configuration,
): Promise<ExitCode> {
  const code = await run.install(wanted);
  const app = installableApps.find(({ id }) => id === wanted.label);
  if (code !== EXIT.done || app === undefined || apps.includes(app)) return code;
  const configured = entries.get(app.id)?.configured ?? null;
  const kept = mark({ ownDataFolder, folder, app: app.id, configured });
  if (kept.ok) return code;
  return context.reportFault(kept.fault);
}

function commandOf([command = '', ...args]: readonly string[]): Wanted {
  const label = [command, ...args].join(' ');
  return { label, call: parsePackageLauncher(basename(command), args), isNamed: true };
}

function appsOf(
  context: CommandContext,
  { apps: installed, installableApps }: Configuration,
  names: readonly string[],
): readonly Wanted[] | null {
  // What is not installed is fetched only if it is named.
  const open = installableApps.filter(
    ({ id }) => names.includes(id) && !installed.some((app) => app.id === id),
  );
  const apps = [...installed, ...open];
  for (const name of names) {
    if (apps.some(({ id }) => id === name)) continue;
    context.reportFault(noSuchApp(name, { apps }));
    return null;
  }
  const isNamed = names.length > 0;
  return apps.filter(({ id }) => !isNamed || names.includes(id)).flatMap((app) => wantedOf(app, isNamed));
}

function wantedOf({ id, source }: InstalledApp, isNamed: boolean): readonly Wanted[] {
  if (source.kind !== 'command') return [];
  return [{ label: id, call: parsePackageLauncher(basename(source.command), source.args), isNamed }];
}

class Run {
  readonly #context: CommandContext;
  readonly #dataFolder: string;
  readonly #options: Required<InstallOptions>;
  readonly #signal: AbortSignal;
  readonly #installer: Installer;
  readonly #done = new Set<string>();
  /** By what is wrong: whatever else it is wrong with. */
  readonly #repeated = new Map<string, string[]>();

  constructor(
    context: CommandContext,
    configuration: Configuration,
    options: Required<InstallOptions>,
    signal: AbortSignal,
  ) {
    this.#context = context;
    this.#dataFolder = configuration.dataFolder;
    this.#options = options;
    this.#signal = signal;
    this.#installer = installerOf(context, configuration);
  }

  async install({ label, call, isNamed }: Wanted): Promise<ExitCode> {
    if (!call.ok) return this.#failed(label, call.fault);
    if (call.value === null) {
      if (isNamed) this.#note(label, 'starts a program of this machine: there is nothing to install');
      return EXIT.done;
    }
    const request = requestOf(call.value);
    if (this.#done.has(request)) return EXIT.done;
    this.#done.add(request);
    const record = installedRecord(call.value, this.#dataFolder);
    const intact = await findInstalled(call.value, this.#dataFolder);
    if (!this.#options.again && record.ok && record.value !== null && intact.ok && intact.value !== null) {
      this.#unchanged(label, record.value);
      return EXIT.done;
    }
    if (!intact.ok) this.#note(label, `${intact.fault.message}; it is fetched again`);
    return this.#obtain(label, call.value);
  }

  async #obtain(label: string, call: PackageCall): Promise<ExitCode> {
    const fetched = await this.#packagesFor(label, call);
    if (!fetched.ok) return this.#failed(label, fetched.fault);
    const { record, difference, discard } = fetched.value;
    if (difference !== null && !(await this.#accepted(label, record, difference))) {
      discard();
      return EXIT.refused;
    }
    return this.#commit(label, fetched.value);
  }

  /** A line that is replaced says how far it is; where none can be, one line says how much there is to fetch. */
  async #packagesFor(label: string, call: PackageCall): ReturnType<typeof fetchPackages> {
    const { status, notes, wantsJson, now } = this.#context;
    const begunAt = now();
    let progress: InstallProgress = { kind: 'resolving', packages: 0 };
    const onProgress = (next: InstallProgress) => {
      const begins = progress.kind === 'resolving' && next.kind === 'fetching' && next.total > 1;
      progress = next;
      if (begins && !status.isPossible && !wantsJson)
        notes.say('', `fetching ${next.total} packages for ${label}`, 'dim');
    };
    const hide = status.show(() => `${progressInWords(progress, now() - begunAt)}: ${label}`);
    try {
      const { step, ...installer } = this.#installer;
      return await fetchPackages(call, { ...installer, step: { ...step, onProgress } }, this.#signal);
    } finally {
      hide();
    }
  }

  #commit(label: string, { commit }: Fetched): ExitCode {
    const committed = commit();
    if (!committed.ok) return this.#failed(label, committed.fault);
    this.#installed(label, committed.value);
    return EXIT.done;
  }

  /** The same files again are no change; everything else the user has to want. */
  async #accepted(label: string, record: InstallRecord, difference: Difference): Promise<boolean> {
    if (difference.isSame) return true;
    this.#showDifference(label, record, difference);
    if (this.#options.yes) return true;
    const { terminal, notes } = this.#context;
    if (!terminal.isInteractive) {
      notes.say('', 'nothing was changed: `--yes` accepts it');
      return false;
    }
    return terminal.isYes('Accept this change? [y/N] ', this.#signal);
  }

  #showDifference(label: string, { name }: InstallRecord, difference: Difference): void {
    if (this.#context.wantsJson)
      return this.#context.json({ kind: 'app.difference', label, name, ...difference });
    const { output } = this.#context;
    const { version, added, removed, changed, filesAdded, filesRemoved } = difference;
    output.say('', label, 'bold');
    output.say('  ', `${name} ${version.from} → ${version.to}`);
    for (const one of changed) if (one.name !== name) output.say('  ', `${one.name} ${one.from} → ${one.to}`);
    for (const one of added) output.say('  new dependency: ', `${one.name} ${one.version}`, 'warn');
    for (const one of removed) output.say('  no longer needed: ', `${one.name} ${one.version}`);
    printFiles(output, '  new files: ', filesAdded);
    printFiles(output, '  files gone: ', filesRemoved);
    if (version.from === version.to)
      output.say('  ', 'the version is the same but its files differ: check what changed', 'warn');
  }

  #installed(label: string, record: InstallRecord): void {
    const file = recordFile(this.#dataFolder, record.request);
    if (this.#context.wantsJson) return this.#context.json({ kind: 'app.installed', label, ...record, file });
    const { output } = this.#context;
    output.say('', label, 'bold');
    const others = record.packages.length - 1;
    const size = (record.bytes / 1024 / 1024).toFixed(1);
    output.say(
      '  ',
      `${record.name} ${record.version}${others === 0 ? '' : ` and ${others} more`}, ${record.files} files, ${size} MiB`,
    );
    output.say('  from: ', new URL(record.registry).host);
    output.say('  digest: ', record.digest);
    output.say('  record: ', file);
    // The others are in the record.
    const own = record.packages.filter(({ name }) => name === record.name);
    const rows = own.map(({ name, version, integrity }) => [name, version, integrity.slice(0, 27)]);
    renderTable(output, ['package', 'version', 'integrity'], rows);
  }

  #unchanged(label: string, record: InstallRecord): void {
    if (this.#context.wantsJson) return this.#context.json({ kind: 'app.unchanged', label, ...record });
    const day = record.installedAt.slice(0, 10);
    this.#note(
      label,
      `${record.name} ${record.version} was installed on ${day}; \`--again\` looks for changes`,
    );
  }

  #note(label: string, text: string): void {
    if (this.#context.wantsJson) return this.#context.json({ kind: 'app.note', label, text });
    this.#context.output.say(`${label}: `, text);
  }

  /** A registry that does not answer is reported once, for the first app. */
  #failed(label: string, { kind, message, help }: Fault): ExitCode {
    const others = this.#repeated.get(message);
    if (others !== undefined && !this.#context.wantsJson) {
      others.push(label);
      return EXIT.failed;
    }
    this.#repeated.set(message, []);
    return this.#context.reportFault(fault(kind, `\`${label}\`: ${message}`, help));
  }

  reportRepeated(): void {
    const labels = [...this.#repeated.values()].flat();
    if (labels.length > 0)
      this.#context.notes.say('', `not installed for the same reason: ${labels.join(', ')}`, 'bad');
  }
}

/** `45 of 122 packages, about 12 s left`. */
function progressInWords(progress: InstallProgress, milliseconds: number): string {
  const elapsed = `${Math.floor(milliseconds / 1000)} s`;
  if (progress.kind === 'resolving') {
    const known = progress.packages === 0 ? '' : `, ${progress.packages} so far`;
    return `finding out what it needs${known}, ${elapsed}`;
  }
  const { done, total, secondsLeft } = progress;
  if (done === total) return `${total} packages, unpacking them, ${elapsed}`;
  const left = secondsLeft === null ? elapsed : `about ${secondsLeft} s left`;
  return `${done} of ${total} packages, ${left}`;
}

const MOST_FILES_SHOWN = 10;

function printFiles(output: CommandContext['output'], label: string, files: readonly string[]): void {
  if (files.length === 0) return;
  const shown = files.slice(0, MOST_FILES_SHOWN).join(', ');
  const more = files.length - MOST_FILES_SHOWN;
  output.say(label, more > 0 ? `${shown} and ${more} more` : shown);
}
