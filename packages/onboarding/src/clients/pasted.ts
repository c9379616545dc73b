/** What a README gives a user to paste: JSON, TOML, or a command. */
import { failed, isJsonObject, type Json, ok, type Result } from '@cordon/core';
import type { FoundServer } from './found-server.ts';
import { type ClientPlace, parseJson, parseTomlText, serversIn } from './read-client.ts';

const NOT_UNDERSTOOD =
  'no app was found in this text; paste the `mcpServers` of a README, an entry of it, or a command that begins with npx or uvx';

/** The apps of a pasted text. `origin`: how the user is shown where they come from. */
export function readPasted(
  text: string,
  origin: string,
  place: ClientPlace,
  format: 'toml' | null = null,
): Result<readonly FoundServer[], string> {
  const trimmed = text.trim();
  if (format === 'toml' || trimmed.startsWith('[')) {
    const tree = parseTomlText(trimmed);
    return tree.ok ? orNone(serversIn(tree.value, 'codex-toml', origin, place)) : failed(tree.fault);
  }
  if (/^[{"]/.test(trimmed)) {
    // Also `"name": { … }`, without the braces around it.
    const tree = parseJson(trimmed.startsWith('{') ? trimmed : `{${trimmed}}`, ' of the text');
    return tree.ok ? orNone(serversIn(sectionAround(tree.value), 'servers-json', origin, place)) : tree;
  }
  const words = trimmed.split(/\s+/);
  const entry = commandOf(words);
  if (entry === null) return failed(NOT_UNDERSTOOD);
  return ok(serversIn({ mcpServers: entry }, 'servers-json', origin, place));
}

function orNone(servers: readonly FoundServer[]): Result<readonly FoundServer[], string> {
  return servers.length === 0 ? failed(NOT_UNDERSTOOD) : ok(servers);
}

/** An entry, or entries without the section around them. */
function sectionAround(tree: Json): Json {
  if (!isJsonObject(tree)) return tree;
  if ('mcpServers' in tree || 'servers' in tree) return tree;
  if (isJsonObject(tree.mcp)) return tree.mcp;
  if ('command' in tree || 'url' in tree) return { mcpServers: { [nameOf(tree)]: tree } };
  return { mcpServers: tree };
}

function nameOf(entry: { readonly [key: string]: Json }): string {
  const words = [entry.command, ...(Array.isArray(entry.args) ? entry.args : [])];
  return nameOfWords(words.filter((word) => typeof word === 'string'));
}

/** `npx -y @scope/server-memory` is `memory`. */
function nameOfWords(words: readonly string[]): string {
  const named = words.slice(1).find((word) => /^@?[a-z0-9][\w./-]*(?:@[\w.^~-]+)?$/i.test(word));
  const last = (named ?? words[0] ?? 'app').split('/').at(-1) ?? 'app';
  return last.replace(/@.*$/, '').replace(/^(?:mcp-)?server-|-mcp(?:-server)?$|^mcp-/g, '') || 'app';
}

const LAUNCHERS = /^(?:npx|bunx|pnpx|uvx|uv|npm|pnpm|yarn|bun|pipx|node|python3?|docker|podman|cmd)$/;

/** `claude mcp add NAME -- npx …`, or a bare command. Words are not read as a shell would: quotes are refused. */
function commandOf(words: readonly string[]): Json | null {
  if (words.some((word) => /["'`$;|&<>]/.test(word))) return null;
  const isAdding = /^(?:claude|codex|gemini) mcp add$/.test(words.slice(0, 3).join(' '));
  const dashes = words.indexOf('--');
  const command = isAdding ? (dashes < 0 ? [] : words.slice(dashes + 1)) : words;
  const [program, ...args] = command;
  if (program === undefined || !(isAdding || LAUNCHERS.test(program))) return null;
  const given = isAdding ? words.slice(3, dashes).find((word) => !word.startsWith('-')) : undefined;
  return { [given ?? nameOfWords(command)]: { command: program, args } };
}
