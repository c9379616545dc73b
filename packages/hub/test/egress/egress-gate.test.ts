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
