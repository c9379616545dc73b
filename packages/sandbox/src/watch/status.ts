/**
 * What bubblewrap reports on `--json-status-fd`: the pid of the sandbox's first process, and an exit code only
 * if the command really ran to its end. The descriptor is closed inside, so an app cannot write here.
 */
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { isJsonObject, parseJson } from '@cordon/core';
import type { Excess, Exit } from '../spec/backend.ts';

export interface Status {
  /** Null until it is known, and for ever when the set-up failed early. */
  readonly childPid: number | null;
  readonly exitCode: number | null;
}

const LONGEST = 64 * 1024;

/** Reads to the end of the stream; `onChange` after each report. Resolves with the last state. */
export async function readStatus(stream: Readable, onChange: (status: Status) => void): Promise<Status> {
  let status: Status = { childPid: null, exitCode: null };
  let rest = '';
  try {
    for await (const chunk of stream) {
      const lines = `${rest}${chunk}`.split('\n');
      rest = (lines.pop() ?? '').slice(0, LONGEST);
      for (const line of lines) status = withReport(status, line);
      onChange(status);
    }
  } catch {
    // A broken stream is a stream without an exit code: the sandbox is then reported as failed.
  }
  return status;
}

function withReport(status: Status, line: string): Status {
  const report = parseJson(line);
  if (!report.ok || !isJsonObject(report.value)) return status;
  const { 'child-pid': childPid, 'exit-code': exitCode } = report.value;
  return {
    childPid: typeof childPid === 'number' ? childPid : status.childPid,
    exitCode: typeof exitCode === 'number' ? exitCode : status.exitCode,
  };
}

/** Why we ended it ourselves, if we did. */
export type Ending =
  | { readonly cause: 'killed'; readonly message: string }
  | ({ readonly cause: 'limit' } & Excess)
  | null;

/** `outerSignal`: of bubblewrap itself; `setup`: what it wrote to standard error. */
export function exitOf(status: Status, outerSignal: string | null, ending: Ending, setup: string): Exit {
  if (ending !== null) return { ...ending, code: null, signal: 'SIGKILL' };
  if (status.exitCode !== null) return exitOfCommand(status.exitCode);
  if (outerSignal !== null)
    return { cause: 'killed', code: null, signal: outerSignal, message: `it was ended by ${outerSignal}` };
  const why = setup === '' ? 'the sandbox ended before the program ran' : setup;
  return { cause: 'sandbox-failed', code: null, signal: null, message: why };
}

const ENDED_ITSELF =
  'it ended itself (SIGABRT), as a program does that runs out of memory or fails a check of its own';

const LIMIT = { cause: 'limit', code: null } as const;

/** Codes above 128 are signals, as bubblewrap and shells report them. */
function exitOfCommand(code: number): Exit {
  const signal = code > 128 ? signalName(code - 128) : null;
  if (signal === null)
    return { cause: 'exit', code, signal: null, message: `it ended with exit code ${code}` };
  switch (signal) {
    case 'SIGSYS':
      return { cause: 'violation', code: null, signal, message: 'it made a system call that is forbidden' };
    case 'SIGXCPU':
      return { ...LIMIT, limit: 'cpuSeconds', signal, message: 'it used up its CPU time' };
    case 'SIGXFSZ':
      return { ...LIMIT, limit: 'fileMiB', signal, message: 'it wrote a file larger than allowed' };
    case 'SIGABRT':
      // The kernel's limit of data may come before the watchdog: then the program's allocation fails.
      return { cause: 'killed', code: null, signal, message: ENDED_ITSELF };
    default:
      return { cause: 'killed', code: null, signal, message: `it was ended by ${signal}` };
  }
}

function signalName(number: number): string | null {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? null;
}
