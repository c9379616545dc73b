/**
 * `cordon apps remove`: takes an app out of the configuration file, says what is left of it elsewhere, and deletes that if
 * it is asked to. Starts nothing; the tokens of a login are revoked where they were issued.
 *
 * Attack (name reuse): another program is put behind the name of an app that was removed. What was permitted is bound to
 * what the app was (`appDigest`), so it permits nothing to another one; what depends on the name alone is reported here.
 */
import { existsSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { agreementToChange, type Configuration, isMarked, type MarkedEntry, unmark } from '@cordon/config';
import { forgetSecret, keptSecretNames } from '@cordon/config/keys';
import {
  isFile,
  type JsonMember,
  parseJsonFile,
  readTextFile,
  realPath,
  stateFolder,
  suggestion,
} from '@cordon/config/reading';
import { type AppId, type Fault, failed, fault, id, NAME_PATTERN, ok, type Result } from '@cordon/core';
import { forgetPackage, installedRecord } from '@cordon/install';
import { withoutMember } from '@cordon/onboarding/text';
import { counted } from '@cordon/print';
import { type PackageCall, parsePackageLauncher, requestOf } from '@cordon/sandbox';
import type { Store } from '@cordon/trace';
import { BrokenRows } from '../../context/broken-rows.ts';
import type { CommandContext } from '../../context/command-context.ts';
import { confirmed } from '../../context/confirmation.ts';
import { EXIT, type ExitCode } from '../../context/exit.ts';
import { mayOpen, usingStore } from '../../context/opened-store.ts';
import { replaceTextFile } from '../../context/replaced-file.ts';
import { deletedInWords } from '../../print/memory-text.ts';

export interface RemoveOptions {
  /** Deletes also what is left of the app outside of the file. */
  readonly purge?: boolean;
  /** Without asking. */
  readonly yes?: boolean;
}

/** Exit code 1: the user did not want it after all. 2: there is no such app, or something could not be written or revoked. */
export async function removeApp(
  context: CommandContext,
  name: string,
  { purge = false, yes = false }: RemoveOptions,
): Promise<ExitCode> {
  const configuration = context.configuration();
  if (configuration === null) return EXIT.failed;
  if (!(await mayOpen(context, configuration))) return EXIT.failed;
  const change = NAME_PATTERN.test(name) ? changeOf(configuration, name) : failed(unknownApp(name, []));
  if (!change.ok && !(purge && NAME_PATTERN.test(name))) return context.reportFault(change.fault);
  return withLeft(context, configuration, id(name), async (left) => {
    if (!change.ok && isNothing(left.found)) return context.reportFault(change.fault);
    const question = `Delete of \`${name}\`: ${inWords(left.found)}?${SHARED}`;
    if (purge && !isNothing(left.found) && !(await confirmed(context, question, yes))) return EXIT.refused;
    // Before anything is removed: where the revocation cannot even be tried, all stays.
    const end = purge ? await left.endLogin() : null;
    if (end?.ok === false) return context.reportFault(end.fault);
    if (change.ok && !written(context, configuration, name, change.value)) {
      if (end !== null && end.value !== null) context.reportFault(end.value);
      return EXIT.failed;
    }
    return end === null ? kept(context, name, left) : purged(context, name, left, end.value);
  });
}

const SHARED =
  ' The data folder keeps grants, memory, files and packages by app name, for the configurations of all folders.';

/** The file, before and after. */
interface Change {
  readonly file: string;
  readonly section: Section;
  readonly from: string;
  readonly to: string;
}

const SECTIONS = ['apps', 'mcpServers', 'installable'] as const;
type Section = (typeof SECTIONS)[number];

function changeOf({ file }: Configuration, name: string): Result<Change, Fault> {
  if (file === null) return failed(unknownApp(name, []));
  const text = readTextFile(file);
  const tree = text.ok ? parseJsonFile(file, text.value) : text;
  if (!text.ok || !tree.ok || tree.value.kind !== 'object')
    return failed(fault('usage', `\`${file}\` cannot be read`));
  const root = tree.value.members;
  const names: string[] = [];
  for (const section of SECTIONS) {
    const members = membersOf(root, section);
    const found = members.find(({ key }) => key === name);
    names.push(...members.map(({ key }) => key));
    if (found === undefined) continue;
    return ok({ file, section, from: text.value, to: withoutMember(text.value, members, found) });
  }
  return failed(unknownApp(name, names));
}

function membersOf(root: readonly JsonMember[], section: Section): readonly JsonMember[] {
  const value = root.find(({ key }) => key === section)?.value;
  return value?.kind === 'object' ? value.members : [];
}

/** Also an app that is disabled, or that could be installed, may be meant. */
function unknownApp(name: string, names: readonly string[]): Fault {
  const help = suggestion(name, names, '`cordon apps` lists them');
  return fault('app-unavailable', `there is no app \`${name.slice(0, 64)}\` in the configuration`, help);
}

function written(
  context: CommandContext,
  configuration: Configuration,
  name: string,
  { file, section, from, to }: Change,
): boolean {
  const replaced = replaceTextFile(file, to);
  if (!replaced.ok) {
    context.noteDiagnostics([replaced.fault]);
    return false;
  }
  const unkept = agreementToChange(configuration, { from, to }, context.now);
  if (unkept !== null) context.reportFault(unkept);
  if (context.wantsJson) context.json({ kind: 'app.removed', id: name, file, section });
  else context.output.say('', `\`${name}\` is removed from \`${section}\` of ${file}`, 'good');
  return true;
}

/** What there is of an app outside of the configuration file. */
interface Found {
  /** Whether it was agreed to. */
  readonly pin: boolean;
  /** Absent: there is none. */
  readonly login?: true;
  /** Grants in force in which it acts or receives. */
  readonly grants: number;
  readonly turns: number;
  readonly summaries: number;
  readonly facts: number;
  /** Its own folder, or null. */
  readonly files: string | null;
  /** The package that it was started from, if no other app of the configuration is; null: none. */
  readonly package: string | null;
  /** Whether its entry of `installable` counts as installed. */
  readonly installed: boolean;
  /** How many secrets the user typed for it and for nothing else; absent: none. */
  readonly secrets?: number;
}

interface Left {
  readonly found: Found;
  /** Revokes the login; null: it is revoked, or there is none. Failed: that was not tried. */
  readonly endLogin: () => Promise<Result<Fault | null, Fault>>;
  /** Deletes all of it; false: old texts are still in the file of the store. */
  readonly purge: () => boolean;
}

/** What is left while the store, if there is one, is open. Makes no store. */
async function withLeft(
  context: CommandContext,
  configuration: Configuration,
  app: AppId,
  use: (left: Left) => Promise<ExitCode>,
): Promise<ExitCode> {
  const outside = leftOutside(configuration, app, context.now);
  const none = { pin: false, grants: 0, turns: 0, summaries: 0, facts: 0 };
  if (!isFile(join(configuration.dataFolder, 'cordon.db')))
    return use({
      found: { ...none, ...outside.found },
      endLogin: async () => ok(null),
      purge: () => {
        outside.purge();
        return true;
      },
    });
  return usingStore(context, configuration, async (store) => {
    const broken = new BrokenRows('what is left of the app:');
    const inside = leftInStore(store, realPath(configuration.folder), app, broken);
    const code = await use({
      found: { ...inside.found, ...outside.found },
      endLogin: async () => {
        if (inside.found.login !== true) return ok(null);
        const { endLogin } = await import('../login/login.ts');
        return endLogin(context, configuration, store, app);
      },
      purge: () => {
        outside.purge();
        inside.purge();
        return store.scrub();
      },
    });
    const reported = broken.report(context);
    return code === EXIT.done ? reported : code;
  });
}

function leftInStore(
  { pins, grants, memories, logins }: Store,
  place: string,
  app: AppId,
  { collect }: BrokenRows,
) {
  const given = grants.list({ live: true, app }, collect);
  const hasLogin = logins.list().some((login) => login.place === place && login.app === app);
  const of = memories.overview(collect).find(({ owner }) => owner.kind === 'spoke' && owner.app === app);
  const { turns = 0, summaries = 0, facts = 0 } = of ?? {};
  return {
    found: {
      pin: pins.list(place, collect).some((pin) => pin.app === app),
      ...(hasLogin ? { login: true as const } : {}),
      grants: given.length,
      turns,
      summaries,
      facts,
    },
    purge: () => {
      pins.remove(place, app);
      logins.remove(place, app);
      for (const grant of given) grants.revoke(grant.id);
      memories.deleteOwner({ kind: 'spoke', app });
    },
  };
}

function leftOutside(configuration: Configuration, app: AppId, now: () => number) {
  const { dataFolder } = configuration;
  const folder = stateFolder(dataFolder, app);
  const call = packageOf(configuration, app);
  const record = call === null ? null : installedRecord(call, dataFolder);
  const name = record?.ok === true ? (record.value?.name ?? null) : null;
  const mark = markedEntry(configuration, app);
  const installed = mark !== null && isMarked(mark);
  const secrets = secretsOf(configuration, app);
  return {
    found: {
      files: existsSync(folder) ? folder : null,
      package: name,
      installed,
      ...(secrets.length === 0 ? {} : { secrets: secrets.length }),
    },
    purge: () => {
      rmSync(folder, { recursive: true, force: true });
      if (call !== null && name !== null) forgetPackage(call, { dataFolder, now });
      if (mark !== null) unmark(mark);
      for (const secret of secrets) forgetSecret(configuration, secret);
    },
  };
}

/** Names of secrets that its entry has, or had when `cordon init` wrote it, and that no other entry and no registry has. */
function secretsOf(configuration: Configuration, app: AppId): readonly string[] {
  const isOf = (name: string, isApp: (other: AppId) => boolean) =>
    configuration.handedVariables.some(
      ({ app: other, variable }) => variable === `secret ${name}` && isApp(other),
    );
  const ofRegistries = new Set([...configuration.packages.credentials.values()].map(({ name }) => name));
  return keptSecretNames(configuration).filter(
    (name) =>
      !ofRegistries.has(name) &&
      (name.startsWith(`${app}.`) || isOf(name, (other) => other === app)) &&
      !isOf(name, (other) => other !== app),
  );
}

/** Null: it is started from none, or other apps are too. */
function packageOf({ apps, installableApps }: Configuration, app: AppId): PackageCall | null {
  const callOf = (wanted: (other: AppId) => boolean) =>
    [...apps, ...installableApps].flatMap(({ id: other, source }) => {
      if (!wanted(other) || source.kind !== 'command') return [];
      const call = parsePackageLauncher(basename(source.command), source.args);
      return call.ok && call.value !== null ? [call.value] : [];
    });
  const [own] = callOf((other) => other === app);
  if (own === undefined) return null;
  const shared = callOf((other) => other !== app).some((other) => requestOf(other) === requestOf(own));
  return shared ? null : own;
}

function markedEntry(configuration: Configuration, app: AppId): MarkedEntry | null {
  const { installableApps, ownDataFolder, folder, entries } = configuration;
  if (!installableApps.some((one) => one.id === app)) return null;
  return { ownDataFolder, folder, app, configured: entries.get(app)?.configured ?? null };
}

function isNothing({
  pin,
  login,
  grants,
  turns,
  summaries,
  facts,
  files,
  package: from,
  installed,
  secrets = 0,
}: Found): boolean {
  return (
    secrets === 0 &&
    !pin &&
    !login &&
    !installed &&
    files === null &&
    from === null &&
    grants + turns + summaries + facts === 0
  );
}

function inWords(found: Found): string {
  const { pin, login, grants, files, package: from, installed, secrets = 0 } = found;
  const memory = deletedInWords(found);
  const parts = [
    ...(pin ? ['what you agreed to of it'] : []),
    ...(login === true ? ['your login'] : []),
    ...(grants === 0 ? [] : [counted(grants, 'grant')]),
    ...(memory === 'nothing' ? [] : [`its memory (${memory})`]),
    ...(files === null ? [] : [`its files in ${files}`]),
    ...(from === null ? [] : [`the package ${from}`]),
    ...(installed ? ['that it is installed'] : []),
    ...(secrets === 0 ? [] : [counted(secrets, 'secret')]),
  ];
  return new Intl.ListFormat('en').format(parts);
}

function purged(
  context: CommandContext,
  name: string,
  { found, purge }: Left,
  unrevoked: Fault | null,
): ExitCode {
  const { output, notes } = context;
  const scrubbed = purge();
  const exit = unrevoked === null ? EXIT.done : context.reportFault(unrevoked);
  if (context.wantsJson) {
    const revoked = found.login === true ? { revoked: unrevoked === null } : {};
    context.json({ kind: 'app.purged', id: name, ...found, ...revoked, scrubbed });
    return exit;
  }
  if (found.login === true && unrevoked === null) output.say('', 'the tokens of your login are revoked');
  output.say('', isNothing(found) ? 'nothing else is left of it' : `deleted: ${inWords(found)}`);
  if (!scrubbed)
    notes.say('!! ', 'another process uses the store: its file still contains the deleted texts', 'warn');
  return exit;
}

/** Tells what is left; a person at a terminal may have it deleted at once. */
async function kept(context: CommandContext, name: string, left: Left): Promise<ExitCode> {
  const { wantsJson, output, notes, terminal } = context;
  if (wantsJson) {
    context.json({ kind: 'app.left', id: name, ...left.found });
    return EXIT.done;
  }
  if (isNothing(left.found)) {
    output.say('', 'nothing else is left of it');
    return EXIT.done;
  }
  output.say('', `left of it: ${inWords(left.found)}`);
  notes.say(
    '',
    'adding the same entry again restores this; another program under this name gets its memory and files, but no permission',
    'dim',
  );
  if (terminal.isInteractive && (await confirmed(context, `Delete this too?${SHARED}`, false, 'it stays'))) {
    const end = await left.endLogin();
    return end.ok ? purged(context, name, left, end.value) : context.reportFault(end.fault);
  }
  const all = left.found.package === null ? 'deletes it' : 'deletes it, but for the package';
  notes.say('', `\`cordon apps remove ${name} --purge\` ${all}`, 'dim');
  return EXIT.done;
}
