/**
 * One tool call, measured twice. In the hub: from the arrival of the loop's request for it to the result that is handed
 * back to the loop; between them the arguments against their schema, the decision of the monitor with the default
 * policy, the journal on disk, the call of a confined app over MCP, and the decision about its output. From model to
 * model: from the model's answer, which asks for it, to its next request, which holds the result; that is also the link to the
 * confined loop and back, twice, and the decision about the model call.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { Consent, InstalledApp, Model, ModelRequest, ModelResponse } from '@cordon/core';
import { DEFAULT_TURN_LIMITS, ok } from '@cordon/core';
import { Hub, type SpokeLauncher } from '@cordon/hub';
import { NO_PINS } from '@cordon/hub/parts';
import { PLANNER } from '@cordon/planner';
import { loadPolicy } from '@cordon/policy';
import { fail, type Rig } from '@cordon/testkit/isolation/rig.ts';
import { openStore } from '@cordon/trace';
import { CODE_ROOT } from '../places.ts';

const CALLS = 40;
/** What all later calls use is compiled, and partly optimised, by then. */
const WARM_UPS = 15;

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

/** Keeps how long each request for a tool was with the hub. */
class WatchedLoops implements SpokeLauncher {
  readonly #loops: SpokeLauncher;
  readonly times: number[] = [];
  #arrivedAt = 0;

  constructor(loops: SpokeLauncher) {
    this.#loops = loops;
  }

  async launch(signal: AbortSignal): ReturnType<SpokeLauncher['launch']> {
    const launched = await this.#loops.launch(signal);
    if (launched.ok) this.#watch(launched.value.link);
    return launched;
  }

  /** In place, so that what is between the kernel and the hub is as it always is. */
  #watch(link: Duplex): void {
    const emit = link.emit.bind(link);
    const write = link.write.bind(link);
    Object.assign(link, {
      emit: (event: string, ...values: readonly unknown[]) => {
        if (event === 'data' && String(values[0]).startsWith('{"type":"tool"'))
          this.#arrivedAt = performance.now();
        return emit(event, ...values);
      },
      write: (line: string) => {
        const written = write(line);
        if (line.startsWith('{"type":"output"')) this.times.push(performance.now() - this.#arrivedAt);
        return written;
      },
    });
  }
}

export interface CallTimes {
  /** Milliseconds of each call in the hub. */
  readonly inHub: readonly number[];
  /** Milliseconds from the model to the model. */
  readonly modelToModel: readonly number[];
}

/**
 * All calls but the first few, which compile what all others use.
 *
 * @param folder where the journal is kept: one that does not exist yet
 */
export async function toolCalls(rig: Rig, app: InstalledApp, folder: string): Promise<CallTimes> {
  const file = join(CODE_ROOT, 'policies', 'default.gr');
  const policy = loadPolicy(readFileSync(file, 'utf8'), { file });
  const store = openStore(folder, Date.now);
  if (!policy.ok || !store.ok) fail('the policy or the journal cannot be read');
  const model = new CallingModel(app);
  const loops = new WatchedLoops(rig.loops);
  const hub = new Hub({
    store: store.value,
    apps: [app],
    model,
    modelId: 'bench/calling',
    planner: PLANNER,
    policy: policy.value,
    launcher: rig.apps,
    spokes: loops,
    pins: NO_PINS,
    consent: nobody,
    clock: Date.now,
    limits: { ...DEFAULT_TURN_LIMITS, steps: CALLS + 1 },
  });
  const session = hub.openSession({ isolation: 'spokes', notices: [] });
  if (!session.ok) fail(session.fault.message);
  // As a chat does while the user types.
  await store.value.makeRoom();
  const outcome = await session.value.ask('call it', new AbortController().signal);
  await session.value.close('end');
  store.value.close();
  if (outcome.kind !== 'answered') fail(`the query was ${outcome.kind}: ${outcome.reason}`);
  if (loops.times.length !== CALLS) fail(`${loops.times.length} of ${CALLS} calls were seen`);
  return { inHub: loops.times.slice(WARM_UPS), modelToModel: model.times.slice(WARM_UPS) };
}
