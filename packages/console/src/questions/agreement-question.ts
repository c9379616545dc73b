/**
 * Shows a configuration that was found in the current folder, or a registry that a file there names, and asks whether to use
 * it.
 *
 * A file decides which programs are started and what they are given.
 */

import type { AgreementQuestions, Configuration, NamedRegistry } from '@cordon/config';
import { DEFAULT_PACKS } from '@cordon/config/packs';
import type { ToolLabels } from '@cordon/core';
import type { Terminal } from '../terminal/terminal.ts';
import { FRAME, type Screen, type Style } from '../text/screen.ts';

export interface TerminalAgreementParts {
  readonly screen: Screen;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

/** Asks a person at a terminal. Through a pipe the answer is no: no person has seen the file. */
export class TerminalAgreement implements AgreementQuestions {
  readonly #parts: TerminalAgreementParts;

  constructor(parts: TerminalAgreementParts) {
    this.#parts = parts;
  }

  async aboutFile(configuration: Configuration, known: 'changed' | 'new'): Promise<boolean> {
    const { screen, terminal, signal } = this.#parts;
    if (!terminal.isInteractive) return false;
    drawFile(screen, configuration, known);
    return terminal.isYes(`${FRAME}Use this file? [y] yes  [n] no (default) > `, signal);
  }

  async aboutRegistry({ file, url }: NamedRegistry): Promise<boolean> {
    const { screen, terminal, signal } = this.#parts;
    if (!terminal.isInteractive) return false;
    screen.line();
    screen.line(screen.style('bold', `${FRAME}REGISTRY: named by a file in this folder`));
    screen.say(`${FRAME}file: `, file);
    screen.say(`${FRAME}packages would come from: `, url, 'warn');
    return terminal.isYes(`${FRAME}Fetch packages from there? [y] yes  [n] no (default) > `, signal);
  }
}

const LOOSER: readonly (readonly [string, (says: Partial<ToolLabels>) => boolean])[] = [
  ['change nothing', ({ readOnly }) => readOnly === true],
  ['can be undone', ({ irreversible }) => irreversible === false],
  ['need no question if your query names everybody whom they tell', ({ tells }) => tells !== undefined],
  ['send nothing to others', ({ outward }) => outward === false],
  ['return nothing that others wrote', ({ untrusted }) => untrusted === false],
  ['return nothing private', (says) => says.private === false],
  ['say only by some arguments whom or what they act upon', ({ identifying }) => Array.isArray(identifying)],
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
  const { policyFiles, providers, asking, packs, weaker, dataFolder, appRegistry, packages } = configuration;
  const { say, list } = framedOn(screen);
  screen.line();
  const what = known === 'new' ? 'found in this folder' : 'changed since you agreed to it';
  screen.line(screen.style('bold', `${FRAME}CONFIGURATION: ${what}`));
  say('file: ', configuration.file ?? '');
  const apps = [
    ...configuration.apps,
    ...configuration.installableApps.filter((app) => !configuration.apps.includes(app)),
  ];
  for (const app of apps) drawApp(screen, configuration, app);
  const vouched = [...configuration.entries.values()].filter(({ pin }) => pin !== null).length;
  if (vouched > 0)
    say(
      'pins: ',
      `the descriptions of ${vouched} of its apps will not be shown: the file names their digests`,
      'warn',
    );
  for (const policy of policyFiles) say('policy: ', policy);
  const left = DEFAULT_PACKS.filter((name) => !packs.includes(name));
  // Attack: a folder of someone else comes with `"packs": []`, and nothing looks for what its apps then do.
  if (left.length > 0) say('!! ', `without the default policies ${left.join(', ')}`, 'bad');
  for (const [says, tools] of looserLabels(apps))
    say('labels: ', `less is asked, because these tools ${says}: ${tools.join(', ')}`, 'warn');
  for (const [name, { baseUrl }] of providers)
    if (baseUrl !== undefined) say('model provider: ', `${name} at ${baseUrl}`, 'warn');
  if (appRegistry !== null) say('`apps search` asks: ', appRegistry);
  for (const [key, url] of packages.registries) say(`packages come from (${key}): `, url, 'warn');
  // Attack: a registry of somebody else comes with a change of the file, and gets a secret that was typed for another use.
  for (const [key, { name }] of packages.credentials)
    say('credentials: ', `the secret \`${name}\` goes to ${key.slice(0, key.lastIndexOf(':'))}`, 'warn');
  for (const [host, addresses] of packages.privateAddresses)
    say('reaches your own network: ', `packages from ${host}, at ${addresses.join(', ')}`, 'warn');
  list('every app is offered: ', [...configuration.functionalities.keys()]);
  if (asking.model !== null) say('rules ask a model: ', asking.model, 'warn');
  for (const [kind, { url }] of asking.endpoints) say(`rules ask for ${kind}: `, url, 'warn');
  for (const { file: module, network } of asking.modules) {
    say('rules ask a module: ', module, 'warn');
    list('  network: ', network, 'warn');
  }
  if (weaker.length > 0)
    say('!! ', `a weaker sandbox, without ${weaker.map(({ name }) => name).join(', ')}`, 'bad');
  if (dataFolder !== configuration.ownDataFolder) say('data folder: ', dataFolder, 'warn');
}

function drawApp(
  screen: Screen,
  { apps: installed, handedVariables }: Configuration,
  { id, source, manifest }: Configuration['apps'][number],
): void {
  const { say, list } = framedOn(screen);
  const how =
    source.kind === 'command'
      ? `starts ${[source.command, ...source.args].join(' ')}`
      : source.kind === 'url'
        ? `speaks to ${source.url}`
        : 'is a text';
  const isInstalled = installed.some((app) => app.id === id);
  say(`${isInstalled ? 'app' : 'could be installed:'} ${id}: `, how);
  list('  files: ', [...manifest.files.read, ...manifest.files.write]);
  list('  network: ', manifest.network);
  // Attack: the site of a stranger that leads to the user's router looks like any other site.
  const inside = manifest.network.filter((entry) => entry.includes('@'));
  list('  leads into your own network, perhaps to this machine: ', inside, 'warn');
  const variables = handedVariables.filter(({ app }) => app === id).map(({ variable }) => variable);
  list('  gets your variables: ', variables, 'warn');
  // Attack: a known program is started with `NODE_OPTIONS=--import=…`. Values may be secrets, and are not shown.
  list('  sets variables: ', source.kind === 'command' ? variablesOf(source.env) : [], 'warn');
  for (const { name, hosts } of manifest.credentials)
    say('  uses a secret of yours: ', `${name}, at ${hosts.join(', ')}`, 'warn');
}

/** Variables by which a program loads code that is not its own. */
const LOADS_CODE = /^(?:NODE_(?:OPTIONS|PATH)|LD_[A-Z_]+|PYTHON[A-Z]+|BASH_ENV|PERL5[A-Z]+|RUBY[A-Z]+)$/;

function variablesOf(env: Readonly<Record<string, string>>): readonly string[] {
  return Object.keys(env).map((name) => (LOADS_CODE.test(name) ? `${name} (can load other code)` : name));
}

/**
 * Sentences in the frame; `list` says nothing where there is nothing. Attack: so many harmless folders or labels that the one that
 * matters is not on the screen. So nothing is cut.
 */
function framedOn(screen: Screen) {
  const say = (label: string, text: string, style: Style = 'plain') =>
    screen.say(`${FRAME}${label}`, text, style);
  const list = (label: string, items: readonly string[], style: Style = 'plain') => {
    if (items.length > 0) say(label, items.join(', '), style);
  };
  return { say, list };
}
