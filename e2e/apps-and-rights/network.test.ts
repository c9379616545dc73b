/**
 * What an app in its sandbox can reach: nothing by itself; with `network` in its manifest the sites named there, through
 * the hub, after the policy and the user. The machine that runs the tests needs no network: an allowed request fails
 * at the look-up of a name that does not exist (RFC 6761), which is behind every decision.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { calls, says, startFakeOpenAi } from '@cordon/testkit/fake-openai/server.ts';
import { isLeftOut } from '../../tools/cases.ts';
import { Place, ROOT, type Run } from '../harness/provider-harness.ts';
import { inTurns, planning, step } from '../harness/provider-script.ts';
import { assertMediated, eventsOf } from '../harness/provider-trace.ts';

const SITE = 'https://cordon-test.invalid/';
const place = new Place();
after(() => place[Symbol.dispose]());

/** A server of the host that no app may reach. */
let reached = 0;
const host = createServer((request, response) => {
  reached++;
  response.end(request.headers.authorization === undefined ? 'the host answers' : 'with a credential');
});
let hostAddress = '';
before(async () => {
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  const address = host.address();
  hostAddress = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`;
});
after(() => host.close());

interface How {
  /** `fetch` of Node if it is not said; `hub`: the app asks the hub to make the request. */
  readonly way?: 'curl' | 'python' | 'hub';
  readonly credential?: string;
  readonly manifest?: object;
  readonly environment?: Readonly<Record<string, string>>;
}

async function fetches(
  address: string,
  network: readonly string[],
  more: readonly string[],
  { manifest = {}, environment = {}, ...how }: How = {},
): Promise<Run> {
  const isNode = how.way === undefined || how.way === 'hub';
  // The two say different things of themselves: under one name the second would be stopped.
  const [name, program] = isNode ? ['fetcher', 'node'] : ['fetcher-py', 'python3'];
  const script = planning(
    [step(name, ['fetch_page'])],
    inTurns(calls([{ name: 'fetch_page', arguments: { address, ...how } }]), ([said]) =>
      says(`It said: ${said}`),
    ),
  );
  const fake = await startFakeOpenAi({ script });
  try {
    const app = {
      command: program,
      args: [join(ROOT, `e2e/apps/fetcher.${isNode ? 'mjs' : 'py'}`)],
      manifest: { network, ...manifest },
    };
    place.write('cordon.json', { apps: { [name]: app } });
    const args = ['ask', 'Fetch it.', '--model', 'local/x', '--base-url', fake.baseUrl, '--json'];
    return await place.cordon([...args, ...more], { environment });
  } finally {
    await fake.close();
  }
}

function answerOf(run: Run): unknown {
  return eventsOf(run.events, 'answer.proposed')[0]?.text;
}

test('an app without network reaches nobody, not even the host it runs on', async () => {
  const run = await fetches(hostAddress, [], ['--allow-rest']);
  assert.match(String(answerOf(run)), /^It said: not fetched/);
  assert.equal(reached, 0);
  assert.equal(eventsOf(run.events, 'egress.proposed').length, 0);
});

test('an app with network does not reach the host either', async (t) => {
  if (isLeftOut(t)) return;
  const run = await fetches(hostAddress, ['cordon-test.invalid'], ['--allow-rest']);
  assert.match(String(answerOf(run)), /^It said: not fetched/);
  assert.equal(reached, 0);
});

test('a site of the manifest is asked for, and a no keeps the request here', async (t) => {
  if (isLeftOut(t)) return;
  const run = await fetches(SITE, ['cordon-test.invalid'], ['--deny-all']);
  const [asked] = eventsOf(run.events, 'permission.asked');
  assert.match(JSON.stringify(asked), /"scope":"egress"/);
  assert.equal(eventsOf(run.events, 'egress.executed').length, 0);
  assert.match(String(answerOf(run)), /^It said: not fetched/);
  assertMediated(run.events);
});

test('a site of the manifest is reached after a yes', async (t) => {
  if (isLeftOut(t)) return;
  const run = await fetches(SITE, ['cordon-test.invalid'], ['--allow-rest']);
  const [proposed] = eventsOf(run.events, 'egress.proposed');
  assert.deepEqual([proposed?.host, proposed?.port], ['cordon-test.invalid', 443]);
  assert.equal(eventsOf(run.events, 'egress.executed').length, 1);
  assertMediated(run.events);
});

test('another site is refused without a question', async (t) => {
  if (isLeftOut(t)) return;
  const run = await fetches('https://elsewhere.invalid/', ['cordon-test.invalid'], ['--allow-rest']);
  assert.equal(eventsOf(run.events, 'permission.asked').length, 0);
  assert.equal(eventsOf(run.events, 'egress.proposed').length, 0);
  assert.match(String(answerOf(run)), /^It said: not fetched/);
});

test('a policy forbids what the user would allow', async (t) => {
  if (isLeftOut(t)) return;
  const policy = 'rule stay-here:\nraise "nothing leaves" if:\n    (request: Egress)\n';
  const file = place.write('stay.gr', policy);
  const run = await fetches(SITE, ['cordon-test.invalid'], ['--allow-rest', '--policy', file]);
  assert.equal(eventsOf(run.events, 'egress.executed').length, 0);
  assert.match(JSON.stringify(eventsOf(run.events, 'egress.decided')), /stay-here/);
});

/** The host's address as the manifest lists it. */
const listed = () => [new URL(hostAddress).host];

for (const way of [undefined, 'curl', 'python', 'hub'] as const) {
  test(`an address of the manifest is reached by ${way ?? 'fetch'}, after a yes, and the trace has its path and bytes`, async (t) => {
    if (isLeftOut(t, way === undefined)) return;
    const before = reached;
    const run = await fetches(`${hostAddress}page?a=b`, listed(), ['--allow-rest'], way && { way });
    assert.equal(answerOf(run), 'It said: fetched: the host answers');
    assert.equal(reached, before + 1);
    const [proposed] = eventsOf(run.events, 'egress.proposed');
    assert.deepEqual([proposed?.method, proposed?.path, proposed?.bytes], ['GET', '/page?a=b', 0]);
    const [closed] = eventsOf(run.events, 'egress.closed');
    assert.ok(Number(closed?.bytesDown) >= 'the host answers'.length);
    assert.equal(closed?.cut, null);
    assertMediated(run.events);
  });

  test(`a no keeps a request by ${way ?? 'fetch'} here`, async (t) => {
    if (isLeftOut(t, way === undefined)) return;
    const before = reached;
    const run = await fetches(hostAddress, listed(), ['--deny-all'], way && { way });
    assert.match(String(answerOf(run)), /^It said: not fetched/);
    assert.equal(reached, before);
    assert.equal(eventsOf(run.events, 'egress.executed').length, 0);
    assertMediated(run.events);
  });
}

test('what the way out refuses by itself is in the trace, once', async (t) => {
  if (isLeftOut(t)) return;
  const run = await fetches('https://elsewhere.invalid/', ['cordon-test.invalid'], ['--allow-rest']);
  const refused = eventsOf(run.events, 'egress.refused');
  assert.deepEqual(
    refused.map(({ host, port, reason, times }) => [host, port, reason, times]),
    [['elsewhere.invalid', 443, 'the app may not reach this host and port', 1]],
  );
});

test('an entry that cannot be enforced stops the program before anything starts', async () => {
  const run = await fetches(SITE, ['*.cordon-test.invalid'], ['--allow-rest']);
  assert.equal(run.code, 2);
  assert.match(run.stdout + run.stderr, /CFG014/);
});

test('a credential is added by the hub, and neither the app nor the trace ever holds it', async (t) => {
  if (isLeftOut(t)) return;
  const secret = 'a-secret-of-the-user';
  const manifest = { credentials: { token: { hosts: ['cordon-test.invalid'], env: 'SITE_TOKEN' } } };
  const how = { way: 'hub', credential: 'token', manifest, environment: { SITE_TOKEN: secret } } as const;
  const elsewhere = await fetches(hostAddress, ['cordon-test.invalid', ...listed()], ['--allow-rest'], how);
  assert.equal(answerOf(elsewhere), 'It said: not fetched: the credential is not for this host');
  const run = await fetches(SITE, ['cordon-test.invalid'], ['--allow-rest'], how);
  assert.equal(answerOf(run), 'It said: not fetched: the name cannot be resolved');
  assert.equal(eventsOf(run.events, 'egress.executed').length, 1);
  assert.ok(!run.stdout.includes(secret) && !run.stderr.includes(secret));
});
