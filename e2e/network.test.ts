/**
 * What an app in its sandbox can reach: nothing by itself; with `network` in its manifest the sites named there, through
 * the hub, after the policy and the user. The machine that runs the tests needs no network: an allowed request fails
 * at the look-up of a name that does not exist (RFC 6761), which is behind every decision.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { calls, says, startFakeOpenAi } from './fake-openai/server.ts';
import { Place, ROOT, type Run } from './provider-harness.ts';
import { inTurns, planning, step } from './provider-script.ts';
import { assertMediated, eventsOf } from './provider-trace.ts';

const SITE = 'https://cordon-test.invalid/';
const place = new Place();
after(() => place[Symbol.dispose]());

/** A server of the host that no app may reach. */
let reached = 0;
const host = createServer((_, response) => {
  reached++;
  response.end('the host answers');
});
let hostAddress = '';
before(async () => {
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  const address = host.address();
  hostAddress = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`;
});
after(() => host.close());

async function fetches(address: string, network: readonly string[], more: readonly string[]): Promise<Run> {
  const script = planning(
    [step('fetcher', ['fetch_page'])],
    inTurns(calls([{ name: 'fetch_page', arguments: { address } }]), ([said]) => says(`It said: ${said}`)),
  );
  const fake = await startFakeOpenAi({ script });
  try {
    const app = { command: 'node', args: [join(ROOT, 'e2e/apps/fetcher.mjs')], manifest: { network } };
    place.write('cordon.json', { apps: { fetcher: app } });
    const args = ['ask', 'Fetch it.', '--model', 'local/x', '--base-url', fake.baseUrl, '--json'];
    return await place.cordon([...args, ...more]);
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

test('an app with network does not reach the host either', async () => {
  const run = await fetches(hostAddress, ['cordon-test.invalid'], ['--allow-rest']);
  assert.match(String(answerOf(run)), /^It said: not fetched/);
  assert.equal(reached, 0);
});

test('a site of the manifest is asked for, and a no keeps the request here', async () => {
  const run = await fetches(SITE, ['cordon-test.invalid'], ['--deny-all']);
  const [asked] = eventsOf(run.events, 'permission.asked');
  assert.match(JSON.stringify(asked), /"scope":"egress"/);
  assert.equal(eventsOf(run.events, 'egress.executed').length, 0);
  assert.match(String(answerOf(run)), /^It said: not fetched/);
  assertMediated(run.events);
});

test('a site of the manifest is reached after a yes', async () => {
  const run = await fetches(SITE, ['cordon-test.invalid'], ['--allow-rest']);
  const [proposed] = eventsOf(run.events, 'egress.proposed');
  assert.deepEqual([proposed?.host, proposed?.port], ['cordon-test.invalid', 443]);
  assert.equal(eventsOf(run.events, 'egress.executed').length, 1);
  assertMediated(run.events);
});

test('another site is refused without a question', async () => {
  const run = await fetches('https://elsewhere.invalid/', ['cordon-test.invalid'], ['--allow-rest']);
  assert.equal(eventsOf(run.events, 'permission.asked').length, 0);
  assert.equal(eventsOf(run.events, 'egress.proposed').length, 0);
  assert.match(String(answerOf(run)), /^It said: not fetched/);
});

test('a policy forbids what the user would allow', async () => {
  const policy = 'rule stay-here:\nraise "nothing leaves" if:\n    (request: Egress)\n';
  const file = place.write('stay.gr', policy);
  const run = await fetches(SITE, ['cordon-test.invalid'], ['--allow-rest', '--policy', file]);
  assert.equal(eventsOf(run.events, 'egress.executed').length, 0);
  assert.match(JSON.stringify(eventsOf(run.events, 'egress.decided')), /stay-here/);
});
