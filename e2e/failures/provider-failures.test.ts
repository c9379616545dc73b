/**
 * A provider that fails, in each of its ways, through the whole system: what passes is tried again, what does not
 * ends the query with one line that says why and one that says what to do. The session continues.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  calls,
  cuts,
  type FakeAnswer,
  type FakeScript,
  fails,
  garbage,
  hangs,
  rateLimits,
  says,
  startFakeOpenAi,
} from '@cordon/testkit/fake-openai/server.ts';
import { isLeftOut } from '../../tools/cases.ts';
import { killBelow } from '../harness/cordon.ts';
import { Place, type Run } from '../harness/provider-harness.ts';
import { bodyOf } from '../harness/provider-script.ts';
import { assertMediated, eventsOf, fieldOf } from '../harness/provider-trace.ts';

const KEY = 'sk-e2e-5ecret-0f-the-u5er';
/** Quick, so that a test of all attempts is. */
const RETRIES = { attempts: 3, firstWaitMs: 5, longestWaitMs: 2_000, callSeconds: 60 };

/** An app without process makes the shortest whole query: planner, context, answer. */
const APPS = { poet: { instructions: 'Answer in verse.' } };

const PLAN = says('{"steps": [{"app": "poet", "task": "answer"}], "candidates": []}');

/** The planner gets its plan; then these, the last one for ever. */
function afterPlan(...answers: readonly FakeAnswer[]): FakeScript {
  let asked = 0;
  return (request) => {
    if (isPlanner(bodyOf(request))) return PLAN;
    return answers[Math.min(asked++, answers.length - 1)] ?? fails(500);
  };
}

function isPlanner(body: string): boolean {
  return body.includes('You plan how a user');
}

/** One place for all: what the machine can confine is found out once. */
const shared = new Place();
after(() => shared[Symbol.dispose]());
shared.write('cordon.json', { apps: APPS, retries: RETRIES });

interface Asked {
  readonly run: Run;
  /** How often the provider was asked, without the planner's request. */
  readonly asked: number;
  readonly milliseconds: number;
}

async function ask(
  script: FakeScript,
  more: readonly string[] = [],
  key: string | null = KEY,
): Promise<Asked> {
  const fake = await startFakeOpenAi({ script });
  try {
    const began = performance.now();
    const args = ['ask', 'What is the sea?', '--model', 'openai/gpt-x', '--base-url', fake.baseUrl, ...more];
    const run = await shared.cordon(args, { environment: key === null ? {} : { OPENAI_API_KEY: key } });
    const asked = fake.requests.filter((request) => !isPlanner(bodyOf(request))).length;
    return { run, asked, milliseconds: performance.now() - began };
  } finally {
    await fake.close();
  }
}

/** The text without the line breaks of a narrow terminal. */
function plain(text: string): string {
  return text.replace(/\s+/g, ' ');
}

/** A failed query: exit 2, its reason and remedy, nothing on standard output, no stack, no key. */
function assertFailed({ run }: Asked, reason: string, help: string): void {
  assert.equal(run.code, 2, run.stderr);
  assert.equal(run.stdout, '');
  const told = plain(run.stderr);
  assert.ok(told.endsWith(`failed: ${reason} help: ${help} `), told);
  assert.equal(told.split('provider `').length, 2, 'it is told once');
  assertQuiet(run);
}

function assertQuiet(run: Run): void {
  for (const text of [run.stdout, run.stderr]) {
    assert.ok(!text.includes(KEY), 'the key is shown');
    assert.doesNotMatch(text, /^\s+at .*[:(]\d+|node:internal|\.ts:\d+/m);
  }
}

const GIVEN_UP = [
  {
    name: '401',
    answer: fails(401, `Incorrect API key provided: ${KEY}`),
    asked: 1,
    reason: 'provider `openai` answered 401: `Incorrect API key provided: [key]`',
    help: 'check OPENAI_API_KEY in the environment of cordon',
  },
  {
    name: '429 for ever',
    answer: rateLimits(),
    asked: 3,
    reason: 'provider `openai` answered 429: `too many requests` (tried 3 times)',
    help: 'wait, or use another model (`--model`)',
  },
  {
    name: '429 with a wait that is too long',
    answer: rateLimits('3600'),
    asked: 1,
    reason: 'provider `openai` answered 429: `too many requests`',
    help: 'the provider asks to wait 3600 s; try again after that',
  },
  {
    name: '500 for ever',
    answer: fails(500, 'internal\u001b[31m error'),
    asked: 3,
    reason: 'provider `openai` answered 500: `internal [31m error` (tried 3 times)',
    help: '`openai` has a passing problem; try again later',
  },
  {
    name: 'a cut stream for ever',
    answer: cuts(says('The sea is a very long sentence')),
    asked: 3,
    reason: 'the answer of provider `openai` broke off before its end (tried 3 times)',
    help: '`openai` or the network to it is unstable; try again',
  },
  {
    name: 'a connection that is reset in the middle, for ever',
    answer: cuts(says('The sea is a very long sentence'), 3, 'reset'),
    asked: 3,
    reason: 'the answer of provider `openai` broke off before its end (tried 3 times)',
    help: '`openai` or the network to it is unstable; try again',
  },
  {
    name: 'arguments that are no JSON, for ever',
    answer: calls([{ name: 'probe', arguments: '{"functionality": ' }]),
    asked: 3,
    reason:
      'the model of provider `openai` called `probe` with arguments that are no JSON object: not JSON (tried 3 times)',
    help: 'use a model that is better at calling tools (`--model`)',
  },
  {
    name: 'an empty answer for ever',
    answer: says(''),
    asked: 3,
    reason: 'the model of provider `openai` gave an empty answer (tried 3 times)',
    help: 'ask again, or use another model (`--model`)',
  },
  {
    name: 'a body of something else',
    answer: garbage('<html><script>alert(1)</script>Sign in to the network</html>'),
    asked: 3,
    reason:
      'provider `openai` did not answer in its protocol: `<html><script>alert(1)</script>Sign in to the network</html>` (tried 3 times)',
    help: 'check the base URL (it usually ends in `/v1`); a proxy may answer in its place',
  },
  {
    name: 'a model that the provider does not know',
    answer: fails(404, 'The model `gpt-x` does not exist'),
    asked: 1,
    reason: "provider `openai` answered 404: `The model 'gpt-x' does not exist`",
    help: 'check the model id and the base URL',
  },
] as const;

for (const { name, answer, asked, reason, help } of GIVEN_UP) {
  test(`the query ends with a reason and a remedy: ${name}`, async (t) => {
    if (isLeftOut(t, name === '401')) return;
    const result = await ask(afterPlan(answer));
    assertFailed(result, reason, help);
    assert.equal(result.asked, asked);
  });
}

const PASSING = [
  { name: '429 with a wait', answers: [rateLimits('1')], waitMs: 1_000 },
  { name: '500', answers: [fails(500), fails(503)], waitMs: 0 },
  { name: 'a cut stream', answers: [cuts(says('The sea is a very long sentence'))], waitMs: 0 },
  {
    name: 'arguments that are no JSON',
    answers: [calls([{ name: 'probe', arguments: '{"functionality": ' }])],
    waitMs: 0,
  },
  { name: 'a body of something else', answers: [garbage('')], waitMs: 0 },
] as const;

for (const { name, answers, waitMs } of PASSING) {
  test(`what passes is tried again, and the user sees one answer: ${name}`, async (t) => {
    if (isLeftOut(t, name === '500')) return;
    const result = await ask(afterPlan(...answers, says('Salt and light.')));
    assert.equal(result.run.code, 0, result.run.stderr);
    assert.equal(plain(result.run.stdout), 'Salt and light. ');
    assert.equal(result.asked, answers.length + 1);
    assert.ok(result.milliseconds >= waitMs);
    assertQuiet(result.run);
  });
}

for (const { finish, note } of [
  { finish: 'length', note: '! the answer reached the maximum length and was cut off' },
  { finish: 'content_filter', note: '! the provider’s filter cut the answer off' },
]) {
  test(`an answer that ended by ${finish} is shown, and said to be cut`, async (t) => {
    if (isLeftOut(t)) return;
    const { run, asked } = await ask(afterPlan(says('The sea is', { finish })));
    assert.equal(run.stdout, 'The sea is\n');
    assert.ok(plain(run.stderr).includes(note), run.stderr);
    assert.equal(asked, 1);
    const whole = await ask(afterPlan(says('The sea is')));
    assert.ok(!whole.run.stderr.includes('end there'), whole.run.stderr);
  });
}

test('the planner’s call is tried again and fails like any other', async (t) => {
  if (isLeftOut(t)) return;
  const result = await ask(() => fails(500, 'overloaded'));
  assertFailed(
    result,
    'provider `openai` answered 500: `overloaded` (tried 3 times)',
    '`openai` has a passing problem; try again later',
  );
});

test('a provider that says nothing more is given up after the time of a call', async (t) => {
  if (isLeftOut(t)) return;
  shared.write('impatient.json', { apps: APPS, retries: { ...RETRIES, callSeconds: 3 } });
  const fake = await startFakeOpenAi({ script: afterPlan(hangs('first-chunk')) });
  try {
    const run = await shared.cordon([
      'ask',
      'What?',
      '--config',
      'impatient.json',
      '--model',
      'openai/x',
      '--base-url',
      fake.baseUrl,
    ]);
    assertFailed(
      { run, asked: 0, milliseconds: 0 },
      'provider `openai` did not finish its answer within 3 s',
      'check that the server is up, use a faster model, or raise the time limit of a model call',
    );
  } finally {
    await fake.close();
  }
});

test('nobody listens at the address', async (t) => {
  if (isLeftOut(t)) return;
  const fake = await startFakeOpenAi({ script: () => PLAN });
  await fake.close();
  const run = await shared.cordon(['ask', 'What?', '--model', 'openai/x', '--base-url', fake.baseUrl], {
    environment: { OPENAI_API_KEY: KEY },
  });
  const address = new URL(fake.baseUrl).host;
  assertFailed(
    { run, asked: 0, milliseconds: 0 },
    `provider \`openai\` cannot be reached: \`connect ECONNREFUSED ${address}\` (tried 3 times)`,
    'check the network, the base URL, and that the server is running',
  );
});

test('a missing key is named before anything is sent', async (t) => {
  if (isLeftOut(t)) return;
  for (const [model, variable] of [
    ['openai/gpt-x', 'OPENAI_API_KEY'],
    ['anthropic/claude-x', 'ANTHROPIC_API_KEY'],
    ['google/gemini-x', 'GOOGLE_GENERATIVE_AI_API_KEY'],
  ] as const) {
    const run = await shared.cordon(['ask', 'What?', '--model', model]);
    const provider = model.split('/')[0];
    assert.equal(run.code, 2);
    assert.equal(run.stdout, '');
    assert.ok(
      plain(run.stderr).includes(
        `cordon: provider \`${provider}\` has no key help: set ${variable} in the environment of cordon`,
      ),
      run.stderr,
    );
  }
});

test('a server that wants a key says so, and the key that it got is not shown', async (t) => {
  if (isLeftOut(t)) return;
  const fake = await startFakeOpenAi({ script: afterPlan(says('Yes.')), key: KEY });
  try {
    const args = ['ask', 'What?', '--model', 'openai/x', '--base-url', fake.baseUrl];
    const without = await shared.cordon(args);
    assertFailed(
      { run: without, asked: 0, milliseconds: 0 },
      'provider `openai` answered 401: `Incorrect API key provided`',
      'check OPENAI_API_KEY in the environment of cordon',
    );
    const wrong = await shared.cordon(args, { environment: { OPENAI_API_KEY: `${KEY}-old` } });
    assert.equal(wrong.code, 2);
    assertQuiet(wrong);
    const right = await shared.cordon(args, { environment: { OPENAI_API_KEY: KEY } });
    assert.equal(right.code, 0);
    assert.equal(right.stdout.trim(), 'Yes.');
  } finally {
    await fake.close();
  }
});

test('with --json the failure is in the trace, without the key', async () => {
  const { run } = await ask(afterPlan(fails(401, `no such key: ${KEY}`)), ['--json']);
  assert.equal(run.code, 2);
  const [failed] = eventsOf(run.events, 'model-call.failed');
  assert.deepEqual(failed?.fault, {
    kind: 'model-failure',
    message: 'provider `openai` answered 401: `no such key: [key]`',
    help: 'check OPENAI_API_KEY in the environment of cordon',
  });
  assert.deepEqual(fieldOf(run.events, 'query.ended', 'outcome'), ['failed']);
  assert.equal(assertMediated(run.events), 2);
  assertQuiet(run);
});

test('in a chat a query that failed is followed by one that works', async (t) => {
  if (isLeftOut(t)) return;
  const failures: readonly FakeAnswer[] = [
    fails(401, 'bad key'),
    cuts(says('a very long sentence')),
    calls([{ name: 'probe', arguments: '{' }]),
  ];
  const fake = await startFakeOpenAi({
    script: (request) => {
      if (isPlanner(bodyOf(request))) return PLAN;
      const query = request.messages.at(-1)?.content ?? '';
      return failures[Number(/^fail (\d)/.exec(query)?.[1] ?? -1)] ?? says(`Fine: ${query}.`);
    },
  });
  try {
    const input = 'fail 0\nfirst\nfail 1\nsecond\nfail 2\nthird\n/exit\n';
    const args = ['chat', '--model', 'openai/x', '--base-url', fake.baseUrl];
    const run = await shared.cordon(args, { input, environment: { OPENAI_API_KEY: KEY } });
    assert.equal(run.code, 0);
    assert.deepEqual(run.stdout.match(/Fine: \w+\./g), ['Fine: first.', 'Fine: second.', 'Fine: third.']);
    assert.equal(run.stderr.match(/failed: /g)?.length, 3);
    assertQuiet(run);
  } finally {
    await fake.close();
  }
});

test('the process that calls the provider is killed: the query fails, is asked once, and the next works', async (t) => {
  if (isLeftOut(t)) return;
  let asked = 0;
  const fake = await startFakeOpenAi({
    script: (request) => {
      if (isPlanner(bodyOf(request))) return PLAN;
      const query = request.messages.at(-1)?.content ?? '';
      if (query !== 'kill') return says(`Fine: ${query}.`);
      asked++;
      killBelow(process.pid, 'packages/llm/src/inside/main.ts');
      return hangs();
    },
  });
  try {
    const args = ['chat', '--model', 'openai/x', '--base-url', fake.baseUrl];
    const environment = { OPENAI_API_KEY: KEY };
    const run = await shared.cordon(args, { input: 'first\nkill\nsecond\n/exit\n', environment });
    assert.equal(run.code, 0);
    assert.deepEqual(run.stdout.match(/Fine: \w+\./g), ['Fine: first.', 'Fine: second.']);
    assert.match(plain(run.stderr), /failed: the process that calls the provider failed: it was/);
    assert.equal(asked, 1);
    assertQuiet(run);
  } finally {
    await fake.close();
  }
});
