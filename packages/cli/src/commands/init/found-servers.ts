/** The servers that `cordon init` proposes: from files that were named, from other MCP clients, or from what the user pastes. */
import { basename } from 'node:path';
import { absolutePath, readStream, readTextFile } from '@cordon/config/reading';
import { fault, type JsonObject } from '@cordon/core';
import {
  type FoundFile,
  type FoundServer,
  findClients,
  type ProposalPlace,
  readPasted,
} from '@cordon/onboarding';
import { counted } from '@cordon/print';
import type { CommandContext } from '../../context/command-context.ts';
import { furtherServers, namesIn, newApps, proposalsOf } from './draft.ts';

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
export async function serversFor(
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
