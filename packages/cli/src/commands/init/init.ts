/**
 * `cordon init`: finds the apps of other MCP clients, or completes those of a `cordon.json`, and shows on one screen what each
 * would get and why; proposes labels for the tools of its apps, and takes back those that no longer hold. Writes what the
 * user says yes to. Starts no app before a yes to it.
 */

import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { agreementToChange, type Configuration } from '@cordon/config';
import type { SecretPlace } from '@cordon/config/keys';
import { absolutePath, readStream, readTextFile } from '@cordon/config/reading';
import { fault, type JsonObject, type Manifest } from '@cordon/core';
import {
  type AppProposal,
  EDIT_HELP,
  type FoundFile,
  type FoundServer,
  type FoundSource,
  findClients,
  NO_EDITS,
  type ProposalEdits,
  type ProposalPlace,
  parseEdit,
  readPasted,
  valuesOf,
} from '@cordon/onboarding';
import { counted } from '@cordon/print';
import type { CommandContext } from '../../context/command-context.ts';
import { EXIT, type ExitCode } from '../../context/exit.ts';
import { replaceTextFile, writeNewFile } from '../../context/replaced-file.ts';
import { agreedDescriptions } from '../apps/apps.ts';
import {
  type DraftApp,
  foreignServers,
  furtherServers,
  incompleteApps,
  isListed,
  isWhollyShown,
  type Listed,
  namesIn,
  newApps,
  proposalsOf,
  treeOf,
} from './draft.ts';
import { drawProposals } from './draft-screen.ts';
import { draftText } from './draft-text.ts';
import { type AppLabels, drawLabels, proposedLabels } from './proposed-labels.ts';
import { type AskedValues, askValues, keepSecrets, missingSecrets } from './values.ts';
import { withoutRights } from './without-rights.ts';

export interface InitOptions {
  /** Also where no person can be asked. */
  readonly yes?: boolean;
  /** Also the apps of other clients, beside those of a `cordon.json` that is there. */
  readonly clients?: boolean;
}

/** What stands on the screen. */
interface Draft {
  readonly file: string;
  /** Null: there is no file yet. */
  readonly text: string | null;
  /** The same as JSON; without a file, an empty object. */
  readonly tree: JsonObject;
  readonly place: ProposalPlace & SecretPlace;
  readonly apps: readonly DraftApp[];
  readonly labels: readonly AppLabels[];
  /** Names of secrets that the file names and that were never typed. */
  readonly missing: readonly string[];
  /** Apps of the file without labels whose tools are not known, because nobody has reviewed them. */
  readonly unreviewed: readonly string[];
  /** Null: the file cannot be used as it is. */
  readonly configuration: Configuration | null;
  /** Whether the screen shows everything that the file will do, so that a yes to it is a yes to the file. */
  readonly isWhollyShown: boolean;
}

/** 0: written, or nothing to propose; 1: the user said no; 2: nothing can be used, or not together. */
export async function init(
  context: CommandContext,
  files: readonly string[],
  options: InitOptions,
): Promise<ExitCode> {
  if (files.length > 0 && options.clients === true) {
    const help = 'name the files alone, then run `cordon init --clients`';
    return context.reportFault(fault('usage', '`--clients` cannot be used together with files', help));
  }
  const draft = await draftOf(context, files, options);
  if (draft === null) return EXIT.failed;
  if (context.wantsJson) return printJson(context, draft);
  const { missing } = draft;
  const hasProposals = draft.apps.length > 0 || draft.labels.length > 0;
  if (!hasProposals && missing.length > 0) return askedSecrets(context, draft);
  if (!hasProposals) return labelsAlone(context, draft, options);
  noteUnreviewed(context, draft);
  const agreed = await shownAndAgreed(context, draft, options);
  if (agreed === null) return EXIT.refused;
  const values = await askValues(context, takenFrom(agreed.proposals), missing, draft.tree);
  if (values === null) return EXIT.refused;
  return write(context, draft, agreed, values, options);
}

async function draftOf(
  context: CommandContext,
  files: readonly string[],
  { yes = false, clients = false }: InitOptions,
): Promise<Draft | null> {
  const file = fileToWrite(context);
  const place = {
    folder: dirname(file),
    home: context.home,
    environment: context.environment,
    ownDataFolder: context.ownDataFolder(),
  };
  const found = existsSync(file) ? treeOf(file) : null;
  if (found === null && existsSync(file)) {
    context.configuration();
    return null;
  }
  const tree = found?.tree ?? {};
  const servers = await serversFor(context, { files, place, tree: found?.tree ?? null, clients, yes });
  if (servers === null) return null;
  const incomplete = incompleteApps(tree, place);
  const foreign = foreignServers(tree, place);
  const apps = [...incomplete, ...newApps([...foreign, ...servers], namesIn(tree))];
  const missing = missingSecrets(found?.text ?? null, place);
  // The configuration would report what is incomplete, which this command is about to complete.
  const isReadable = found !== null && incomplete.length + foreign.length + missing.length === 0;
  const configuration = isReadable ? context.configuration() : null;
  if (isReadable && configuration === null) return null;
  const descriptions = configuration === null ? null : agreedDescriptions(configuration, context.now);
  const labels =
    configuration === null || descriptions === null ? [] : proposedLabels(configuration, tree, descriptions);
  return {
    file,
    text: found?.text ?? null,
    tree,
    place,
    apps,
    labels,
    unreviewed: (configuration?.apps ?? []).flatMap(({ id, manifest }) =>
      descriptions?.has(id) === true || namesTools(manifest) ? [] : [id],
    ),
    configuration,
    missing,
    isWhollyShown: isWhollyShown(tree, incomplete),
  };
}

/** A pattern is about many tools, and may be about those of other apps. */
function namesTools({ labels }: Manifest): boolean {
  return labels?.some(({ tool }) => !tool.includes('*')) === true;
}

/** The file in use, or `cordon.json` in the current folder. */
function fileToWrite(context: CommandContext): string {
  const { config } = context.options;
  const cwd = process.cwd();
  if (config !== undefined) return absolutePath(config, cwd, context.home);
  const here = join(cwd, 'cordon.json');
  const own = context.ownConfigurationFile();
  return existsSync(here) || !existsSync(own) ? here : own;
}

interface Wanted {
  readonly files: readonly string[];
  readonly place: ProposalPlace;
  /** Null: there is no file yet. */
  readonly tree: JsonObject | null;
  readonly clients: boolean;
  readonly yes: boolean;
}

/**
 * From the files that were named; else from those of other clients, for a new file or where the user wants them; else, for a new
 * file, from what the user pastes.
 */
async function serversFor(
  context: CommandContext,
  { files, place, tree, clients, yes }: Wanted,
): Promise<readonly FoundServer[] | null> {
  if (files.length > 0) {
    const read = await Promise.all(files.map((file) => serversOf(context, file, place)));
    return read.includes(null) ? null : read.flatMap((servers) => servers ?? []);
  }
  const found = findClients(place);
  if (tree !== null && !clients) return offered(context, found, tree, place);
  for (const { origin, problem } of found)
    if (problem !== null) context.notes.say('', `${origin} cannot be read: ${problem}`, 'warn');
  const servers = tree === null ? found.flatMap((file) => file.servers) : furtherServers(found, tree);
  if (tree !== null || servers.length > 0 || yes || !context.terminal.isInteractive) return servers;
  return pasted(context, place);
}

/** Says how many more apps other clients have that this command would take over, and takes none of them. */
function offered(
  { notes, wantsJson }: CommandContext,
  found: readonly FoundFile[],
  tree: JsonObject,
  place: ProposalPlace,
): readonly FoundServer[] {
  const apps = newApps(furtherServers(found, tree), namesIn(tree));
  const more = proposalsOf(apps, [], place).filter(({ isTaken }) => isTaken);
  const origins = [...new Set(more.map(({ origin }) => origin))].join(', ');
  const them = more.length === 1 ? 'it' : 'them';
  if (more.length > 0 && !wantsJson)
    notes.say(
      '',
      `${counted(more.length, 'more app')} in ${origins}: \`cordon init --clients\` adds ${them}`,
      'dim',
    );
  return [];
}

async function serversOf(
  context: CommandContext,
  name: string,
  place: ProposalPlace,
): Promise<readonly FoundServer[] | null> {
  const path = name === '-' ? 'standard input' : absolutePath(name, process.cwd(), context.home);
  const text = name === '-' ? await readStream(path, process.stdin, MOST_PASTED) : readTextFile(path);
  if (!text.ok) {
    context.reportDiagnostics([text.fault]);
    return null;
  }
  const isToml = name.endsWith('.toml');
  const origin = name === '-' ? 'what you gave it' : basename(name);
  const servers = readPasted(text.value, origin, place, isToml ? 'toml' : null);
  if (servers.ok) return servers.value;
  context.reportFault(fault('usage', `${name}: ${servers.fault}`));
  return null;
}

const MOST_PASTED = 1024 * 1024;

const PASTE_HELP =
  'No configuration of another client was found. Paste what the README of an app says: its JSON, or its command (npx …). An empty line ends.';

async function pasted(context: CommandContext, place: ProposalPlace): Promise<readonly FoundServer[] | null> {
  const { terminal, notes, ending } = context;
  notes.say('', PASTE_HELP);
  const all: FoundServer[] = [];
  // A terminal that does not mark what is pasted gives it line by line.
  let begun = '';
  for (;;) {
    const prompt = begun === '' ? 'paste> ' : '… ';
    const reply = await terminal.ask({ prompt, takes: 'line' }, ending);
    if (reply.kind === 'too-long') {
      notes.say('', 'that is too long: name the file, `cordon init FILE`', 'bad');
      continue;
    }
    const isEmpty = reply.kind !== 'line' || reply.text.trim() === '';
    if (isEmpty && begun === '') return all;
    const text = reply.kind === 'line' ? `${begun}${reply.text}` : begun;
    const servers = readPasted(text, 'what you pasted', place);
    begun = !isEmpty && !servers.ok && isUnfinished(servers.fault) ? `${text}\n` : '';
    if (begun !== '') continue;
    if (servers.ok) all.push(...servers.value);
    if (servers.ok)
      notes.say('', `${servers.value.map(({ name }) => name).join(', ')}: one more, or an empty line`, 'dim');
    else notes.say('', servers.fault, 'bad');
  }
}

/** As the reader of JSON says it. */
function isUnfinished(problem: string): boolean {
  return problem.includes('the text ends where');
}

/** A file that is complete, but for secrets that were never typed. */
async function askedSecrets(
  context: CommandContext,
  { file, tree, place, missing }: Draft,
): Promise<ExitCode> {
  const values = await askValues(context, [], missing, tree);
  if (values === null) return EXIT.refused;
  const kept = keepSecrets(place, values.secrets);
  if (!kept.ok) return context.reportFault(fault('journal-unavailable', kept.fault));
  const names = [...values.secrets.keys()].join(', ');
  if (names !== '') context.output.say('', `kept for ${file}: ${names}`, 'good');
  if (values.secrets.size < missing.length) return EXIT.refused;
  // Only now can the rest of the file be read.
  return context.configuration() === null ? EXIT.failed : EXIT.done;
}

/** At a terminal, apps that nobody has reviewed can be started for theirs. */
async function labelsAlone(
  context: CommandContext,
  draft: Draft,
  { yes = false }: InitOptions,
): Promise<ExitCode> {
  const { terminal, notes, ending } = context;
  const { unreviewed, file } = draft;
  if (unreviewed.length > 0 && terminal.isInteractive) {
    notes.say('', `not reviewed yet: ${unreviewed.join(', ')}. ${STARTS}`);
    const keys = `[y] list the tools of ${counted(unreviewed.length, 'app')}  [n] no (default) > `;
    if (yes || (await terminal.isYes(keys, ending))) {
      const { labelUnreviewed } = await import('./listed-tools.ts');
      return labelUnreviewed(context, file, unreviewed, yes);
    }
  }
  return nothingToPropose(context, draft);
}

const STARTS =
  'After your yes Cordon lists the tools of each app, to propose labels: it starts the app once, in its sandbox and without a way out, or connects to its address.';

const LISTS =
  '[l] does that first, and with nothing of yours: no folder, secret or network. Then the labels stand on this screen.';

function noteUnreviewed({ notes }: CommandContext, { unreviewed }: Draft): void {
  for (const app of unreviewed)
    notes.say(`${app}: `, 'was not reviewed yet: `cordon apps review` shows its tools', 'dim');
}

function nothingToPropose(context: CommandContext, draft: Draft): ExitCode {
  const { text, file } = draft;
  noteUnreviewed(context, draft);
  const why =
    text === null
      ? 'no other client has apps here, and nothing was given: `cordon init FILE` reads a file, `cordon init -` standard input'
      : 'there is nothing to propose: every app that was reviewed has its labels';
  context.output.say('', text === null ? `${basename(file)} was not written: ${why}` : why);
  return EXIT.done;
}

/** For programs: no value of a secret, and no value of a variable. */
function printJson(context: CommandContext, { apps, place, labels }: Draft): ExitCode {
  for (const { source, secrets, ...rest } of proposalsOf(apps, [], place)) {
    context.json({
      kind: 'app.proposed',
      ...rest,
      source: source === null ? null : withoutValues(source),
      secrets: secrets.map(({ name, key, description, value }) => ({
        name,
        key,
        description,
        asked: value === null,
      })),
    });
  }
  for (const { app, tools, outdated } of labels) {
    if (tools.length > 0) context.json({ kind: 'labels.proposed', app, tools });
    if (outdated.length > 0) context.json({ kind: 'labels.outdated', app, tools: outdated });
  }
  return EXIT.done;
}

function withoutValues(source: FoundSource): object {
  const variables = Object.keys(valuesOf(source));
  if (source.kind === 'url') return { kind: source.kind, url: source.url, variables };
  const { kind, command, args, cwd } = source;
  return { kind, command, args, cwd, variables };
}

/** What the user said yes to. */
interface Agreed {
  readonly proposals: readonly AppProposal[];
  /** Those of them that are taken and have not listed their tools yet. */
  readonly open: readonly AppProposal[];
}

/** One screen, changed as often as the user likes, and one yes: to these proposals. Null: the user said no. */
async function shownAndAgreed(
  context: CommandContext,
  draft: Draft,
  { yes = false }: InitOptions,
): Promise<Agreed | null> {
  const { terminal, notes, ending } = context;
  let edits: readonly ProposalEdits[] = draft.apps.map(() => NO_EDITS);
  let listed: ReadonlyMap<string, Listed> = new Map();
  let mayList = draft.text === null;
  for (;;) {
    const proposals = proposalsOf(draft.apps, edits, draft.place, listed);
    const open = takenFrom(proposals).filter((proposal) => !isListed(proposal, listed));
    drawAll(context, draft, proposals);
    if (yes) return { proposals, open };
    if (!terminal.isInteractive) {
      notes.say('', 'nothing was written: `--yes` means yes');
      return null;
    }
    if (open.length > 0) notes.say('', STARTS, 'dim');
    const canList = mayList && open.some((one) => withoutRights(one, draft.place) !== null);
    if (canList) notes.say('', LISTS, 'dim');
    const count = packagesOf(open);
    const fetches = count === 0 ? '' : `, fetch ${counted(count, 'package')}`;
    const lists = canList ? '  [l] list' : '';
    const keys = `[y] write ${basename(draft.file)}${fetches}  [n] no (default)${lists}  [?] edit > `;
    const reply = await terminal.ask({ prompt: keys, takes: 'text' }, ending);
    const text = reply.kind === 'line' ? reply.text.trim() : '';
    if (/^y(es)?$/i.test(text)) return { proposals, open };
    if (canList && text === 'l') {
      const { listedFirst } = await import('./listed-first.ts');
      listed = new Map([...listed, ...(await listedFirst(context, open, draft.place))]);
      // What does not start without its rights is listed with them, after the yes.
      mayList = false;
    } else if (text === '?') notes.say('', EDIT_HELP);
    else if (/^\d/.test(text)) {
      const edit = parseEdit(text, proposals, draft.place);
      if (edit.ok) edits = edits.map((old, at) => (at === edit.value.app ? edit.value.change(old) : old));
      else notes.say('', edit.fault, 'bad');
    } else {
      notes.say('', 'nothing was written');
      return null;
    }
  }
}

function drawAll(context: CommandContext, { labels }: Draft, proposals: readonly AppProposal[]): void {
  if (proposals.length > 0) drawProposals(context.output, proposals, context.home);
  for (const app of labels) drawLabels(context, app);
}

function write(
  context: CommandContext,
  draft: Draft,
  agreed: Agreed,
  values: AskedValues,
  options: InitOptions,
): Promise<ExitCode> | ExitCode {
  const { file, text, apps, labels, place } = draft;
  const { proposals } = agreed;
  const to = draftText(text, apps, proposals, labels, values.answers);
  if (!to.ok) return context.reportFault(fault('usage', `nothing was written: ${to.fault}`));
  const kept = keepSecrets(place, values.secrets);
  if (!kept.ok) return context.reportFault(fault('journal-unavailable', kept.fault));
  const written = text === null ? writeNewFile(file, to.value) : replaceTextFile(file, to.value);
  if (!written.ok) {
    context.noteDiagnostics([written.fault]);
    return EXIT.failed;
  }
  return report(context, draft, to.value, agreed, options);
}

async function report(
  context: CommandContext,
  { file, text, configuration, labels, isWhollyShown: showsAll }: Draft,
  to: string,
  { proposals, open }: Agreed,
  { yes = false }: InitOptions,
): Promise<ExitCode> {
  if (text !== null && configuration !== null) {
    const unkept = agreementToChange(configuration, { from: text, to }, context.now);
    if (unkept !== null) context.reportFault(unkept);
  }
  const taken = takenFrom(proposals);
  const tools = labels.reduce((count, app) => count + app.tools.length, 0);
  const back = labels.reduce((count, app) => count + app.outdated.length, 0);
  const what = [
    ...(taken.length === 0 ? [] : [`the apps ${taken.map(({ id }) => id).join(', ')}`]),
    ...(tools === 0 ? [] : [`labels for ${tools} tools`]),
    ...(back === 0 ? [] : [`${counted(back, 'label')} taken back`]),
  ];
  context.output.say('', `${file} has ${what.join(', ')}`, 'good');
  if (taken.length === 0) return EXIT.done;
  const read = context.configuration();
  if (read === null || (showsAll && !(await context.agrees(read, true)))) return EXIT.failed;
  if (!context.terminal.isInteractive) return fetchesLater(context, taken);
  return fetched(context, open, { file, yes });
}

const NEXT = 'next: `cordon chat` shows you each app before it first uses it';

function fetchesLater({ output }: CommandContext, taken: readonly AppProposal[]): ExitCode {
  const isReady = packagesOf(taken) === 0;
  output.say('', isReady ? NEXT : 'next: `cordon apps install` fetches the packages', 'dim');
  return EXIT.done;
}

/** The yes at a terminal was to the packages, too, and to a list of their tools. `open`: apps that have not listed them yet. */
async function fetched(
  context: CommandContext,
  open: readonly AppProposal[],
  { file, yes }: { readonly file: string; readonly yes: boolean },
): Promise<ExitCode> {
  if (packagesOf(open) > 0) {
    const { installApps } = await import('../apps/apps-install.ts');
    const code = await installApps(context, [], {});
    if (code !== EXIT.done) return code;
  }
  if (open.length > 0) {
    const { labelUnreviewed } = await import('./listed-tools.ts');
    const ids = open.map(({ id }) => id);
    const code = await labelUnreviewed(context, file, ids, yes);
    if (code !== EXIT.done) return code;
  }
  context.output.say('', NEXT, 'dim');
  return EXIT.done;
}

function packagesOf(taken: readonly AppProposal[]): number {
  return taken.filter(({ isPackage }) => isPackage).length;
}

function takenFrom(proposals: readonly AppProposal[]): readonly AppProposal[] {
  return proposals.filter(({ isTaken }) => isTaken);
}
