/** The apps that `cordon init` would write, where they come from, and what the user changed on the screen. */
import { parseJsonFile, plainJson, readTextFile } from '@cordon/config/reading';
import { isJsonObject, type Json, type JsonObject } from '@cordon/core';
import {
  type AppProposal,
  appIdOf,
  type FoundFile,
  type FoundServer,
  type ProposalEdits,
  type ProposalPlace,
  type ProposedTool,
  propose,
  serversIn,
} from '@cordon/onboarding';

export interface DraftApp {
  readonly id: string;
  readonly server: FoundServer;
  /** The section of `cordon.json` in which an entry stands already; null: it is new. */
  readonly section: 'apps' | 'mcpServers' | null;
  /** It stands below `servers` of this very file, where Cordon does not read it. */
  readonly isForeign: boolean;
}

/** Sections of another client that a user pasted into `cordon.json`. Their apps move to `apps`. */
export const FOREIGN_SECTIONS = ['servers', 'inputs'] as const;

const THIS_FILE = 'this file';

/** Apps of other clients, each once: an entry that says the same as an earlier one is left out. */
export function newApps(servers: readonly FoundServer[], taken: readonly string[]): readonly DraftApp[] {
  const ids = new Set(taken.map((id) => id.toLowerCase()));
  const seen = new Set<string>();
  return servers.flatMap((server) => {
    const same = JSON.stringify(server.source ?? [server.name, server.origin]);
    if (seen.has(same)) return [];
    seen.add(same);
    const id = appIdOf(server.name, ids);
    ids.add(id.toLowerCase());
    return [{ id, server, section: null, isForeign: server.origin === THIS_FILE }];
  });
}

/** Apps of other clients that this file has under no name. */
export function furtherServers(found: readonly FoundFile[], tree: Json): readonly FoundServer[] {
  const taken = new Set(namesIn(tree).map((name) => name.toLowerCase()));
  const servers = found.flatMap((file) => file.servers);
  return servers.filter(({ name }) => !taken.has(appIdOf(name, new Set()).toLowerCase()));
}

/** Entries of a `cordon.json` that were pasted and not completed: without a manifest, or with `${input:…}`. */
export function incompleteApps(tree: Json, place: ProposalPlace): readonly DraftApp[] {
  if (!isJsonObject(tree)) return [];
  return (['apps', 'mcpServers'] as const).flatMap((section) => {
    const entries = tree[section];
    if (!isJsonObject(entries)) return [];
    const open = Object.fromEntries(Object.entries(entries).filter(([, entry]) => isIncomplete(entry)));
    const servers = serversIn(
      { mcpServers: open, inputs: tree.inputs ?? [] },
      'servers-json',
      THIS_FILE,
      place,
    );
    return servers.map((server) => ({ id: server.name, server, section, isForeign: false }));
  });
}

function isIncomplete(entry: Json): boolean {
  if (!isJsonObject(entry) || entry.instructions !== undefined || entry.disabled === true) return false;
  return entry.manifest === undefined && (entry.command !== undefined || entry.url !== undefined);
}

/** Entries below `servers`, where VS Code has them. */
export function foreignServers(tree: Json, place: ProposalPlace): readonly FoundServer[] {
  if (!isJsonObject(tree) || !isJsonObject(tree.servers)) return [];
  const section = { servers: tree.servers, inputs: tree.inputs ?? [] };
  return serversIn(section, 'servers-json', THIS_FILE, place);
}

/** Whether a screen with these apps shows everything that the file does. */
export function isWhollyShown(tree: JsonObject, incomplete: readonly DraftApp[]): boolean {
  const shown = ['$schema', 'apps', 'mcpServers', ...FOREIGN_SECTIONS];
  return Object.keys(tree).every((key) => shown.includes(key)) && namesIn(tree).length === incomplete.length;
}

/** The names of all apps of a file, whatever is wrong with it. */
export function namesIn(tree: Json): readonly string[] {
  if (!isJsonObject(tree)) return [];
  return ['apps', 'mcpServers', 'installable'].flatMap((section) => {
    const entries = tree[section];
    return isJsonObject(entries) ? Object.keys(entries) : [];
  });
}

/** The file as plain JSON; null: there is none, or it cannot be read. */
export function treeOf(file: string): { readonly text: string; readonly tree: JsonObject } | null {
  const text = readTextFile(file);
  const tree = text.ok ? parseJsonFile(file, text.value) : text;
  if (!text.ok || !tree.ok) return null;
  const plain = plainJson(tree.value);
  return isJsonObject(plain) ? { text: text.value, tree: plain } : null;
}

/** What an app said of its tools, and how it was started then. */
export interface Listed {
  /** As JSON. */
  readonly source: string;
  readonly tools: readonly ProposedTool[];
}

/** One proposal for each app, in their order, with the edits of the same place. `listed`: by the app's id. */
export function proposalsOf(
  apps: readonly DraftApp[],
  edits: readonly ProposalEdits[],
  place: ProposalPlace,
  listed: ReadonlyMap<string, Listed> = new Map(),
): readonly AppProposal[] {
  return apps.map(({ id, server, section }, at) => {
    const own = { ...place, isOwnEntry: section !== null };
    const proposal = propose(id, server, own, edits[at]);
    const tools = listed.get(id)?.tools;
    if (tools === undefined || !isListed(proposal, listed)) return proposal;
    return propose(id, server, { ...own, tools }, edits[at]);
  });
}

/** Whether it was this that listed its tools: the user may have changed what is started since. */
export function isListed({ id, source }: AppProposal, listed: ReadonlyMap<string, Listed>): boolean {
  return listed.get(id)?.source === JSON.stringify(source);
}
