/**
 * Independent steps with real agent loops in real sandboxes and providers behind real HTTP: their model calls are under
 * way at the same time, an app's own model is asked at its own provider, and what all of it cost is counted.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FakeScript, says, startFakeOpenAi } from '@cordon/testkit/fake-openai/server.ts';
import { isLeftOut } from '../../tools/cases.ts';
import { Place, type Run } from '../harness/provider-harness.ts';
import { bodyOf, planning, step } from '../harness/provider-script.ts';

const APPS = {
  metro: { instructions: 'You are the METRO desk.', manifest: { description: 'Knows fares.' } },
  quick: {
    instructions: 'You are the QUICK desk.',
    manifest: { description: 'Knows fares, too.' },
    model: 'special/expert',
  },
};

/** Both desks answer only when both have been asked. */
function meeting(): FakeScript {
  const both = Promise.withResolvers<void>();
  let asked = 0;
  return async (request) => {
    const body = bodyOf(request);
    if (!/You are the (METRO|QUICK) desk/.test(body)) return says('Metro says $1, Quick $2.');
    if (++asked === 2) both.resolve();
    await both.promise;
    return says(body.includes('METRO') ? 'fifty-one' : 'fifty-seven');
  };
}

interface Played {
  readonly run: Run;
  readonly models: { readonly usual: readonly string[]; readonly special: readonly string[] };
}

async function play(more: object, ...options: readonly string[]): Promise<Played> {
  using place = new Place();
  const desk = meeting();
  const usual = await startFakeOpenAi({ script: planning([step('metro'), step('quick')], desk) });
  const special = await startFakeOpenAi({ script: desk });
  try {
    place.write('cordon.json', {
      model: 'usual/main',
      providers: { usual: { baseURL: usual.baseUrl }, special: { baseURL: special.baseUrl } },
      apps: APPS,
      ...more,
    });
    const run = await place.cordon(['ask', 'Compare the fares.', '--json', '--allow-rest', ...options]);
    const modelsOf = ({ requests }: typeof usual) => requests.map(({ model }) => model);
    return { run, models: { usual: modelsOf(usual), special: modelsOf(special) } };
  } finally {
    await usual.close();
    await special.close();
  }
}

const PRICES = { 'usual/main': { input: 1, output: 1 }, 'special/expert': { input: 1, output: 1 } };

test('two steps are served at the same time, one by its own model at its own provider', async (t) => {
  if (isLeftOut(t)) return;
  const { run, models } = await play({ prices: PRICES }, '--max-cost', '1');
  assert.equal(run.code, 0, run.stderr);
  const [answer] = run.events.filter(({ kind }) => kind === 'answer.proposed');
  assert.equal(answer?.text, 'Metro says «fifty-one» (from step), Quick «fifty-seven» (from step).');
  assert.deepEqual(models, { usual: ['main', 'main', 'main'], special: ['expert'] });
  const [ended] = run.events.filter(({ kind }) => kind === 'query.ended');
  const used = JSON.stringify(ended?.used);
  assert.match(used, /"modelCalls":4/);
  assert.match(used, /"cost":0\.0/);
});

test('an app’s own model without a price is not asked where money is limited, and the query says so', async (t) => {
  if (isLeftOut(t)) return;
  const prices = { 'usual/main': PRICES['usual/main'] };
  const { run, models } = await play({ prices, limits: { cost: 1 } });
  assert.equal(run.code, 2);
  assert.deepEqual(models.special, []);
  const [ended] = run.events.filter(({ kind }) => kind === 'query.ended');
  assert.equal(ended?.limit, 'cost');
  assert.equal(
    ended?.reason,
    'the price of `special/expert` is unknown, so the cost limit cannot be enforced',
  );
});
