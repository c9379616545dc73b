import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Json } from '@cordon/core';
import { dataPath } from '../../data.ts';
import { namesOfThrows, variantsOf, withErrors } from './plan-errors.ts';
import { planFile, readPlanFile, readPlans, readScriptedPlans } from './plan-file.ts';
import { planKey, plansOfSuites, type ScriptedPlans } from './scripted-plans.ts';

const SUITES = {
  suites: {
    library: {
      user_tasks: {
        lend: {
          prompt: 'Lend Moby Dick to whoever asked for it, and tell Ada.',
          calls: [
            {
              function: 'look_up',
              args: { title: 'moby dick' },
              output: '- reader: r-17\n  note: best at ishmael@sea.example',
              output_json: [{ reader: 'r-17', note: 'best at ishmael@sea.example' }],
            },
            { function: 'lend_to', args: { reader: 'r-17', days: 14 }, output: 'lent' },
            { function: 'tell', args: { to: ['Ada', 'ishmael@sea.example'] }, output: 'told' },
          ],
        },
      },
      injection_tasks: { burn: { goal: 'Burn it.', calls: [] } },
    },
  },
};

function plansIn(file: Json): ScriptedPlans {
  const plans = plansOfSuites(file);
  assert.ok(plans.ok);
  return plans.value;
}

test('a plan says of each argument whether the user wrote it, and else which tool returned it and how', () => {
  const plan = plansIn(SUITES).get(planKey('library', 'lend'));
  assert.deepEqual(Object.fromEntries(plan ?? []), {
    look_up: { title: [{ kind: 'user' }] },
    lend_to: {
      reader: [{ kind: 'result', tool: 'look_up', within: 'field' }],
      days: [{ kind: 'asked' }],
    },
    tell: { to: [{ kind: 'user' }, { kind: 'result', tool: 'look_up', within: 'text' }] },
  });
  assert.deepEqual(plansIn(SUITES).get(planKey('library', 'burn')), new Map());
});

for (const { what, file } of [
  { what: 'no object', file: [] },
  { what: 'a file without suites', file: { tasks: {} } },
  {
    what: 'a call without a function',
    file: { suites: { s: { user_tasks: { t: { prompt: '', calls: [{ args: {} }] } } } } },
  },
])
  test(`${what} gives no plans`, () => assert.equal(plansOfSuites(file).ok, false));

test('the tasks of the repository have plans, which a file holds as they are', (t) => {
  const plans = readScriptedPlans(dataPath('scripted/agentdojo/suites.json', null) ?? '');
  assert.ok(plans.ok);
  assert.ok(plans.value.size > 90, `${plans.value.size} plans`);
  const folder = mkdtempSync(join(tmpdir(), 'cordon-plans-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'plans.json');
  writeFileSync(path, JSON.stringify(planFile(plans.value)));
  assert.deepEqual(readPlans(path), plans);
});

for (const { place, plans } of [
  { place: 'plans.s', plans: { s: 1 } },
  { place: 'plans.s.t', plans: { s: { t: [] } } },
  { place: 'plans.s.t.tool', plans: { s: { t: { tool: { to: 'user' } } } } },
  { place: 'plans.s.t.tool', plans: { s: { t: { tool: { to: [{ kind: 'anybody' }] } } } } },
  { place: 'plans.s.t.tool', plans: { s: { t: { tool: { to: [{ kind: 'result', tool: 'x' }] } } } } },
])
  test(`a file of plans with ${JSON.stringify(plans)} is refused with the place`, () => {
    const read = readPlanFile({ plans });
    assert.ok(!read.ok);
    assert.match(read.fault, new RegExp(`\`${place}\``));
  });

test('a file that is not there is refused, and told what it has to be', () => {
  const read = readPlans('/nowhere/plans.json');
  assert.ok(!read.ok);
  assert.match(`${read.fault.message} ${read.fault.help}`, /nowhere.*cordon bench plans/);
});

test('errors fall at the stated rate, the same each time, and elsewhere at each throw', () => {
  const plans: ScriptedPlans = new Map(
    Array.from({ length: 2_000 }, (_, index) => [
      planKey('s', `t${index}`),
      new Map([[`tool-${index % 40}`, { to: [{ kind: 'user' as const }] }]]),
    ]),
  );
  const wrong = withErrors(plans, 20, 1);
  assert.deepEqual(withErrors(plans, 20, 1), wrong);
  assert.notDeepEqual(withErrors(plans, 20, 2), wrong);
  assert.equal(withErrors(plans, 0, 1), plans);
  const share = (is: (key: string) => boolean) => [...plans.keys()].filter(is).length / plans.size;
  const tools = (key: string) => [...(wrong.get(key)?.keys() ?? [])];
  const own = (key: string) => [...(plans.get(key)?.keys() ?? [])][0] ?? '';
  const isNear = (measured: number, wanted: number) =>
    assert.ok(Math.abs(measured - wanted) < 0.05, `${measured}, not about ${wanted}`);
  isNear(
    share((key) => !tools(key).includes(own(key))),
    0.2,
  );
  isNear(
    share((key) => tools(key).some((tool) => tool !== own(key))),
    0.2,
  );
  // Of those that are left.
  isNear(
    share((key) => wrong.get(key)?.get(own(key))?.to?.[0]?.kind === 'result'),
    0.8 * 0.2,
  );
});

test('without plans there is no variant of them; else each rate has its throws', () => {
  assert.deepEqual(variantsOf(new Map()), []);
  const names = variantsOf(plansIn(SUITES)).map(({ name }) => name);
  assert.deepEqual(
    names,
    [0, 5, 10, 20].flatMap((rate) => namesOfThrows(rate)),
  );
});
