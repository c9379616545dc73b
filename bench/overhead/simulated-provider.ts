/**
 * The simulated provider as the measuring process holds it: started once, told the scenario of each task, and called as
 * any OpenAI-compatible server is, over HTTP with the library that Cordon uses.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { JsonObject, Model, Usage } from '@cordon/core';
import { createModelBroker, sleep } from '@cordon/llm';

import { LATENCY } from './latency.ts';
import { requestTokens } from './tokens.ts';

export const MODEL_ID = 'simulated/obedient';

export interface SimulatedProvider {
  readonly model: Model;
  /** Calls that were given up before they were answered, since this was asked last. They cost, too. */
  takeDropped(): readonly Dropped[];
  /** What it plays from now on. */
  play(scenarios: readonly JsonObject[]): Promise<void>;
  close(): Promise<void>;
}

/** What a call cost that nobody waited for: the prompt, and what was said by then. */
export interface Dropped {
  /** When, in milliseconds since the epoch. */
  readonly at: number;
  readonly usage: Usage;
}

export async function startProvider(): Promise<SimulatedProvider> {
  const child = fork(join(import.meta.dirname, 'provider.ts'));
  const told: unknown = await nextMessage(child);
  const isStarted = typeof told === 'object' && told !== null && 'baseUrl' in told;
  if (!isStarted || typeof told.baseUrl !== 'string') throw new Error('the provider did not start');
  const broker = createModelBroker({
    providers: new Map([['simulated', { kind: 'openai-compatible', baseUrl: told.baseUrl }]]),
    fetch,
    random: Math.random,
    clock: Date.now,
    sleep,
  });
  let dropped: Dropped[] = [];
  const model: Model = {
    complete: async (request, call) => {
      const began = Date.now();
      const result = await broker.complete(request, call);
      if (result.ok || !call.signal.aborted) return result;
      const inputTokens = requestTokens(request);
      const talked = Date.now() - began - LATENCY.base - LATENCY.input * inputTokens;
      const outputTokens = Math.max(0, Math.round(talked / LATENCY.output));
      dropped.push({ at: began, usage: { inputTokens, outputTokens } });
      return result;
    },
  };
  return {
    model,
    takeDropped: () => {
      const taken = dropped;
      dropped = [];
      return taken;
    },
    play: async (scenarios) => {
      const ready = nextMessage(child);
      child.send(scenarios);
      await ready;
    },
    close: async () => {
      // A signal to the whole group has ended it already.
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      if (child.connected) child.disconnect();
      await gone;
    },
  };
}

async function nextMessage(child: ChildProcess): Promise<unknown> {
  const waiting = new AbortController();
  const { signal } = waiting;
  try {
    const gone = once(child, 'exit', { signal }).then(() => Promise.reject(new Error('the provider ended')));
    const [told] = await Promise.race([once(child, 'message', { signal }), gone]);
    return told;
  } finally {
    waiting.abort();
  }
}
