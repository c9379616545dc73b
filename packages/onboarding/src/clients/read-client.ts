/** The apps in a file of another client. Keys that are not about apps stay unread. */
import { type Environment, parseJsonFile, plainJson, readTextFile } from '@cordon/config/reading';
import { failed, isJsonObject, type Json, type JsonObject, ok, type Result } from '@cordon/core';
import { parse as parseToml, TomlError } from 'smol-toml';
import { type ClientFile, clientFiles, type Dialect } from './client-files.ts';
import type { FoundFile, FoundServer } from './found-server.ts';
import { type EntryPlace, readServer } from './server-entry.ts';

export interface ClientPlace {
  /** The current folder. */
  readonly folder: string;
  readonly home: string;
  readonly environment: Environment;
}

/** Every file of another client that exists, of the project and of the user. */
export function findClients(place: ClientPlace): readonly FoundFile[] {
  return clientFiles(place.folder, place.home).flatMap((file) => {
    const text = readTextFile(file.path);
    if (text.ok) return readClient(text.value, file, place);
    const origin = originOf(file, place);
    return isAbsent(text.fault.message) ? [] : { origin, servers: [], problem: text.fault.message };
  });
}

function isAbsent(message: string): boolean {
  return message.endsWith('there is no such file');
}

/** What a text says, as if it stood in this file. A text without apps that is no problem is left out. */
export function readClient(text: string, file: ClientFile, place: ClientPlace): readonly FoundFile[] {
  const origin = originOf(file, place);
  const tree = file.dialect === 'codex-toml' ? parseTomlText(text) : parseJson(text);
  if (!tree.ok) return [{ origin, servers: [], problem: tree.fault }];
  const servers = serversIn(tree.value, file.dialect, origin, place);
  return servers.length === 0 ? [] : [{ origin, servers, problem: null }];
}

function originOf({ client, path, scope }: ClientFile, { folder, home }: ClientPlace): string {
  const base = scope === 'project' ? folder : home;
  const below = path.startsWith(`${base}/`) ? path.slice(base.length + 1) : path;
  return `${client} (${scope === 'user' && below !== path ? '~/' : ''}${below})`;
}

/** `within`: what the line of a fault is counted in; empty: the file. */
export function parseJson(text: string, within = ''): Result<Json, string> {
  const tree = parseJsonFile('', text);
  if (tree.ok) return ok(plainJson(tree.value));
  const { line } = tree.fault.range ?? {};
  return failed(`${line === undefined ? '' : `line ${line}${within}: `}${tree.fault.message}`);
}

/** Dates become texts, which no key of interest takes. */
export function parseTomlText(text: string): Result<Json, string> {
  try {
    return ok(JSON.parse(JSON.stringify(parseToml(text))));
  } catch (problem) {
    if (!(problem instanceof TomlError)) throw problem;
    return failed(`line ${problem.line}: ${problem.message.split('\n', 1)[0]}`);
  }
}

/** All apps in a tree, in the order of the file. */
export function serversIn(
  tree: Json,
  dialect: Dialect,
  origin: string,
  place: ClientPlace,
): readonly FoundServer[] {
  if (!isJsonObject(tree)) return [];
  return sectionsOf(tree, dialect, place.folder).flatMap((section) => {
    const takesBareNames = origin.startsWith('Gemini');
    const entryPlace: EntryPlace = { ...place, origin, takesBareNames, inputs: inputsOf(section.root) };
    const servers = Object.entries(section.servers);
    return servers.map(([name, entry]) => readServer(name, entry, entryPlace));
  });
}

interface Section {
  /** Holds `inputs`. */
  readonly root: JsonObject;
  readonly servers: JsonObject;
}

function sectionsOf(tree: JsonObject, dialect: Dialect, folder: string): readonly Section[] {
  const section = (root: Json | undefined, ...keys: readonly string[]): readonly Section[] => {
    if (!isJsonObject(root)) return [];
    return keys.flatMap((key) => {
      const servers = root[key];
      return isJsonObject(servers) ? { root, servers } : [];
    });
  };
  switch (dialect) {
    case 'codex-toml':
      return section(tree, 'mcp_servers');
    case 'vscode-settings':
      return section(tree.mcp, 'servers');
    case 'claude-json': {
      const { projects } = tree;
      const own = isJsonObject(projects) ? projects[folder] : undefined;
      return [...section(own, 'mcpServers'), ...section(tree, 'mcpServers')];
    }
    case 'servers-json':
      return section(tree, 'mcpServers', 'servers');
  }
}

function inputsOf({ inputs }: JsonObject): ReadonlyMap<string, string> {
  if (!Array.isArray(inputs)) return new Map();
  return new Map(
    inputs.flatMap((input): [string, string][] => {
      if (!isJsonObject(input) || typeof input.id !== 'string') return [];
      return [[input.id, typeof input.description === 'string' ? input.description : input.id]];
    }),
  );
}
