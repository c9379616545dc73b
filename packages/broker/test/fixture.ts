/** A real sandbox, a real provider process, and a real server that answers as a provider. */

import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { ModelRequest, ProviderConfig, RetryLimits } from '@cordon/core';
import { type Dial, HERE } from '@cordon/dialler';
import { providerAccess } from '@cordon/llm';
import { type ConfinedProcess, openSandbox, type Sandbox } from '@cordon/sandbox';
import { type FakeOpenAi, type FakeScript, startFakeOpenAi } from '@cordon/testkit/fake-openai/server.ts';
import { lentSelfTest } from '@cordon/testkit/lent-results.ts';
import { type BrokerParts, openBroker, type ProviderAccess } from '../src/index.ts';

export const CODE_ROOT = resolve(import.meta.dirname, '../../..');
export const KEY = 'sk-test-0123456789abcdef';
export const LIMITS: RetryLimits = { attempts: 1, firstWaitMs: 1, longestWaitMs: 1, callSeconds: 60 };

export const SCRATCH = mkdtempSync(join(tmpdir(), 'cordon-broker-'));
// Under a root hub a confined process is another user, and sees what the sandbox mounts for it.
chmodSync(SCRATCH, 0o755);
process.on('exit', () => rmSync(SCRATCH, { recursive: true, force: true }));

const machine = openSandbox({ node: process.execPath, cacheFile: lentSelfTest() });

/** The sandbox of this machine, and every process that it started. */
export function watchedSandbox(): { readonly sandbox: Sandbox; readonly started: ConfinedProcess[] } {
  const started: ConfinedProcess[] = [];
  const sandbox: Sandbox = {
    probe: () => machine.probe(),
    spawn: async (spec, signal) => {
      const spawned = await machine.spawn(spec, signal);
      if (spawned.ok) started.push(spawned.value);
      return spawned;
    },
  };
  return { sandbox, started };
}

export function accessTo(config: ProviderConfig, limits: RetryLimits = LIMITS): ProviderAccess {
  return providerAccess({ name: 'local', modelId: 'qwen', config }, limits);
}

export interface Setting {
  readonly fake: FakeOpenAi;
  readonly started: readonly ConfinedProcess[];
  readonly complete: ReturnType<ReturnType<typeof openBroker>['provider']>['complete'];
}

/** A broker whose provider `local` is a server that answers by a script. */
export async function withProvider(
  script: FakeScript,
  body: (setting: Setting) => Promise<void>,
  times: BrokerParts['times'] = {},
  dial: Dial = HERE.dial,
): Promise<void> {
  const fake = await startFakeOpenAi({ script });
  const { sandbox, started } = watchedSandbox();
  const broker = openBroker({
    sandbox,
    dial,
    codeRoot: CODE_ROOT,
    times: { firstWaitMs: 1, ...times },
  });
  const access = accessTo({ kind: 'openai-compatible', baseUrl: fake.baseUrl, key: KEY });
  try {
    await body({ fake, started, complete: broker.provider('local', access).complete });
  } finally {
    await broker.close();
    await fake.close();
  }
}

export function ask(text: string, more: Partial<ModelRequest> = {}): ModelRequest {
  return { model: 'local/qwen', role: 'agent', messages: [{ role: 'user', text }], tools: [], ...more };
}

export function never(): AbortSignal {
  return new AbortController().signal;
}

export async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; !holds(); tries++) {
    if (tries > 3_000) throw new Error('it did not come about in 60 s');
    await wait(20);
  }
}
