/**
 * `npm run bench:hub`: what the hub itself costs, and whether a long session costs more. Model and app answer at once,
 * inside this process, so that all the time of a step is the hub's: from the model's answer, which asks for a tool, to its
 * next request, which holds the result. Between them: the link to the agent loop and back, the call and its output as two
 * effects of their own, each recorded, decided by the default policy and recorded again, MCP, and the next prompt.
 *
 * A short session (100 events) and a long one (10,000) take turns, so that a busy machine slows both.
 * So do sessions of 100 calls and of 10,000. And a model asks for as many calls in one answer as it may: all are served.
 * `--json` prints the rows; `--rounds N` measures so many queries of each; `--calls N` are made instead of 10,000.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  DEFAULT_APP_LIMITS,
  DEFAULT_TURN_LIMITS,
  DEFAULT_WARM_LIMITS,
  MOST_CALLS_AT_ONCE,
  type Model,
  type ModelRequest,
  type ModelResponse,
  ok,
  type SessionId,
} from '@cordon/core';
import { Hub, type Session } from '@cordon/hub';
import { NO_PINS } from '@cordon/hub/parts';
import { PLANNER } from '@cordon/planner';
import { loadPolicy } from '@cordon/policy';
import { app, NUMBER, scriptedLauncher, shape } from '@cordon/testkit/hub/app.ts';
import { realLoop } from '@cordon/testkit/hub/spoke.ts';
import { openStore, type Store } from '@cordon/trace';
import { printRecords } from '../machine/print.ts';
import { thisMachine } from '../machine.ts';
import { CODE_ROOT } from '../places.ts';
import { type Summary, summary } from '../sample.ts';

/** Tool calls of one query. */
const CALLS = 8;
/** Tool calls of a session before the query that is measured. */
const FEW_CALLS = 100;
const SHORT = 100;
const LONG = 10_000;
/** The aim: the median of a step. */
const AIM_MS = 3;

const { values: options } = parseArgs({
  options: {
    json: { type: 'boolean' },
    rounds: { type: 'string', default: '40' },
    calls: { type: 'string', default: '10000' },
  },
});
const ROUNDS = Number(options.rounds);
const MANY_CALLS = Number(options.calls);
/** The rows that are compared: of CPU time, because on a busy machine the clock tells of others. */
const FEW = `query, CPU, ${FEW_CALLS} calls before`;
const MANY = `query, CPU, ${MANY_CALLS} calls before`;

/** Calls the tool so often in each query, and then answers; keeps how long it was not asked. */
class CallingModel implements Model {
  readonly steps: number[] = [];
  /** Of its next answers. */
  callsAtOnce = 1;
  #calls = 0;
  #answeredAt = 0;

  async complete(request: ModelRequest) {
    const now = performance.now();
    const isStep = request.messages.at(-1)?.role === 'tool';
    if (isStep) this.steps.push(now - this.#answeredAt);
    const response = this.#answer(request);
    this.#answeredAt = performance.now();
    return ok(response);
  }

  #answer({ role, messages }: ModelRequest): ModelResponse {
    if (role === 'planner') {
      const step = { app: 'desk', task: 'look', uses: ['look'], needs: [], after: [] };
      return said(JSON.stringify({ steps: [step], candidates: [] }));
    }
    const since = messages.slice(messages.findLastIndex((message) => message.role === 'user'));
    const answers = since.filter((message) => message.role === 'assistant').length;
    if (answers === (this.callsAtOnce === 1 ? CALLS : 1)) {
      const served = since.filter(({ role, text }) => role === 'tool' && text.includes('A letter. ')).length;
      const wanted = answers * this.callsAtOnce;
      if (served !== wanted) throw new Error(`${served} of ${wanted} calls were served`);
      return said('That is all.');
    }
    const calls = Array.from({ length: this.callsAtOnce }, () => {
      const page = ++this.#calls;
      return { id: `c${page}`, name: 'look', arguments: { page } };
    });
    return { ...said(''), calls, finish: 'tool-calls' };
  }
}

function said(text: string): ModelResponse {
  return { text, calls: [], finish: 'stop', usage: { inputTokens: 1, outputTokens: 1 } };
}

const DESK = app(
  'desk',
  {
    look: {
      input: shape({ page: NUMBER }),
      reply: ({ page }) => ({ structured: { page: page ?? 0, text: 'A letter. '.repeat(40) } }),
    },
  },
  {
    untrusted: ['look'],
    private: ['look'],
    // A model that answers at once asks more than an app may be asked.
    limits: { ...DEFAULT_APP_LIMITS, messagesPerSecond: 1_000_000 },
  },
);

interface Rig {
  readonly store: Store;
  readonly hub: Hub;
  readonly model: CallingModel;
}

function raise(folder: string): Rig {
  const file = join(CODE_ROOT, 'policies', 'default.gr');
  const policy = loadPolicy(readFileSync(file, 'utf8'), { file });
  const store = openStore(folder, Date.now);
  if (!policy.ok || !store.ok) throw new Error('the policy or the journal cannot be read');
  const model = new CallingModel();
  const hub = new Hub({
    store: store.value,
    apps: [DESK.installed],
    model,
    modelId: 'bench/calling',
    planner: PLANNER,
    policy: policy.value,
    launcher: scriptedLauncher([DESK], () => undefined, new Map()),
    spokes: realLoop(),
    pins: NO_PINS,
    consent: {
      permission: async () => ({ allow: false, reason: 'no-answer' }),
      choose: async () => null,
    },
    clock: Date.now,
    limits: { ...DEFAULT_TURN_LIMITS, steps: CALLS + 1 },
    warm: { ...DEFAULT_WARM_LIMITS, apps: 0 },
  });
  return { store: store.value, hub, model };
}

function open({ hub }: Rig, resume?: SessionId): Session {
  const opened = hub.openSession({
    isolation: 'spokes',
    notices: [],
    ...(resume === undefined ? {} : { resume }),
  });
  if (!opened.ok) throw new Error(opened.fault.message);
  return opened.value;
}

const { signal } = new AbortController();

async function ask(session: Session): Promise<number> {
  const began = performance.now();
  const { kind, reason } = await session.ask('Look through the letters on my desk.', signal);
  if (kind !== 'answered') throw new Error(`the query was ${kind}: ${reason}`);
  return performance.now() - began;
}

function eventsOf({ store }: Rig, session: Session): number {
  return store.sessions.find(session.id)?.events ?? 0;
}

async function fillCalls(session: Session, calls: number): Promise<void> {
  for (let made = 0; made < calls; made += CALLS) await ask(session);
}

async function fill(rig: Rig, session: Session, events: number): Promise<void> {
  while (eventsOf(rig, session) < events) await ask(session);
}

interface Row extends Summary {
  readonly name: string;
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'cordon-bench-'));
  try {
    const rig = raise(join(folder, 'store'));
    const rows = await measure(rig);
    rig.store.close();
    await print(rows);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(rig: Rig): Promise<readonly Row[]> {
  const long = open(rig);
  await fill(rig, long, LONG);
  const times = new Map<string, number[]>();
  const add = (name: string, values: readonly number[]) =>
    times.set(name, [...(times.get(name) ?? []), ...values]);
  const one = async (session: Session, name: string) => {
    rig.model.steps.length = 0;
    const before = process.cpuUsage();
    const whole = await ask(session);
    const { user, system } = process.cpuUsage(before);
    add(`step, ${name}`, rig.model.steps);
    add(`query of ${CALLS} calls, ${name}`, [whole]);
    // On a busy machine the clock tells of others; this does not.
    add(`the same, CPU, ${name}`, [(user + system) / 1000]);
  };
  for (let round = 0; round < ROUNDS; round++) {
    // A short session grows too: each is new, and measured at its first query behind 100 events.
    const short = open(rig);
    await fill(rig, short, SHORT);
    await one(short, `${SHORT} events`);
    await one(long, `${LONG} events`);
    await short.close('end');
  }
  add(`journal of ${LONG} events: resume`, await resumed(rig, long));
  await measureCalls(rig, add);
  return [...times].map(([name, values]) => ({ name, ...summary(values) }));
}

/** The same by calls: a step costs the same behind ten thousand as behind a hundred. */
async function measureCalls(rig: Rig, add: (name: string, values: readonly number[]) => void): Promise<void> {
  const many = open(rig);
  await fillCalls(many, MANY_CALLS);
  const steps = async (session: Session, name: string) => {
    rig.model.steps.length = 0;
    const before = process.cpuUsage();
    await ask(session);
    const { user, system } = process.cpuUsage(before);
    add(`step, ${name}`, rig.model.steps);
    add(`query, CPU, ${name}`, [(user + system) / 1000]);
  };
  for (let round = 0; round < ROUNDS; round++) {
    const few = open(rig);
    await fillCalls(few, FEW_CALLS);
    await steps(few, `${FEW_CALLS} calls before`);
    await steps(many, `${MANY_CALLS} calls before`);
    rig.model.callsAtOnce = MOST_CALLS_AT_ONCE;
    await steps(few, `${MOST_CALLS_AT_ONCE} calls in one answer, all served`);
    rig.model.callsAtOnce = 1;
    await few.close('end');
  }
  await many.close('end');
}

/** From a closed session to one that takes a query: the chain is verified and the monitor told all of it. */
async function resumed(rig: Rig, session: Session): Promise<readonly number[]> {
  const times: number[] = [];
  let current = session;
  for (let time = 0; time < 5; time++) {
    await current.close('suspend');
    const began = performance.now();
    current = open(rig, session.id);
    times.push(performance.now() - began);
  }
  await current.close('end');
  return times;
}

async function print(rows: readonly Row[]): Promise<void> {
  const median = (name: string) => rows.find((row) => row.name === name)?.median ?? Number.NaN;
  const ratio = median(`step, ${LONG} events`) / median(`step, ${SHORT} events`);
  const callRatio = median(MANY) / median(FEW);
  const isMet = median(`step, ${LONG} events`) < AIM_MS;
  const record = { machine: thisMachine(), rows, ratio, callRatio, aimMs: AIM_MS, isMet };
  if (options.json === true) console.log(JSON.stringify(record));
  else await printRecords({ hub: record });
}

await main();
