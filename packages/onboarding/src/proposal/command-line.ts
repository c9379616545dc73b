/** Commands as other clients need them, made those of this machine; or why they cannot be. */
import { basename } from 'node:path';
import { failed, ok, type Result } from '@cordon/core';
import { type PackageCall, parsePackageLauncher } from '@cordon/sandbox';
import type { FoundSource, Obstacle } from '../clients/found-server.ts';
import { commandOfImage } from './known-packages.ts';

export interface ReadCommand {
  readonly source: FoundSource;
  /** Null: it is a program, not a package, or a remote server. */
  readonly call: PackageCall | null;
}

/** Takes off what only other systems need: `cmd /c`, `.cmd`, the bridge to remote servers. */
export function readCommandLine(source: FoundSource): Result<ReadCommand, Obstacle> {
  if (source.kind === 'url') return ok({ source, call: null });
  const local = withoutShell(source);
  if (local === null) return failed(NO_SHELL_WORDS);
  const parsed = parsePackageLauncher(basename(local.command), local.args);
  if (!parsed.ok) {
    const { message, help } = parsed.fault;
    return failed({ message, help: remedy(local) ?? help ?? 'write the program itself as the command' });
  }
  const call = parsed.value;
  const remote = call?.packages[0]?.name === 'mcp-remote' ? remoteServer(call.args, local.env) : null;
  return ok(remote === null ? { source: local, call } : { source: remote, call: null });
}

type LocalSource = Extract<FoundSource, { kind: 'command' }>;

const NO_SHELL_WORDS: Obstacle = {
  message: 'the command is given to a Windows shell, and is no list of words',
  help: 'write the program as `command` and each argument as an item of `args`',
};

/** `cmd /c npx -y package` is `npx -y package`. Null: behind the switch stands a line for the shell. */
function withoutShell(source: LocalSource): LocalSource | null {
  const program = basename(source.command.replaceAll('\\', '/')).toLowerCase();
  if (program !== 'cmd' && program !== 'cmd.exe') {
    const isScript = /\.(?:cmd|exe)$/i.test(source.command) && !source.command.includes('/');
    return isScript ? { ...source, command: source.command.replace(/\.\w+$/, '') } : source;
  }
  const words = source.args.filter((arg) => !/^\/[a-z]$/i.test(arg));
  const [command, ...args] = words.length === 1 ? (words[0] ?? '').split(' ') : words;
  if (command === undefined || command === '' || words.some((word) => /["&|<>^%]/.test(word))) return null;
  return withoutShell({ ...source, command, args });
}

/** What to write instead of a command that Cordon cannot confine. */
function remedy({ command, args }: LocalSource): string | null {
  const program = basename(command);
  if (program === 'docker' || program === 'podman' || program === 'nerdctl') {
    const known = commandOfImage(args);
    return known === null ? null : `start it with \`${known}\` and the arguments behind the image’s name`;
  }
  if (program !== 'uv') return null;
  const folder = optionValue(args, '--directory') ?? optionValue(args, '--project');
  if (folder === null || !args.includes('run')) return null;
  const rest = args.slice(args.indexOf('run') + 1).join(' ');
  const script = rest.endsWith('.py') ? `python ${rest}` : rest;
  return `run \`uv sync\` there once, and start it with \`${folder}/.venv/bin/${script}\``;
}

function optionValue(args: readonly string[], name: string): string | null {
  const at = args.indexOf(name);
  return at < 0 ? null : (args[at + 1] ?? null);
}

/** `npx mcp-remote URL --header "Name: value"` is a bridge to a server that Cordon speaks to itself. */
function remoteServer(args: readonly string[], env: Readonly<Record<string, string>>): FoundSource | null {
  const url = args.find((arg) => /^https?:\/\//.test(arg));
  if (url === undefined) return null;
  const headers = args.flatMap((arg, at): [string, string][] => {
    if (args[at - 1] !== '--header') return [];
    const [name = '', ...value] = arg.split(':');
    return [[name.trim(), withVariables(value.join(':').trim(), env)]];
  });
  return { kind: 'url', url, headers: Object.fromEntries(headers) };
}

/** The bridge replaces `${NAME}` in a header by a variable of its own environment. */
function withVariables(text: string, env: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{env:(\w+)\}/g, (whole, name: string) => env[name] ?? whole);
}
