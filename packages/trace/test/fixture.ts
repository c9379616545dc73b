/**
 * What the tests of this package share: temporary folders, events that need no thought, child processes.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

import {
  type Event,
  type EventBody,
  HUB_LABEL,
  id,
  type PermissionSubject,
  type SessionId,
} from '@cordon/core';
import { openStore, type Store, type StoreOptions } from '@cordon/trace';
import { Acknowledgements } from '../src/journal/acknowledged.ts';

export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'cordon-trace-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A store that is closed when the test ends. */
export function storeIn(t: TestContext, folder: string, options?: StoreOptions, clock?: () => number): Store {
  const store = openOrThrow(folder, options, clock);
  t.after(() => store.close());
  return store;
}

export function openOrThrow(folder: string, options?: StoreOptions, clock = () => 1_700_000_000_000): Store {
  const opened = openStore(folder, clock, options);
  if (!opened.ok) throw new Error(opened.fault.message);
  return opened.value;
}

export function say(text: string): EventBody {
  return { kind: 'model.message', text, calls: [] };
}

/** A tool call that is proposed, allowed and carried out. */
export const PROPOSED: EventBody = {
  kind: 'tool-call.proposed',
  effect: 'tool-call',
  app: id('mail'),
  tool: 'send',
  arguments: {},
  callId: '1',
  irreversible: true,
};
export const DECIDED: EventBody = {
  kind: 'tool-call.decided',
  verdict: 'allow',
  reasons: [],
  warnings: [],
  permission: 'not-needed',
};
export const EXECUTED: EventBody = { kind: 'tool-call.executed', milliseconds: 1 };

/** Appends an event of the hub itself. */
export function append(store: Store, session: SessionId, body: EventBody): Event {
  return store.journal.append(session, null, null, [], HUB_LABEL, body);
}

export function subjectOf(what: string, scope: PermissionSubject['scope'] = 'exchange'): PermissionSubject {
  return { scope, from: null, to: null, what };
}

export interface Child {
  readonly process: ChildProcessByStdio<Writable, Readable, null>;
  /** The next line that it prints; rejects when it ends first. */
  line(): Promise<string>;
  /** Everything that it still prints. */
  rest(): Promise<readonly string[]>;
  /** Lets it pass its next barrier. */
  go(): void;
  ended(): Promise<void>;
}

/** Runs `test/child/<program>.ts` with arguments, by the command `under` if there is one. It is killed when the test ends. */
export function startChild(
  t: TestContext,
  program: string,
  args: readonly string[],
  errors: 'inherit' | 'ignore' = 'inherit',
  under: readonly string[] = [],
): Child {
  const path = fileURLToPath(new URL(`./child/${program}.ts`, import.meta.url));
  const [command = '', ...before] = [...under, process.execPath];
  const spawned = spawn(command, [...before, path, ...args], {
    stdio: ['pipe', 'pipe', errors],
  });
  const ended = new Promise<void>((resolve) => spawned.once('close', () => resolve()));
  t.after(async () => {
    spawned.kill('SIGKILL');
    await ended;
  });
  const lines = createInterface({ input: spawned.stdout })[Symbol.asyncIterator]();
  return {
    process: spawned,
    line: async () => {
      const next = await lines.next();
      if (next.done === true) throw new Error(`${program} ended early`);
      return next.value;
    },
    rest: async () => {
      const all: string[] = [];
      for (let next = await lines.next(); next.done !== true; next = await lines.next()) all.push(next.value);
      return all;
    },
    go: () => spawned.stdin.write('\n'),
    ended: () => ended,
  };
}

/** As somebody who writes the data folder without a key: the file says that so many events were acknowledged. */
export function acknowledge(folder: string, session: SessionId, events: number, head: Uint8Array): void {
  const path = join(folder, 'acknowledged');
  const digest = { isKeyed: false, isKeyedBy: () => false, of: () => null };
  const forged = new Acknowledgements({ folder: path, digest, machineRun: null, now: () => 0 });
  forged.create(session, 0, new Uint8Array(32));
  forged.note(session, events, head, true);
  forged.close();
}
