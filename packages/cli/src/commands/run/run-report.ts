/**
 * What `cordon run` itself has to say: on standard error, one line each, which a client keeps in the log of its
 * server. Standard output belongs to the command.
 */
import { type Diagnostic, type Fault, visibleLine } from '@cordon/core';
import type { ExceededLimit, Exit } from '@cordon/sandbox';
import { EXIT, type ExitCode } from '../../context/exit.ts';

/** At most so many denied requests are printed; the trace has all of them. */
const MOST_DENIALS = 20;
const MOST_WORDS = 1_000;

export class RunReport {
  readonly #wantsJson: boolean;
  readonly #write: (text: string) => void;
  readonly #denials = new Set<string>();

  constructor(wantsJson: boolean, write: (text: string) => void) {
    this.#wantsJson = wantsJson;
    this.#write = write;
  }

  notice(message: string): void {
    this.#say({ kind: 'run.notice', message }, message);
  }

  /** The command was never started. */
  refused(why: Fault | readonly Diagnostic[]): ExitCode {
    if ('kind' in why) {
      const help = why.help === undefined ? '' : `; help: ${why.help}`;
      this.#say({ kind: 'fault', fault: why }, `${why.message}${help}`);
    } else for (const diagnostic of why) this.#diagnostic(diagnostic);
    return EXIT.failed;
  }

  /** A request of the command was not let out. Each host and reason once. */
  denied(host: string, reason: string): void {
    const message = `denied: ${host}: ${reason}`;
    if (this.#denials.has(message) || this.#denials.size >= MOST_DENIALS) return;
    this.#denials.add(message);
    this.#say({ kind: 'run.denied', host, reason }, message);
  }

  /** Says why the command is no more, where it did not end by itself. */
  ended(exit: Exit): void {
    if (this.#wantsJson) return this.#say({ kind: 'run.ended', ...exit }, '');
    switch (exit.cause) {
      case 'exit':
      case 'killed':
        return;
      case 'limit':
        return this.notice(`the command was ended: ${exit.message}; help: ${limitHelp(exit.limit)}`);
      case 'violation':
        return this.notice(`the command was ended: ${exit.message}`);
      case 'sandbox-failed':
        return this.notice(`the command did not run: ${exit.message}; help: run \`cordon doctor\``);
      default:
        exit satisfies never;
    }
  }

  #diagnostic(diagnostic: Diagnostic): void {
    const { file, range, path, code, message, help } = diagnostic;
    const place = [file, ...(range === undefined ? [] : [range.line, range.column])].join(':');
    const what = path === undefined ? '' : ` ${path}`;
    const remedy = help === undefined ? '' : `; help: ${help}`;
    this.#say({ kind: 'diagnostic', ...diagnostic }, `${place}: ${code}${what}: ${message}${remedy}`);
  }

  #say(object: object, line: string): void {
    this.#write(
      this.#wantsJson ? `${JSON.stringify(object)}\n` : `cordon: ${visibleLine(line, MOST_WORDS)}\n`,
    );
  }
}

/** What the user can do about a command that exceeded a limit. */
function limitHelp(limit: ExceededLimit): string {
  switch (limit) {
    case 'memoryMiB':
    case 'cpuSeconds':
    case 'processes':
    case 'openFiles':
    case 'fileMiB':
    case 'storageMiB':
    case 'files':
      return `raise \`limits.${limit}\` in the manifest`;
    case 'nesting':
      return '`limits` cannot raise this: nest fewer folders in the folder that it writes to';
    case 'locks':
      return '`limits` cannot raise this: let it lock copies of the files, or grant it to write them';
    case 'unreadable':
      return '`limits` cannot raise this: delete what your user cannot read, and paths that are too long, in the folder that it writes to';
    case 'unwatched':
      return '`limits` cannot raise this: run `cordon doctor`, and start the command again';
  }
}
