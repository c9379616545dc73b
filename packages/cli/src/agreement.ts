/**
 * Configuration files that were found in the current folder, where somebody else may have put them: nothing of such a
 * file takes effect before the user has agreed to it, by its path and content.
 *
 * Ring 0: a file decides which programs are started and what they are given.
 */
import { join } from 'node:path';
import { type Fault, failed, fault, ok, type Result, type ToolLabels } from '@cordon/core';
import { openStore } from '@cordon/trace';
import { type Configuration, digestOfText } from './config.ts';
import { DEFAULT_PACKS } from './packs.ts';
import { isFile, realPath } from './paths.ts';
import type { Screen } from './screen.ts';
import type { Terminal } from './terminal.ts';
import { visibleLine } from './visible-text.ts';

const FRAME = '▐ ';

export interface AgreementParts {
  readonly screen: Screen;
  readonly terminal: Terminal;
  readonly now: () => number;
  /** The user said so on the command line. */
  readonly agreesUnasked: boolean;
  readonly signal: AbortSignal;
}

/** Whether the file may take effect; null: it may. What is remembered stands where the file cannot say. */
export async function agreementTo(
  configuration: Configuration,
  parts: AgreementParts,
): Promise<Fault | null> {
  const { file, origin, ownDataFolder } = configuration;
  if (file === null || origin !== 'found') return null;
  const digest = agreedDigest(configuration);
  const path = realPath(file);
  const known = remembered(ownDataFolder, path, digest, parts.now);
  if (!known.ok) return known.fault;
  if (known.value === 'agreed') return null;
  if (!parts.agreesUnasked && !(await isAgreed(configuration, known.value, parts)))
    return refusal(file, known.value);
  return remember(ownDataFolder, path, digest, parts.now);
}

/**
 * The same for the registry that a package manager's file in the current folder names; `named` as it would be used. The
 * user agrees to this address only. Attack: the same file names another registry for packages of a scope, or is also the
 * `cordon.json` of a folder.
 */
export async function agreementToRegistry(
  named: { readonly file: string; readonly text: string; readonly url: string },
  ownDataFolder: string,
  parts: Omit<AgreementParts, 'agreesUnasked'>,
): Promise<Fault | null> {
  const { screen, terminal, now } = parts;
  const path = realPath(named.file);
  // Begins with what no configuration begins with.
  const digest = digestOfText(`registry ${named.url}\n${named.text}`);
  const known = remembered(ownDataFolder, path, digest, now);
  if (!known.ok) return known.fault;
  if (known.value === 'agreed') return null;
  if (!terminal.isInteractive) return registryRefusal(named);
  screen.line();
  screen.line(screen.style('bold', `${FRAME}REGISTRY: named by a file in this folder`));
  screen.say(`${FRAME}file: `, named.file);
  screen.say(`${FRAME}packages would come from: `, named.url, 'warn');
  const prompt = `${FRAME}Fetch packages from there? [y] yes  [n] no (default) > `;
  if (!(await isYes(prompt, parts))) return registryRefusal(named);
  return remember(ownDataFolder, path, digest, now);
}

function registryRefusal({ file, url }: { readonly file: string; readonly url: string }): Fault {
  const message = `\`${visibleLine(file, 300)}\` names the registry ${visibleLine(url, 300)}, which you have not agreed to`;
  const help = '`cordon apps install`, at a terminal, asks; `npm_config_registry=URL` names one yourself';
  return fault('app-unreviewed', message, help);
}

async function isYes(
  prompt: string,
  { terminal, signal }: Pick<AgreementParts, 'terminal' | 'signal'>,
): Promise<boolean> {
  const reply = await terminal.ask({ prompt, takes: 'answer' }, signal);
  return reply.kind === 'line' && /^y(es)?$/i.test(reply.text.trim());
}

/** Whether the file may take effect as things are; asks nobody, and creates nothing. */
export function isInEffect(configuration: Configuration, now: () => number): boolean {
  const { file, origin, ownDataFolder } = configuration;
  if (file === null || origin !== 'found') return true;
  if (!isFile(join(agreedFolder(ownDataFolder), 'cordon.db'))) return false;
  const known = remembered(ownDataFolder, realPath(file), agreedDigest(configuration), now);
  return known.ok && known.value === 'agreed';
}

/**
 * What is agreed to: the text of the file, and every file of the modules that it names. Attack: the file stays as it was, and
 * the predicate that it names always says that all is well.
 */
function agreedDigest({ digest, asking }: Pick<Configuration, 'digest' | 'asking'>): string {
  const { modules } = asking;
  if (modules.length === 0) return digest;
  return digestOfText([digest, ...modules.map((one) => `${one.file}\n${one.digest}`)].join('\n'));
}

/**
 * To be called where the user had a file changed by this program, from one text to another: where the first was in effect,
 * nobody is asked about the second. Null: so it is, or it has to be agreed to as any other change.
 */
export function agreementToChange(
  before: Configuration,
  texts: { readonly from: string; readonly to: string },
  now: () => number,
): Fault | null {
  const { file, origin, digest, asking, ownDataFolder } = before;
  if (file === null || origin !== 'found' || !isInEffect(before, now)) return null;
  // Attack: a text that somebody else put there since would be agreed to with what is added.
  if (digestOfText(texts.from) !== digest) return null;
  return remember(
    ownDataFolder,
    realPath(file),
    agreedDigest({ digest: digestOfText(texts.to), asking }),
    now,
  );
}

/** A store of its own: it holds paths and digests, needs no key, and is where no file says. */
function agreedFolder(ownDataFolder: string): string {
  return join(ownDataFolder, 'agreed');
}

type Known = 'agreed' | 'changed' | 'new';

function remembered(folder: string, path: string, digest: string, now: () => number): Result<Known, Fault> {
  const store = openStore(agreedFolder(folder), now);
  if (!store.ok) return failed(unusable(store.fault));
  const { pins } = store.value;
  const known: Known = pins.hasAgreedTo(path, digest) ? 'agreed' : pins.knowsFile(path) ? 'changed' : 'new';
  store.value.close();
  return ok(known);
}

function remember(folder: string, path: string, digest: string, now: () => number): Fault | null {
  const store = openStore(agreedFolder(folder), now);
  if (!store.ok) return unusable(store.fault);
  store.value.pins.agreeTo(path, digest);
  store.value.close();
  return null;
}

function unusable({ message, help }: { message: string; help: string }): Fault {
  return fault('journal-unavailable', message, help);
}

function refusal(file: string, known: Known): Fault {
  const shown = visibleLine(file, 300);
  const message =
    known === 'changed'
      ? `\`${shown}\` has changed since you agreed to it`
      : `\`${shown}\` is in this folder and starts programs, and you have not agreed to it`;
  return fault(
    'app-unreviewed',
    message,
    `\`cordon apps review\`, run at a terminal, shows it and asks; \`--config ${shown}\` accepts it as it is`,
  );
}

/** Only a person at a terminal: a pipe has no eyes. */
async function isAgreed(
  configuration: Configuration,
  known: Exclude<Known, 'agreed'>,
  parts: AgreementParts,
): Promise<boolean> {
  const { screen, terminal } = parts;
  if (!terminal.isInteractive) return false;
  drawFile(screen, configuration, known);
  return isYes(`${FRAME}Use this file? [y] yes  [n] no (default) > `, parts);
}

const LOOSER: readonly (readonly [string, (says: Partial<ToolLabels>) => boolean])[] = [
  ['change nothing', ({ readOnly }) => readOnly === true],
  ['can be undone', ({ irreversible }) => irreversible === false],
  ['send nothing to others', ({ outward }) => outward === false],
  ['return nothing that others wrote', ({ untrusted }) => untrusted === false],
  ['return nothing private', (says) => says.private === false],
  ['have arguments that name nothing', ({ identifying }) => Array.isArray(identifying)],
];

/** What the file says of tools so that less is asked, and of which. */
function looserLabels(apps: Configuration['apps']): readonly (readonly [string, readonly string[]])[] {
  const named = apps.flatMap(({ id, manifest }) =>
    (manifest.labels ?? []).map(({ tool, says }) => ({ name: `${id}/${tool}`, says })),
  );
  return LOOSER.map(([words, isSo]): [string, string[]] => [
    words,
    named.filter(({ says }) => isSo(says)).map(({ name }) => name),
  ]).filter(([, names]) => names.length > 0);
}

/** What the file would do, in the order of its consequences. */
export function drawFile(screen: Screen, configuration: Configuration, known: 'changed' | 'new'): void {
  const {
    file,
    apps: installed,
    installableApps,
    entries,
    handedVariables,
    policyFiles,
    providers,
    asking,
    packs,
    weaker,
    dataFolder,
    ownDataFolder,
    appRegistry,
    functionalities,
  } = configuration;
  screen.line();
  const what = known === 'new' ? 'found in this folder' : 'changed since you agreed to it';
  screen.line(screen.style('bold', `${FRAME}CONFIGURATION: ${what}`));
  screen.say(`${FRAME}file: `, file ?? '');
  const apps = [...installed, ...installableApps.filter((app) => !installed.includes(app))];
  for (const { id, source, manifest } of apps) {
    const how =
      source.kind === 'command'
        ? `starts ${[source.command, ...source.args].join(' ')}`
        : source.kind === 'url'
          ? `speaks to ${source.url}`
          : 'is a text';
    const isInstalled = installed.some((app) => app.id === id);
    screen.say(`${FRAME}${isInstalled ? 'app' : 'could be installed:'} ${id}: `, how, 'plain', 4);
    const { read, write } = manifest.files;
    if (read.length + write.length > 0)
      screen.say(`${FRAME}  files: `, [...read, ...write].join(', '), 'plain', 4);
    if (manifest.network.length > 0)
      screen.say(`${FRAME}  network: `, manifest.network.join(', '), 'plain', 4);
    const variables = handedVariables.filter(({ app }) => app === id).map(({ variable }) => variable);
    if (variables.length > 0) screen.say(`${FRAME}  gets your variables: `, variables.join(', '), 'warn', 4);
    for (const { name, hosts } of manifest.credentials)
      screen.say(`${FRAME}  uses a secret of yours: `, `${name}, at ${hosts.join(', ')}`, 'warn', 4);
  }
  const vouched = [...entries.values()].filter(({ pin }) => pin !== null).length;
  if (vouched > 0)
    screen.say(
      `${FRAME}pins: `,
      `the descriptions of ${vouched} of its apps will not be shown: the file names their digests`,
      'warn',
    );
  for (const policy of policyFiles) screen.say(`${FRAME}policy: `, policy);
  const left = DEFAULT_PACKS.filter((name) => !packs.includes(name));
  // Attack: a folder of somebody else comes with `"packs": []`, and nothing looks for what its apps then do.
  if (left.length > 0) screen.say(`${FRAME}!! `, `without the default policies ${left.join(', ')}`, 'bad');
  for (const [says, tools] of looserLabels(apps))
    screen.say(`${FRAME}labels: `, `${tools.length} of tools that ${says}: ${tools.join(', ')}`, 'warn', 4);
  for (const [name, { baseUrl }] of providers)
    if (baseUrl !== undefined) screen.say(`${FRAME}model provider: `, `${name} at ${baseUrl}`, 'warn');
  if (appRegistry !== null) screen.say(`${FRAME}\`apps search\` asks: `, appRegistry);
  if (functionalities.size > 0)
    screen.say(`${FRAME}every app is offered: `, [...functionalities.keys()].join(', '));
  if (asking.model !== null) screen.say(`${FRAME}rules ask a model: `, asking.model, 'warn');
  for (const [kind, { url }] of asking.endpoints) screen.say(`${FRAME}rules ask for ${kind}: `, url, 'warn');
  for (const { file: module, network } of asking.modules) {
    screen.say(`${FRAME}rules ask a module: `, module, 'warn');
    if (network.length > 0) screen.say(`${FRAME}  network: `, network.join(', '), 'warn', 4);
  }
  if (weaker.length > 0)
    screen.say(
      `${FRAME}!! `,
      `a weaker sandbox, without ${weaker.map(({ name }) => name).join(', ')}`,
      'bad',
    );
  if (dataFolder !== ownDataFolder) screen.say(`${FRAME}data folder: `, dataFolder, 'warn');
}
