import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Json } from '@cordon/core';
import { dataPath } from '../../data.ts';
import { namesOfThrows, TOOLS_ONLY, variantsOf, withErrors } from './plan-errors.ts';
import { planFile, readPlanFile, readPlans, readScriptedPlans } from './plan-file.ts';
import { planOf, plansOfSuites, type ScriptedPlans } from './scripted-plans.ts';

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
  const plan = planOf(plansIn(SUITES), 'library', 'lend');
  assert.deepEqual(Object.fromEntries(plan ?? []), {
    look_up: { title: [{ kind: 'user' }] },
    lend_to: {
      reader: [{ kind: 'result', app: null, tool: 'look_up', within: 'field' }],
      days: [{ kind: 'asked' }],
    },
    tell: { to: [{ kind: 'user' }, { kind: 'result', app: null, tool: 'look_up', within: 'text' }] },
  });
  assert.deepEqual(planOf(plansIn(SUITES), 'library', 'burn'), new Map());
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
  const count = [...plans.value.values()].reduce((sum, tasks) => sum + tasks.size, 0);
  assert.ok(count > 90, `${count} plans`);
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
  { place: 'plans.s.t.tool', plans: { s: { t: { tool: { to: [{ kind: 'result', within: 'text' }] } } } } },
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

test('names with spaces stay what they are, and a tool without sources has none', () => {
  const plans: ScriptedPlans = new Map([
    [
      'travel agency',
      new Map([
        ['book a room', new Map([['book', null]])],
        ['call a taxi', new Map()],
      ]),
    ],
  ]);
  assert.deepEqual(readPlanFile(planFile(plans)), { ok: true, value: plans });
});

test('errors fall at the stated rate, the same each time, and elsewhere at each throw', () => {
  const tasks = Array.from({ length: 2_000 }, (_, index) => `t${index}`);
  const own = (task: string) => `tool-${Number(task.slice(1)) % 40}`;
  const plans: ScriptedPlans = new Map([
    ['s', new Map(tasks.map((task) => [task, new Map([[own(task), { to: [{ kind: 'user' as const }] }]])]))],
  ]);
  const wrong = withErrors(plans, 20, 1);
  assert.deepEqual(withErrors(plans, 20, 1), wrong);
  assert.notDeepEqual(withErrors(plans, 20, 2), wrong);
  assert.equal(withErrors(plans, 0, 1), plans);
  const planWith = (task: string) => planOf(wrong, 's', task) ?? new Map();
  const isNear = (is: (task: string) => boolean, wanted: number) => {
    const measured = tasks.filter(is).length / tasks.length;
    assert.ok(Math.abs(measured - wanted) < 0.05, `${measured}, not about ${wanted}`);
  };
  isNear((task) => !planWith(task).has(own(task)), 0.2);
  isNear((task) => [...planWith(task).keys()].some((tool) => tool !== own(task)), 0.2);
  // Of those that are left, and then have sources.
  isNear((task) => planWith(task).get(own(task)) === null, 0.8 * 0.2);
  isNear((task) => planWith(task).get(own(task))?.to[0]?.kind === 'result', 0.8 * 0.8 * 0.2);
});

test('without plans there is no variant of them; else each rate has its throws, and the tools stand alone once', () => {
  assert.deepEqual(variantsOf(new Map()), []);
  const variants = variantsOf(plansIn(SUITES));
  assert.deepEqual(
    variants.map(({ name }) => name),
    [...[0, 5, 10, 20].flatMap((rate) => namesOfThrows(rate)), TOOLS_ONLY],
  );
  const alone = planOf(variants.at(-1)?.plans ?? new Map(), 'library', 'lend');
  assert.deepEqual(
    [...(alone ?? [])],
    [
      ['look_up', null],
      ['lend_to', null],
      ['tell', null],
    ],
  );
});
