/**
 * Why an app could not be started or did not answer, in one sentence and with what can be done about it. Words of
 * the app in it are cut to one line.
 */
import { isAbsolute } from 'node:path';
import { type Fault, fault, type InstalledApp, isJsonObject, NODE_GRANTS, parseJson } from '@cordon/core';
import type { Transport } from '@modelcontextprotocol/client';
import type { AppProcess } from './app-process.ts';
import { StreamTransport } from './mcp-transport.ts';

/** A request that was not made or not answered; carries the hub's own words through the MCP client, which only throws. */
export class RemoteError extends Error {
  readonly fault: Fault;
  /** The app's server let nobody in: what was asked of it did not happen. */
  readonly isShutOut: boolean;

  constructor(reason: Fault, isShutOut = false) {
    super(reason.message);
    this.name = 'RemoteError';
    this.fault = reason;
    this.isShutOut = isShutOut;
  }
}

/** What stands behind an error of the MCP client, if it was a request that failed here; else null. */
export function remoteFault(error: unknown): Fault | null {
  return remoteErrorIn(error)?.fault ?? null;
}

/** The same, if the request was turned away and the app is as it was. */
export function shutOutFault(error: unknown): Fault | null {
  const found = remoteErrorIn(error);
  return found?.isShutOut === true ? found.fault : null;
}

function remoteErrorIn(error: unknown): RemoteError | null {
  let inner = error;
  for (let depth = 0; depth < 4 && inner instanceof Error; depth++) {
    if (inner instanceof RemoteError) return inner;
    inner = inner.cause;
  }
  return null;
}

/** The stream of a process that crashed ends a moment before the process does. */
export const END_GRACE_MS = 300;

/** What a start came to that was given up. `isLate`: its time was over. */
export interface BrokenStart {
  readonly app: InstalledApp;
  readonly error: unknown;
  readonly isLate: boolean;
  readonly transport: Transport;
  readonly process: AppProcess | null;
}

/** Waits a little for the end of the process, which says most. */
export async function startFault({ app, error, isLate, transport, process }: BrokenStart): Promise<Fault> {
  const ended = process === null || isLate ? null : await within(END_GRACE_MS, process.ended);
  const remote = remoteFault(error);
  if (remote !== null && !isLate) return remote;
  const garbage = transport instanceof StreamTransport ? (transport.violation ?? transport.garbage) : null;
  if (garbage !== null) {
    const message = `\`${app.id}\` does not speak MCP on its standard output: \`${shorten(garbage)}\``;
    return fault('app-protocol', message, 'logs belong on standard error');
  }
  if (isLate) return lateStart(app);
  const words = quoteStderr(process?.stderrTail() ?? '');
  const message = `\`${app.id}\` could not be started: ${ended ?? reasonOf(error)}${words}`;
  return fault(
    'app-unavailable',
    message,
    unseenPathHelp(app) ?? nodeGrantHelp(process) ?? unixSocketHelp(process),
  );
}

/** The time for the start was over. */
export function lateStart(app: InstalledApp): Fault {
  const seconds = app.manifest.limits.startSeconds;
  const tried = app.source.kind === 'url' ? 'check that its server is up' : 'try its command by hand';
  const help = `${tried}, or raise \`manifest.limits.startSeconds\``;
  return fault('app-timeout', `\`${app.id}\` did not answer within ${seconds} s of its start`, help);
}

/** The commonest slip with the files of other clients: a folder among the arguments, and no right to see it. */
function unseenPathHelp({ source, manifest }: InstalledApp): string | undefined {
  if (source.kind !== 'command') return undefined;
  const visible = [...manifest.files.read, ...manifest.files.write];
  // What comes first is the program's own script, which it sees.
  const unseen = source.args
    .slice(1)
    .find((arg) => isAbsolute(arg) && !visible.some((path) => arg === path || arg.startsWith(`${path}/`)));
  if (unseen === undefined) return undefined;
  return `its arguments name \`${shorten(unseen)}\`, which it cannot see: list it in \`manifest.files.read\` or \`manifest.files.write\``;
}

/** Node says by this name that its permission model refused something. */
function nodeGrantHelp(process: AppProcess | null): string | undefined {
  if (process?.stderrTail().includes('ERR_ACCESS_DENIED') !== true) return undefined;
  return `Node refused what \`manifest.node\` does not grant: ${NODE_GRANTS.join(', ')}`;
}

/** As Node, Python and libc name the refusal of a kind of socket. */
function unixSocketHelp(process: AppProcess | null): string | undefined {
  const isRefused = /EAFNOSUPPORT|Address family not supported/.test(process?.stderrTail() ?? '');
  return isRefused ? 'if it needs Unix sockets, set `manifest.unixSockets` to true' : undefined;
}

/** The app answered with an error. */
export function errorAnswer({ id }: InstalledApp, tool: string, error: Error): Fault {
  return fault('app-error', `\`${id}\` answered \`${tool}\` with an error: ${shorten(error.message)}`);
}

export function lateAnswer({ id, manifest }: InstalledApp, tool: string): Fault {
  const seconds = manifest.limits.callSeconds;
  const help = `raise \`manifest.limits.callSeconds\` of \`${id}\` if the tool is slow`;
  return fault(
    'app-timeout',
    `\`${id}\` did not answer \`${tool}\` within ${seconds} s and was stopped`,
    help,
  );
}

/** It may be stopped by a signal, or hang: what is still alive answers a ping, or says anything at all. */
export function silence({ id, manifest }: InstalledApp, tool: string): Fault {
  const seconds = manifest.limits.silentSeconds;
  const help = `raise \`manifest.limits.silentSeconds\` of \`${id}\` if its tools keep it from answering pings`;
  const message = `\`${id}\` gave no sign of life for ${seconds} s during \`${tool}\` and was stopped`;
  return fault('app-timeout', message, help);
}

export function violation({ id }: InstalledApp, what: string): Fault {
  return fault('app-protocol', `\`${id}\` was stopped: ${what}`);
}

/** The call was not made: the app cannot have seen it, and continues. */
export function unsent({ id }: InstalledApp, tool: string, error: Error): Fault {
  const help = `see \`manifest.limits\` of \`${id}\``;
  return fault('budget-exceeded', `\`${tool}\` of \`${id}\` was not called: ${error.message}`, help);
}

/** The process is gone, or its stream; waits a little for its last words. */
export async function brokenCall(
  app: InstalledApp,
  tool: string,
  process: AppProcess | null,
): Promise<Fault> {
  const how = process === null ? null : await within(END_GRACE_MS, process.ended);
  // Of a plain exit its last words say more than its code.
  const why = how === null || how.startsWith('it ended with') ? '' : `: ${how}`;
  const stderrTail = quoteStderr(process?.stderrTail() ?? '');
  return fault('app-unavailable', `\`${app.id}\` ended during \`${tool}\`${why}${stderrTail}`);
}

export function unstartable({ id }: InstalledApp, error: unknown): Fault {
  return fault('app-unavailable', `\`${id}\` could not be started: ${reasonOf(error)}`);
}

/** Of what an app wrote before it ended, the line that says most: the last that speaks of an error, else the last. */
function quoteStderr(stderrTail: string): string {
  const lines = stderrTail.split('\n').filter((line) => line.trim() !== '');
  const line = lines.findLast((candidate) => /error/i.test(candidate)) ?? lines.at(-1) ?? '';
  return line === '' ? '' : `; its last words: \`${shorten(line)}\``;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? (misfitOf(error.message) ?? shorten(error.message)) : 'no reason given';
}

/** The client lists all that does not fit an answer, as JSON; the first says enough. Null: it complains of something else. */
function misfitOf(complaint: string): string | null {
  const [, method = '', list = ''] = /^Invalid result for ([\w/]{1,60}): (\[.*\])$/s.exec(complaint) ?? [];
  const issues = list === '' ? null : parseJson(list);
  const first = issues?.ok === true && Array.isArray(issues.value) ? issues.value[0] : undefined;
  if (!isJsonObject(first) || !Array.isArray(first.path) || typeof first.message !== 'string') return null;
  return `its answer to \`${method}\` is not that of MCP: \`${shorten(first.path.join('.'))}\`: ${shorten(first.message)}`;
}

/** Text of an app inside a message: one line, short, without control characters. */
function shorten(text: string): string {
  const plain = text.replace(/[\p{Cc}\p{Cf}`]+/gu, ' ').trim();
  return plain.length > 160 ? `${plain.slice(0, 160)}…` : plain;
}

export function within<T>(milliseconds: number, value: Promise<T>): Promise<T | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), milliseconds);
    void value.then((result) => {
      clearTimeout(timer);
      resolve(result);
    });
  });
}
