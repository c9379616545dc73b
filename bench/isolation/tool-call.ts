/**
 * One tool call as a model makes it: from the model's answer, which asks for it, to the model's next request, which
 * holds the result. Between them: the link to the confined loop and back, the arguments against their schema, the
 * decision of the monitor with the default policy, the journal on disk, the call of a confined app over MCP, and the
 * decision about its output.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Consent, InstalledApp, Model, ModelRequest, ModelResponse } from '@cordon/core';
import { ok } from '@cordon/core';
import { Hub } from '@cordon/hub';
import { loadPolicy } from '@cordon/policy';
import { openStore } from '@cordon/trace';
import { CODE_ROOT } from '../places.ts';
import { fail, type Rig } from './rig.ts';

const CALLS = 20;

/** Calls the app's tool again and again, and then answers; keeps when it was asked. */
class CallingModel implements Model {
  readonly #app: InstalledApp;
  readonly times: number[] = [];
  #calls = 0;
  #answeredAt = 0;

  constructor(app: InstalledApp) {
    this.#app = app;
  }

  async complete(request: ModelRequest) {
    if (this.#calls > 0) this.times.push(performance.now() - this.#answeredAt);
    const response = request.role === 'planner' ? this.#plan() : this.#act();
    this.#answeredAt = performance.now();
    return ok(response);
  }

  #plan(): ModelResponse {
    const step = { app: this.#app.id, task: 'call it', uses: ['echo'], needs: [], after: [] };
    return said(JSON.stringify({ steps: [step], candidates: [] }));
  }

  #act(): ModelResponse {
    if (this.#calls === CALLS) return said('done');
    const call = { id: `call-${++this.#calls}`, name: 'echo', arguments: { text: 'hello' } };
    return { ...said(''), calls: [call], finish: 'tool-calls' };
  }
}

function said(text: string): ModelResponse {
  return { text, calls: [], finish: 'stop', usage: { inputTokens: 1, outputTokens: 1 } };
}

const nobody: Consent = {
  decide: () => Promise.resolve({ kind: 'deny' }),
  choose: () => Promise.resolve(null),
} as unknown as Consent;

/**
 * Milliseconds of each call but the first few, which compile what all others use.
 *
 * @param folder where the journal is kept: one that does not exist yet
 */
export async function toolCalls(rig: Rig, app: InstalledApp, folder: string): Promise<readonly number[]> {
  const file = join(CODE_ROOT, 'policies', 'default.gr');
  const policy = loadPolicy(readFileSync(file, 'utf8'), { file });
  const store = openStore(folder, Date.now);
  if (!policy.ok || !store.ok) fail('the policy or the journal cannot be read');
  const model = new CallingModel(app);
  const hub = new Hub({
    store: store.value,
    apps: [app],
    model,
    modelId: 'bench/calling',
    policy: policy.value,
    launcher: rig.apps,
    spokes: rig.loops,
    consent: nobody,
    clock: Date.now,
  });
  const session = hub.openSession({ isolation: 'spokes', notices: [] });
  if (!session.ok) fail(session.fault.message);
  const outcome = await session.value.ask('call it', new AbortController().signal);
  await session.value.close('end');
  store.value.close();
  if (outcome.kind !== 'answered') fail(`the query was ${outcome.kind}: ${outcome.reason}`);
  return model.times.slice(5);
}
