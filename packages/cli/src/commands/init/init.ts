/**
 * `cordon init`: finds the apps of other MCP clients, or completes those of a `cordon.json`, and shows on one screen what each
 * would get and why; proposes labels for the tools of its apps, and takes back those that no longer hold. Writes what the
 * user says yes to. Starts no app before a yes to it.
 */

import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { absolutePath } from '@cordon/config/reading';
import { fault, type Manifest } from '@cordon/core';
import {
  type AppProposal,
  EDIT_HELP,
  type FoundSource,
  NO_EDITS,
  type ProposalEdits,
  parseEdit,
  valuesOf,
} from '@cordon/onboarding';
import { counted } from '@cordon/print';
import type { CommandContext } from '../../context/command-context.ts';
import { EXIT, type ExitCode } from '../../context/exit.ts';
import { agreedDescriptions } from '../apps/apps.ts';
import {
  foreignServers,
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
import { serversFor } from './found-servers.ts';
import { type Agreed, type Draft, type InitOptions, packagesOf, takenFrom } from './proposed.ts';
import { drawLabels, proposedLabels } from './proposed-labels.ts';
import { askValues, keepSecrets, missingSecrets } from './values.ts';
import { withoutRights } from './without-rights.ts';
import { write } from './writing.ts';

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
