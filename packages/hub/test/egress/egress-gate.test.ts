/** Requests of an app to the network: first contact is asked about, a grant covers the site, and the trace has it all. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EgressRequest } from '@cordon/egress';
import { app } from '@cordon/testkit/hub/app.ts';
import { no, yes } from '../fixture/consent.ts';
import { call, plan } from '../fixture/model.ts';
import { type Stage, stageFor } from '../fixture/stage.ts';

const MAIL = app(
  'mail',
  { read: 'hello' },
  { network: ['example.com', 'example.com:8443', 'example.com:80'] },
);
const SCRIPT = { planner: [plan([{ app: 'mail', uses: ['read'] }])], mail: [[call('read')], 'done'] };

function to(host: string, port = 443): EgressRequest {
  const isTls = port === 443;
  const seen = isTls
    ? { method: 'CONNECT', path: null, bytes: null }
    : { method: 'POST', path: '/a', bytes: 7 };
  return { host, port, site: 'example.com', ...seen };
}

/** Runs a query, and `during` once while the mail app is at work. */
async function during(
  stage: Stage,
  run: (decide: (request: EgressRequest) => Promise<boolean>) => Promise<void>,
) {
  const door = stage.doors.get('mail');
  assert.ok(door);
  await run((request) => door(request, new AbortController().signal));
}

function stageOf(
  t: Parameters<typeof stageFor>[0],
  user: ReturnType<typeof yes>,
  run: (decide: (request: EgressRequest) => Promise<boolean>) => Promise<void>,
): Stage {
  let isDone = false;
  return stageFor(t, {
    apps: [MAIL],
    script: SCRIPT,
    user,
    meanwhile: async (who, stage) => {
      if (who !== 'mail' || isDone) return;
      isDone = true;
      await during(stage, run);
    },
  });
}

const subjects = (stage: Stage) => stage.user.asked.map(({ subject }) => `${subject.scope} ${subject.what}`);

test('the first contact with a site is asked about, and a grant for the session covers its hosts', async (t) => {
  const answers: boolean[] = [];
  const stage = stageOf(t, yes('session'), async (decide) => {
    for (const host of ['example.com', 'api.example.com', 'example.com'])
      answers.push(await decide(to(host)));
  });
  await stage.ask('read');
  assert.deepEqual(answers, [true, true, true]);
  assert.deepEqual(subjects(stage), ['egress example.com']);
});

test('a yes for once is asked for again, and a no is a no', async (t) => {
  for (const [says, expected] of [
    [yes('once'), [true, true]],
    [no(), [false, false]],
  ] as const) {
    const answers: boolean[] = [];
    const stage = stageOf(t, says, async (decide) => {
      for (const host of ['example.com', 'example.com']) answers.push(await decide(to(host)));
    });
    await stage.ask('read');
    assert.deepEqual(answers, expected);
    assert.equal(stage.questions.length, 2);
  }
});

type Decide = (request: EgressRequest) => Promise<boolean>;

/** The app connects while its tool is called, twice in a row; what was answered in each call. */
async function duringCalls(
  t: Parameters<typeof stageFor>[0],
  user: ReturnType<typeof yes>,
  connect: (decide: Decide, call: number) => Promise<readonly boolean[]>,
  { policy = '', both = false } = {},
): Promise<{ readonly stage: Stage; readonly answers: readonly (readonly boolean[])[] }> {
  const answers: (readonly boolean[])[] = [];
  let calls = 0;
  const connecting = app(
    'mail',
    {
      send: {
        reply: async () => {
          const times = calls++;
          await during(stage, async (decide) => void answers.push(await connect(decide, times)));
          return 'sent';
        },
      },
    },
    { network: ['example.com', 'example.com:465', 'example.com:993'] },
  );
  const sends = [call('send', { n: 1 }), call('send', { n: 2 })];
  const stage = stageFor(t, {
    apps: [connecting],
    script: {
      planner: [plan([{ app: 'mail', uses: ['send'] }])],
      mail: [...(both ? [sends] : sends.map((one) => [one])), 'done'],
    },
    user,
    policy,
  });
  await stage.ask('send both');
  return { stage, answers };
}

const smtp = (host = 'example.com', port = 465): EgressRequest => ({
  ...{ host, port, site: 'example.com' },
  ...{ method: 'CONNECT', path: null, bytes: null },
});

test('a yes for once covers the further connections to the same place that one call opens, and a no too', async (t) => {
  for (const [says, allowed] of [
    [yes('once'), true],
    [no(), false],
  ] as const) {
    const { stage, answers } = await duringCalls(t, says, async (decide) => [
      await decide(smtp()),
      ...(await Promise.all([decide(smtp()), decide(smtp())])),
    ]);
    assert.deepEqual(answers, [
      [allowed, allowed, allowed],
      [allowed, allowed, allowed],
    ]);
    // One for each call; each connection is decided and in the trace.
    assert.deepEqual(subjects(stage), ['egress example.com:465', 'egress example.com:465']);
    assert.equal(stage.user.asked[0]?.onceCovers, 'further connections there during the same call');
    assert.equal(stage.allEvents().filter(({ kind }) => kind === 'egress.decided').length, 6);
  }
});

// Attack: an app uses the yes to one connection for others, that the user was not asked about.
for (const [attack, requests, asked] of [
  ['to another port', [smtp(), smtp('example.com', 993)], 2],
  ['to another host of the same site', [smtp(), smtp('evil.example.com')], 2],
  ['for a request whose path is shown', [smtp(), { ...smtp(), method: 'GET', path: '/?code=4711' }], 2],
  ['without end', Array.from({ length: 12 }, () => smtp()), 3],
] as const)
  test(`a yes for once does not cover connections ${attack}`, async (t) => {
    const { stage } = await duringCalls(t, yes('once'), async (decide, times) => {
      const allowed: boolean[] = [];
      for (const request of times === 0 ? requests : []) allowed.push(await decide(request));
      return allowed;
    });
    assert.equal(stage.user.asked.length, asked);
  });

// Attack: two calls run, and nobody can tell which of them a connection serves.
test('while an app works on two calls each connection is asked about', async (t) => {
  const both = Promise.withResolvers<void>();
  const { stage } = await duringCalls(
    t,
    yes('once'),
    async (decide, times) => {
      if (times === 1) both.resolve();
      await both.promise;
      return [await decide(smtp()), await decide(smtp())];
    },
    { both: true },
  );
  assert.equal(stage.user.asked.length, 4);
});

// What the user's rule asks is asked about each time.
test('where a rule asks, a yes for once covers nothing else', async (t) => {
  const policy = 'rule connects:\nask "whom it connects to" if:\n  (c: Egress)\n';
  const { stage } = await duringCalls(
    t,
    yes('once'),
    async (decide, times) => (times === 0 ? [await decide(smtp()), await decide(smtp())] : []),
    { policy },
  );
  assert.deepEqual(
    stage.user.asked.map(({ coversMore }) => coversMore),
    [undefined, undefined],
  );
});

test('another port is another question, and one in the clear says so', async (t) => {
  const stage = stageOf(t, yes('session'), async (decide) => {
    for (const port of [443, 8443, 80, 8443]) await decide(to('example.com', port));
  });
  await stage.ask('read');
  assert.deepEqual(subjects(stage), [
    'egress example.com',
    'egress example.com:8443',
    'egress example.com:80',
  ]);
  assert.deepEqual(
    stage.user.asked.map(({ warnings }) => warnings.length),
    [0, 0, 1],
  );
  assert.deepEqual(stage.user.asked[1]?.data, [{ name: 'POST', value: 'example.com/a with 7 bytes' }]);
});

test('the trace has method, host, port, path and bytes before anything leaves', async (t) => {
  const stage = stageOf(t, yes(), async (decide) => {
    await decide(to('example.com', 8443));
  });
  await stage.ask('read');
  const [proposed] = stage.allEvents().flatMap((event) => (event.kind === 'egress.proposed' ? [event] : []));
  assert.ok(proposed);
  const { method, host, port, path, bytes } = proposed;
  assert.deepEqual([method, host, port, path, bytes], ['POST', 'example.com', 8443, '/a', 7]);
});

test('a yes that comes when the proxy has given up lets nothing out, and the trace says that it did not', async (t) => {
  const answers: (boolean | undefined)[] = [];
  const late = new AbortController();
  let isDone = false;
  const stage = stageFor(t, {
    apps: [MAIL],
    script: SCRIPT,
    user: () => {
      late.abort();
      return { allow: true, duration: 'once' };
    },
    meanwhile: async (who, { doors }) => {
      if (who !== 'mail' || isDone) return;
      isDone = true;
      answers.push(await doors.get('mail')?.(to('example.com'), late.signal));
    },
  });
  await stage.ask('read');
  assert.deepEqual(answers, [false]);
  const kinds = stage.allEvents().map(({ kind }) => kind);
  assert.deepEqual([kinds.includes('egress.failed'), kinds.includes('egress.executed')], [true, false]);
});

test('what is refused because nobody wants it is counted in the trace', async (t) => {
  const stage = stageOf(t, yes('session'), async (decide) => {
    await decide(to('example.com'));
  });
  await stage.ask('read');
  const door = stage.doors.get('mail');
  for (let n = 0; n < 12; n++)
    assert.equal(await door?.(to('example.com'), new AbortController().signal), false);
  const refused = stage.allEvents().flatMap((event) => (event.kind === 'egress.refused' ? [event] : []));
  assert.deepEqual(
    refused.map(({ host, reason, times }) => [host, reason, times]),
    [
      ['example.com', 'no query is running', 1],
      ['example.com', 'no query is running', 10],
    ],
  );
});
