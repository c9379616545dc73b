/**
 * Where the key of the store comes from: a variable, a file or a command such as a keyring's. It is read when the store
 * is opened, goes to the store and nowhere else: no app gets the variable, no fault shows the text.
 *
 * Who has the key reads everything. Starts the command that the user's configuration names.
 */
import { statSync } from 'node:fs';
import { type Fault, failed, fault, ok, type Result } from '@cordon/core';
import { parseStoreKey, type StoreKey } from '@cordon/trace';
import type { Environment } from '../reading/paths.ts';
import { readTextFile } from '../reading/text-file.ts';

export type KeySource =
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'file'; readonly path: string }
  /** Program and arguments; what it puts out is the key. */
  | { readonly kind: 'command'; readonly command: readonly string[] };

/** A key in words or digits, for this one process tree. */
export const KEY_VARIABLE = 'CORDON_KEY';
/** The path of a file that holds it. */
export const KEY_FILE_VARIABLE = 'CORDON_KEY_FILE';

const COMMAND_MS = 60_000;
const MOST_OUTPUT = 64 * 1024;

/** The environment counts before the file; null: the store has no key. */
export function keySource(environment: Environment, configured: KeySource | null): KeySource | null {
  if (isSet(environment, KEY_VARIABLE)) return { kind: 'variable', name: KEY_VARIABLE };
  const path = environment[KEY_FILE_VARIABLE] ?? '';
  return path === '' ? configured : { kind: 'file', path };
}

/** Null: none is wanted. A fault: one is wanted and cannot be had, so the store stays shut. */
export function readStoreKey(
  source: KeySource | null,
  environment: Environment,
): Result<StoreKey | null, Fault> {
  if (source === null) return ok(null);
  const text = keyText(source, environment);
  if (!text.ok) return text;
  const key = parseStoreKey(text.value);
  return key.ok ? key : refused(`the key from ${nameOf(source)} cannot be used: ${key.fault}`);
}

/** The text of a key, as it stands where it comes from. */
export function keyText(source: KeySource, environment: Environment): Result<string, Fault> {
  switch (source.kind) {
    case 'variable': {
      const value = Object.hasOwn(environment, source.name) ? (environment[source.name] ?? '') : '';
      return value === '' ? refused(`the key should be in ${nameOf(source)}, which is not set`) : ok(value);
    }
    case 'file':
      return textOfFile(source.path);
    case 'command':
      return textOfCommand(source.command, environment);
  }
}

function textOfFile(path: string): Result<string, Fault> {
  const text = readTextFile(path);
  if (!text.ok) return refused(`the file of the key, \`${path}\`, cannot be read`);
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0o777;
  if ((mode & 0o077) === 0) return text;
  return refused(`others may read the file of the key, \`${path}\``, `\`chmod 600\` it`);
}

/** Loaded here: a process that starts nothing need not wait for it. */
function textOfCommand(command: readonly string[], environment: Environment): Result<string, Fault> {
  const [program = '', ...words] = command;
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const done = spawnSync(program, words, {
    env: environment,
    encoding: 'utf8',
    timeout: COMMAND_MS,
    maxBuffer: MOST_OUTPUT,
    // A keyring may ask for its own password at the terminal.
    stdio: ['inherit', 'pipe', 'inherit'],
  });
  if (done.error === undefined && done.status === 0) return ok(done.stdout);
  const how = done.error === undefined ? `ended with ${done.status ?? done.signal}` : 'could not be run';
  return refused(`the command of the key, \`${program}\`, ${how}`);
}

function nameOf(source: KeySource): string {
  switch (source.kind) {
    case 'variable':
      return `the variable \`${source.name}\``;
    case 'file':
      return `the file \`${source.path}\``;
    case 'command':
      return `the command \`${source.command[0] ?? ''}\``;
  }
}

function refused(message: string, help = 'see docs/memory.md on keys'): Result<never, Fault> {
  return failed(fault('journal-unavailable', message, help));
}

function isSet(environment: Environment, name: string): boolean {
  return (environment[name] ?? '') !== '';
}
