/**
 * `cordon apps search`: asks the registry of MCP servers that the configuration names for apps. What it answers are words of
 * strangers: they are shown as such, and reach no model. Installs nothing.
 */
import {
  type Fault,
  failed,
  fault,
  isJsonObject,
  type Json,
  ok,
  parseJson,
  type Result,
  visibleLine,
} from '@cordon/core';
import type { Dial } from '@cordon/dialler';
import { bodyWithin, fetchOver } from '@cordon/dialler/fetch';
import type { CommandContext } from '../../context/command-context.ts';
import { EXIT, type ExitCode } from '../../context/exit.ts';

const SECONDS = 15;
const MOST_BYTES = 1024 * 1024;
const MOST_SHOWN = 20;

/** A server as the registry lists it: every text is its author's. */
interface Listed {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  /** Commands that would start it, and addresses where it runs. */
  readonly ways: readonly string[];
}

export async function searchApps(context: CommandContext, words: readonly string[]): Promise<ExitCode> {
  const configuration = context.configuration();
  if (configuration === null) return EXIT.failed;
  if (!(await context.agrees(configuration))) return EXIT.failed;
  const { appRegistry } = configuration;
  if (appRegistry === null) return context.reportFault(NO_REGISTRY);
  const found = await listed(appRegistry, words.join(' '), context.dialler.dial, context.ending);
  if (!found.ok) return context.reportFault(found.fault);
  for (const server of found.value) print(context, server);
  if (found.value.length === 0 && !context.wantsJson)
    context.output.say('', `${appRegistry} lists nothing for these words`);
  return EXIT.done;
}

const NO_REGISTRY = fault(
  'app-unavailable',
  'the configuration names no registry of apps',
  'write `"appRegistry": "https://…"` there',
);

function print(context: CommandContext, server: Listed): void {
  const { output } = context;
  if (context.wantsJson) return context.json({ kind: 'app.listed', ...server });
  const { name, version, description, ways } = server;
  output.say('', `${visibleLine(name, 200)} ${visibleLine(version, 40)}`, 'bold');
  output.say('  its author says: ', visibleLine(description, 400));
  for (const way of ways) output.say('  ', visibleLine(way, 300));
}

/** Sends the words and nothing else, to the configured address and no other. */
async function listed(
  address: string,
  words: string,
  dial: Dial,
  ending: AbortSignal,
): Promise<Result<readonly Listed[], Fault>> {
  const url = new URL('v0/servers', address.endsWith('/') ? address : `${address}/`);
  url.searchParams.set('search', words);
  url.searchParams.set('limit', String(MOST_SHOWN));
  try {
    const signal = AbortSignal.any([ending, AbortSignal.timeout(SECONDS * 1000)]);
    const response = await fetchOver(dial)(url, { signal, headers: { accept: 'application/json' } });
    if (!response.ok) return failed(unusable(address, `it answers with status ${response.status}`));
    const body = await bodyWithin(MOST_BYTES, response);
    if (body === null) return failed(unusable(address, 'its answer is too long'));
    const parsed = parseJson(body.toString());
    const servers = parsed.ok && isJsonObject(parsed.value) ? parsed.value.servers : undefined;
    if (!Array.isArray(servers)) return failed(unusable(address, 'its answer is no list of servers'));
    return ok(servers.slice(0, MOST_SHOWN).flatMap((entry: Json) => serverOf(entry) ?? []));
  } catch {
    return failed(unusable(address, 'it does not answer'));
  }
}

/** Null: it has no name. Entries are `{"server": {…}}`, and in older registries the server itself. */
function serverOf(entry: Json): Listed | null {
  const outer = isJsonObject(entry) ? entry : {};
  const server = isJsonObject(outer.server) ? outer.server : outer;
  const name = textOf(server.name);
  if (name === '') return null;
  const packages = listOf(server.packages).flatMap((one) => commandOf(one) ?? []);
  const remotes = listOf(server.remotes).flatMap((one) => addressOf(textOf(one.url)) ?? []);
  return {
    name,
    description: textOf(server.description),
    version: textOf(server.version),
    ways: [...packages, ...remotes],
  };
}

/** Attack: a line that someone copies into a shell, `npx name; …`. So a name is one, and an address cannot pass for a command. */
const PACKAGE = /^(?:@[a-z0-9][\w.-]{0,100}\/)?[a-z0-9][\w.-]{0,100}$/i;
const ADDRESS = /^https?:\/\/[\w.:/?=&%~+-]{1,300}$/i;

function addressOf(url: string): string | null {
  return ADDRESS.test(url) ? url : null;
}

/** How `cordon.json` would start it; null: in no way that Cordon knows. */
function commandOf(one: { readonly [key: string]: Json }): string | null {
  const identifier = textOf(one.identifier);
  const from = textOf(one.registryType) || textOf(one.registry_type);
  if (!PACKAGE.test(identifier)) return null;
  if (from === 'npm') return `npx ${identifier}`;
  return from === 'pypi' ? `uvx ${identifier}` : null;
}

function listOf(value: Json | undefined): readonly { readonly [key: string]: Json }[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function unusable(address: string, why: string): Fault {
  return fault('app-unavailable', `the registry ${visibleLine(address, 300)} cannot be used: ${why}`);
}
