// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a placeholder of `cordon.json`
/**
 * Real processes that are killed, and a provider that is gone, at generated moments of a query that looks, pays and looks
 * again: nothing that was printed is missing in the journal, nothing is paid twice, the query ends with a reason, and the
 * next one works. The seed is printed; `CORDON_SEED` repeats a run, `CORDON_CASES=all` tries many moments.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  calls,
  type FakeOpenAi,
  type FakeScript,
  says,
  startFakeOpenAi,
} from '@cordon/testkit/fake-openai/server.ts';
import fc from 'fast-check';
import { isLeftOut, runs } from '../../tools/cases.ts';
import { SEED } from '../../tools/seed.ts';
import {
  type Conversation,
  descendantsOf,
  Home,
  ofKind,
  type Printed,
  untilGone,
} from '../harness/cordon.ts';
import { ledgerApp } from '../harness/ledger.ts';
import { inTurns, planning, step } from '../harness/provider-script.ts';

const MOMENTS_EACH = runs(1, 1, 25);
/** Events of a whole query, and a few that never come: then it was answered before. */
const MOST_EVENTS = 45;

const PAY = 'Pay the rent.';
const LOOK = 'How many payments are there?';
/** How a query ends that was interrupted and that nobody resumes. */
const GIVEN_UP = 'it was interrupted, and another query was asked';

const LOOKING = calls([{ name: 'look', arguments: {} }]);
const PAYING = calls([{ name: 'pay', arguments: {} }]);
const paying = inTurns(LOOKING, PAYING, LOOKING, says('The rent is paid.'));
const looking = inTurns(LOOKING, says('I looked.'));

const model: FakeScript = planning([step('ledger', ['pay'])], (request, number) => {
  const asked = request.messages.findLast(({ role }) => role === 'user')?.content ?? '';
  return asked.includes(PAY) ? paying(request, number) : looking(request, number);
});

function install(home: Home, provider: FakeOpenAi): readonly string[] {
  const config = home.write('cordon.json', {
    retries: { attempts: 2, firstWaitMs: 5, longestWaitMs: 50 },
    apps: { ledger: ledgerApp(['pay']) },
  });
  const from = ['--model', 'openai/gpt-x', '--base-url', provider.baseUrl];
  return ['--config', config, ...from, '--deny-warned', '--allow-rest', '--json'];
}

const ENV = { OPENAI_API_KEY: 'sk-of-a-test' };
const VICTIMS = { app: 'ledger.mjs', loop: 'packages/spoke/src/main.ts' } as const;

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

function killAll(chat: Conversation, text: string): void {
  for (const { pid, commandLine } of descendantsOf(chat.pid)) if (commandLine.includes(text)) kill(pid);
}

const endedIn = (events: readonly Printed[]) =>
  ofKind(events, 'query.ended').filter(({ reason }) => reason !== GIVEN_UP);

/** Until so many events were printed and so much time has gone by, or the query has ended. */
async function moment(chat: Conversation, at: number, waitMs: number): Promise<void> {
  await chat.until(() => chat.events.length >= at || endedIn(chat.events).length > 0, `event ${at}`);
  await pause(waitMs);
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((settle) => setTimeout(settle, milliseconds));
}

function payments(home: Home): number {
  const file = join(home.data, 'apps/ledger/payments.txt');
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0;
}

/** The chain is whole, all that was printed is in it, and what it calls executed has happened, once. */
async function assertKept(home: Home, printed: readonly Printed[]): Promise<void> {
  const verified = await home.run(['audit', 'verify']);
  assert.equal(verified.code, 0, verified.stdout + verified.stderr);
  const session = String(printed[0]?.session);
  const { events } = await home.run(['audit', 'show', session, '--json']);
  const kept = new Set(events.map(({ id }) => id));
  const lost = printed.filter(({ id }) => id !== undefined && !kept.has(id));
  assert.deepEqual(lost, [], 'every event that was printed is in the journal');
  const proposed = ofKind(events, 'tool-call.proposed').filter(({ tool }) => tool === 'pay');
  const meant = new Set(proposed.map(({ id }) => id));
  const executed = ofKind(events, 'tool-call.executed').filter(
    ({ causes }) => Array.isArray(causes) && causes.some((cause) => meant.has(cause)),
  );
  assert.ok(payments(home) <= 1, `paid ${payments(home)} times`);
  assert.ok(payments(home) >= Math.min(1, executed.length), 'what the journal calls executed has happened');
}

for (const [number, victim] of (['app', 'loop', 'provider', 'hub'] as const).entries()) {
  const moments = fc.sample(
    fc.record({ at: fc.integer({ min: 4, max: MOST_EVENTS }), waitMs: fc.integer({ min: 0, max: 40 }) }),
    { seed: SEED + number, numRuns: MOMENTS_EACH },
  );
  test(`the ${victim} is killed in a query: nothing is lost or paid twice, and the next query works`, async (t) => {
    if (isLeftOut(t, victim === 'app')) return;
    for (const { at, waitMs } of moments) {
      t.diagnostic(`CORDON_SEED=${SEED}: ${victim} at event ${at} and ${waitMs} ms`);
      await killedAt(victim, at, waitMs);
    }
  });
}

async function killedAt(
  victim: 'app' | 'loop' | 'provider' | 'hub',
  at: number,
  waitMs: number,
): Promise<void> {
  using home = new Home();
  let provider = await startFakeOpenAi({ script: model });
  try {
    const options = install(home, provider);
    const chat = home.start(['chat', ...options], { env: ENV });
    chat.say(PAY);
    await moment(chat, at, waitMs);
    if (victim === 'hub') {
      const children = descendantsOf(chat.pid).map(({ pid }) => pid);
      chat.signal('SIGKILL');
      const { events } = await chat.end();
      await untilGone(children);
      await assertKept(home, events);
      const resumed = await home.run(['resume', ...options], { env: ENV });
      assert.doesNotMatch(resumed.stderr, /\bat .*:\d+:\d+/, 'no stack is shown');
      await assertKept(
        home,
        resumed.events.length > 0 && resumed.events[0]?.session !== undefined ? resumed.events : events,
      );
      const next = await home.run(['ask', LOOK, ...options], { env: ENV });
      assert.equal(next.code, 0, next.stderr);
      return;
    }
    if (victim === 'provider') await provider.close();
    else killAll(chat, VICTIMS[victim]);
    await chat.event('query.ended');
    const [ended] = endedIn(chat.events);
    assert.ok(ended?.outcome === 'answered' || ended?.outcome === 'failed', JSON.stringify(ended));
    if (ended.outcome === 'failed')
      assert.match(String(ended.reason), /^(?!.*(undefined|\.ts:\d)).{20,600}$/);
    if (victim === 'provider')
      provider = await startFakeOpenAi({ script: model, port: Number(new URL(provider.baseUrl).port) });
    chat.say(LOOK);
    await chat.event('query.ended', ({ reason }) => reason !== GIVEN_UP, 2);
    assert.equal(endedIn(chat.events)[1]?.outcome, 'answered', JSON.stringify(endedIn(chat.events)));
    chat.say('/exit');
    const { code, events, stderr } = await chat.end();
    assert.equal(code, 0, stderr);
    await assertKept(home, events);
  } finally {
    await provider.close();
  }
}
