/**
 * Shows a configuration that was found in the current folder, or a registry that a file there names, and asks whether to use
 * it.
 *
 * Ring 0: a file decides which programs are started and what they are given.
 */

import type { AgreementQuestions, Configuration, NamedRegistry } from '@cordon/config';
import { DEFAULT_PACKS } from '@cordon/config/packs';
import type { ToolLabels } from '@cordon/core';
import type { Terminal } from '../terminal/terminal.ts';
import type { Screen } from '../text/screen.ts';

const FRAME = '▐ ';

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
  // Attack: a folder of someone else comes with `"packs": []`, and nothing looks for what its apps then do.
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
