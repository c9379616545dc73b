/**
 * `cordon apps`, `list` and `show`: what is installed, what each may do, what will have to be asked, and what was
 * agreed to of it. Starts nothing.
 */

import { basename, join } from 'node:path';
import { type Configuration, isInEffect } from '@cordon/config';
import { isFile, realPath } from '@cordon/config/reading';
import { appParts, drawFindings, leftOutText } from '@cordon/console/review';
import type { AppId, InstalledApp } from '@cordon/core';
import {
  type AppDescription,
  type AppLogins,
  appTools,
  descriptionDigest,
  isIrreversible,
  readDescription,
} from '@cordon/hub';
import { installedRecord } from '@cordon/install';
import { renderTable } from '@cordon/print';
import { knownApps, type OtherApp, storedLogins, storedPins } from '@cordon/runtime/compose';
import { openJournal } from '@cordon/runtime/journal';
import { findInstalled, parsePackageLauncher } from '@cordon/sandbox';
import { scannedDescription } from '@cordon/scan/description';
import type { Pin, Store } from '@cordon/trace';
import { BrokenRows } from '../../context/broken-rows.ts';
import type { CommandContext } from '../../context/command-context.ts';
import { EXIT, type ExitCode } from '../../context/exit.ts';
import { freeTexts } from './free-texts.ts';
import { noSuchApp } from './no-such-app.ts';

export async function apps(context: CommandContext): Promise<ExitCode> {
  const configuration = context.configuration();
  if (configuration === null) return EXIT.failed;
  if (configuration.apps.length === 0 && !context.wantsJson) return printNone(context, configuration);
  const agreements = agreementsOf(configuration, context.now);
  for (const app of configuration.apps) {
    const described = await describe(app, configuration, agreements);
    if (context.wantsJson) context.json({ kind: 'app', ...described });
    else print(context, described);
  }
  return agreements.broken.report(context);
}

export function listApps(context: CommandContext): ExitCode {
  const configuration = context.configuration();
  if (configuration === null) return EXIT.failed;
  if (configuration.apps.length === 0 && !context.wantsJson) return printNone(context, configuration);
  const { states, broken } = agreementsOf(configuration, context.now);
  const rows = configuration.apps.map(({ id }) => ({ id, ...stateOf(states, id) }));
  if (context.wantsJson) for (const row of rows) context.json({ kind: 'app.state', ...row });
  else
    renderTable(
      context.output,
      ['app', 'state', 'since', 'digest'],
      rows.map(({ id, state, since, digest }) => [
        id,
        STATE_WORDS[state],
        since === null ? '' : new Date(since).toISOString().slice(0, 10),
        digest?.slice(0, 19) ?? '',
      ]),
    );
  return broken.report(context);
}

/** Exit code 1: nothing is agreed to, or it has changed; then the text is the last that was. */
export async function showApp(context: CommandContext, name: string): Promise<ExitCode> {
  const configuration = context.configuration();
  if (configuration === null) return EXIT.failed;
  const app = configuration.apps.find(({ id }) => id === name);
  if (app === undefined) return context.reportFault(noSuchApp(name, configuration));
  const agreements = agreementsOf(configuration, context.now);
  const description = describedBy(app, agreements);
  const described = await describe(app, configuration, agreements);
  const findings = description === null ? [] : scannedDescription(description, app.id, agreements.known);
  const { state } = stateOf(agreements.states, app.id);
  if (context.wantsJson) {
    const pin = description === null ? null : descriptionDigest(description);
    context.json({ kind: 'app', ...described, pin, description, findings });
  } else {
    print(context, described);
    if (description !== null) printDescription(context, app, description, configuration);
    if (description !== null) drawFindings(context.output, findings);
  }
  return AGREED.has(state) ? EXIT.done : EXIT.refused;
}

const AGREED: ReadonlySet<AgreementState> = new Set(['agreed', 'demanded', 'own']);

function printNone({ output }: CommandContext, configuration: Configuration): ExitCode {
  const where = configuration.file ?? configuration.searched.join(' or ');
  output.say('', `no apps are installed; add them under \`apps\` or \`mcpServers\` in ${where}`);
  return EXIT.done;
}

/** `own`: all that it says is in the configuration. `demanded`: its digest does, and it was not used yet. `file`: the configuration itself was not agreed to. */
type AgreementState = 'agreed' | 'demanded' | 'new' | 'changed' | 'own' | 'file' | 'broken';

const STATE_WORDS: Readonly<Record<AgreementState, string>> = {
  agreed: 'agreed to',
  demanded: 'agreed to by its pin, not used yet',
  new: 'never reviewed',
  changed: 'changed: stopped until reviewed',
  own: 'a text of the configuration',
  file: 'the configuration was not agreed to',
  broken: 'its agreement is damaged: review it again',
};

interface AppAgreement {
  readonly state: AgreementState;
  readonly since: number | null;
  readonly digest: string | null;
}

interface Agreements {
  /** The user's own, where a file without agreement names another. */
  readonly dataFolder: string;
  readonly states: ReadonlyMap<string, AppAgreement>;
  readonly pins: ReadonlyMap<string, Pin>;
  readonly known: readonly OtherApp[];
  /** Of apps that run elsewhere. */
  readonly logins: ReadonlyMap<string, NonNullable<ReturnType<AppLogins['find']>>>;
  /** Agreements of the store that are not what was written. */
  readonly broken: BrokenRows;
}

/** A file without agreement has no say about data folders. */
function agreementsOf(configuration: Configuration, now: () => number): Agreements {
  const isAgreed = isInEffect(configuration, now);
  const store =
    isAgreed && isFile(join(configuration.dataFolder, 'cordon.db')) ? openJournal(configuration) : null;
  if (store === null || !store.ok) {
    const states = configuration.apps.map(({ id, source }): [string, AppAgreement] => {
      const state = !isAgreed ? 'file' : source.kind === 'instructions' ? 'own' : unused(configuration, id);
      return [id, { state, since: null, digest: null }];
    });
    return {
      dataFolder: isAgreed ? configuration.dataFolder : configuration.ownDataFolder,
      states: new Map(states),
      pins: new Map(),
      known: configuration.apps.map(({ id }) => ({ id, tools: [] })),
      logins: new Map(),
      broken: newBroken(),
    };
  }
  try {
    return storedAgreements(configuration, store.value);
  } finally {
    store.value.close();
  }
}

function unused({ entries }: Configuration, app: AppId): 'demanded' | 'new' {
  return (entries.get(app)?.pin ?? null) === null ? 'new' : 'demanded';
}

function storedAgreements(configuration: Configuration, store: Store): Agreements {
  const vetted = storedPins(configuration, store, configuration.apps);
  const broken = newBroken();
  const listed = store.pins.list(realPath(configuration.folder), broken.collect);
  const pins = new Map(listed.map((pin) => [String(pin.app), pin]));
  const states = configuration.apps.map(({ id, source }): [string, AppAgreement] => {
    const pin = pins.get(id);
    if (broken.has(id)) return [id, { state: 'broken', since: null, digest: null }];
    const digest = vetted.digest(id);
    if (source.kind === 'instructions') return [id, { state: 'own', since: null, digest }];
    if (pin === undefined) return [id, { state: unused(configuration, id), since: null, digest: null }];
    return [id, { state: digest === null ? 'changed' : 'agreed', since: pin.pinnedAt, digest: pin.digest }];
  });
  const { dataFolder } = configuration;
  const readable = configuration.apps.filter(({ id }) => !broken.has(id));
  const known = knownApps({ ...configuration, apps: readable }, store);
  const kept = storedLogins(configuration, store);
  const logins = configuration.apps.flatMap((app) => {
    const login = kept.find(app);
    return login === null ? [] : [[String(app.id), login] as const];
  });
  return { dataFolder, states: new Map(states), pins, known, logins: new Map(logins), broken };
}

function newBroken(): BrokenRows {
  return new BrokenRows('the agreement with');
}

function stateOf(states: Agreements['states'], id: string): AppAgreement {
  return states.get(id) ?? { state: 'new', since: null, digest: null };
}

/** What the installed apps say of themselves, as it was agreed to; an app without is one that was not reviewed. */
export function agreedDescriptions(
  configuration: Configuration,
  now: () => number,
): ReadonlyMap<AppId, AppDescription> {
  const agreements = agreementsOf(configuration, now);
  return new Map(
    configuration.apps.flatMap((app): [AppId, AppDescription][] => {
      const description = describedBy(app, agreements);
      return description === null ? [] : [[app.id, description]];
    }),
  );
}

function describedBy({ id, source }: InstalledApp, { pins }: Agreements): AppDescription | null {
  if (source.kind === 'instructions') return { instructions: source.instructions, tools: [] };
  const pin = pins.get(id);
  return pin === undefined ? null : readDescription(pin.description);
}

function print({ output }: CommandContext, described: Awaited<ReturnType<typeof describe>>): void {
  const { id, description, source, ...rights } = described;
  output.say('', id, 'bold');
  output.say('  ', description ?? 'no description: the planner sees only its name');
  output.say('  ', source, 'dim');
  for (const [name, value] of Object.entries(rights)) output.say(`  ${name}: `, value);
  output.line();
}

function printDescription(
  { output }: CommandContext,
  app: InstalledApp,
  description: AppDescription,
  { entries }: Configuration,
): void {
  for (const { title, text } of appParts(entries.get(app.id)?.configured ?? null, description)) {
    output.say('', title, 'bold');
    output.quote(text, Number.POSITIVE_INFINITY);
  }
  if (app.source.kind !== 'instructions') output.say('pin: ', descriptionDigest(description));
}

async function describe(app: InstalledApp, configuration: Configuration, agreements: Agreements) {
  const { manifest } = app;
  const { handedVariables } = configuration;
  const { read, write } = manifest.files;
  const variables = handedVariables.filter((handed) => handed.app === app.id).map(({ variable }) => variable);
  const { state, since, digest } = stateOf(agreements.states, app.id);
  const day = since === null ? '' : ` since ${new Date(since).toISOString().slice(0, 10)}`;
  return {
    id: app.id,
    description: manifest.description,
    source: sourceOf(app),
    ...(await installationOf(app, agreements.dataFolder)),
    review: `${STATE_WORDS[state]}${day}${digest === null ? '' : `, ${digest.slice(0, 19)}…`}`,
    serves: listed(
      manifest.functionalities.map(({ name }) => name),
      'nothing to other apps unless the plan names it',
    ),
    'free text in requests': listed(freeTextsOf(app, 'request'), 'none'),
    'free text in answers': listed(freeTextsOf(app, 'response'), 'none'),
    network: listed(manifest.network, 'none'),
    credentials: listed(
      manifest.credentials.map(({ name, hosts }) => `${name} (${hosts.join(', ')})`),
      'none',
    ),
    reads: listed(read, 'no files'),
    writes: listed(write, 'no files'),
    'asks before': askedBefore(app, agreements),
    'untrusted output': manifest.untrusted === null ? 'all' : listed(manifest.untrusted, 'none'),
    'private output': manifest.private === null ? 'all' : listed(manifest.private, 'none'),
    'reads environment variables': listed(variables, 'nothing'),
    ...loginOf(app, agreements),
    ...leftOutOf(app, agreements),
  };
}

/** Absent for apps that run here. */
function loginOf({ id, source }: InstalledApp, { logins }: Agreements): { readonly login?: string } {
  if (source.kind !== 'url') return {};
  const login = logins.get(id);
  if (login === undefined) return { login: 'none' };
  const { issuer, since, tokens } = login;
  return {
    login: `${issuer} since ${new Date(since).toISOString().slice(0, 10)}, granted: ${tokens.scope ?? 'not said'}`,
  };
}

/** Absent where Cordon acts on all that the app said when it was reviewed. */
function leftOutOf(app: InstalledApp, agreements: Agreements): { readonly 'left out'?: string } {
  const { leftOut = [] } = describedBy(app, agreements) ?? {};
  return leftOut.length === 0 ? {} : { 'left out': leftOut.map(leftOutText).join('; ') };
}

/** What crosses to others as a reference, or after a question, because it can say anything. */
function freeTextsOf({ manifest }: InstalledApp, side: 'request' | 'response'): readonly string[] {
  return manifest.functionalities.flatMap((served) => {
    const texts = freeTexts(served[side]);
    return texts.length === 0 ? [] : [`${served.name} (${texts.join(', ')})`];
  });
}

/** By the tools that were agreed to, where they are known; else by the rule. */
function askedBefore(app: InstalledApp, agreements: Agreements): string {
  const description = describedBy(app, agreements);
  if (description !== null && app.source.kind !== 'instructions') {
    const asked = appTools(description).filter((tool) => isIrreversible(app.manifest, tool));
    return listed(
      asked.map(({ name }) => name),
      'nothing',
    );
  }
  return app.manifest.irreversible === null
    ? 'every tool that does not declare itself read-only'
    : listed(app.manifest.irreversible, 'nothing');
}

function sourceOf({ source }: InstalledApp): string {
  switch (source.kind) {
    case 'command':
      return [source.command, ...source.args].join(' ');
    case 'url':
      return source.url;
    case 'instructions':
      return 'instructions only';
    default:
      source satisfies never;
      return '';
  }
}

/** For a command like `npx package`: what it would start. Nothing for others. */
async function installationOf(
  { id, source }: InstalledApp,
  dataFolder: string,
): Promise<{ readonly installed?: string }> {
  const call = source.kind === 'command' ? parsePackageLauncher(basename(source.command), source.args) : null;
  if (call === null || (call.ok && call.value === null)) return {};
  if (!call.ok || call.value === null)
    return { installed: `cannot be: ${call.ok ? '' : call.fault.message}` };
  const record = installedRecord(call.value, dataFolder);
  if (!record.ok || record.value === null)
    return { installed: `not by \`cordon apps install ${id}\`; what lies beside the configuration is taken` };
  const { name, version, installedAt, digest } = record.value;
  const intact = await findInstalled(call.value, dataFolder);
  const state = intact.ok ? `${digest.slice(0, 12)}…` : intact.fault.message;
  return { installed: `${name} ${version} since ${installedAt.slice(0, 10)}, ${state}` };
}

function listed(names: readonly string[], none: string): string {
  return names.length === 0 ? none : names.join(', ');
}
