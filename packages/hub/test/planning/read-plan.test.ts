import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type InstalledApp, id, SILENT_MANIFEST, type StepPlan } from '@cordon/core';
import fc from 'fast-check';
import { type PlanningTask, plannerInput, readPlan } from '../../src/planning/read-plan.ts';
import '../../../../tools/seed.ts';

function app(name: string, description: string | null = null): InstalledApp {
  return {
    id: id(name),
    model: null,
    source: { kind: 'command', command: 'node', args: [], env: {}, cwd: null },
    manifest: { ...SILENT_MANIFEST, description },
  };
}

const APPS = [app('mail', 'Reads and sends mail'), app('drive', 'Keeps documents')];

function task(more: Partial<PlanningTask> = {}): PlanningTask {
  return { query: 'the query', apps: APPS, unlisted: 0, facts: [], earlier: [], declined: [], ...more };
}

/** The plan that an answer comes to; the word for what it comes to if it is none. */
function read(answer: unknown, more: Partial<PlanningTask> = {}): StepPlan | string {
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  const found = readPlan(text, task(more));
  return found.kind === 'plan' ? found.plan : found.kind;
}

function order(...after: readonly (readonly number[])[]): readonly string[] | string {
  const plan = read({ steps: after.map((numbers) => ({ app: 'mail', after: numbers })), candidates: [] });
  return typeof plan === 'string' ? plan : plan.steps.map(({ id: number }) => number);
}

test('a plan is read, also out of a Markdown fence', () => {
  const text =
    '```json\n{"steps":[{"app":"mail","task":"find","uses":["newest-mail"],"needs":["name","shoe size"],"after":[]}],"candidates":[]}\n```';
  assert.deepEqual(read(text, { facts: ['name'] }), {
    steps: [{ id: '1', app: 'mail', task: 'find', uses: ['newest-mail'], needs: ['name'], after: [] }],
    candidates: [],
  });
});

for (const [need, known, found] of [
  ['date of birth', 'date of birth', ['date of birth']],
  ['birth-date', 'date of birth', ['date of birth']],
  ['Email', 'e-mail', ['e-mail']],
  ['e-mail', 'email address', ['email address']],
  ['Geburtsdatum', 'date of birth', ['date of birth']],
  ['Seat  Preference', 'seat preference', ['seat preference']],
  ['bank/balance', 'bank/balance', ['bank/balance']],
  ['balance', 'bank/balance', []],
  ['address', 'city', []],
  ['e-mail', 'phone', []],
] as const) {
  test(`a step that needs \`${need}\` ${found.length === 0 ? 'is not given' : 'is given'} the fact \`${known}\``, () => {
    const plan = read({ app: 'mail', needs: [need] }, { facts: ['name', known] });
    assert.deepEqual(typeof plan === 'string' ? plan : plan.steps[0]?.needs, found);
  });
}

test('a single step may stand for the plan, with what is said of the whole beside it', () => {
  assert.deepEqual(read({ app: 'mail', uses: ['newest-mail'], candidates: ['mail', 'drive'] }), {
    steps: [{ id: '1', app: 'mail', task: 'the query', uses: ['newest-mail'], needs: [], after: [] }],
    candidates: ['mail', 'drive'],
  });
  assert.deepEqual(read({ app: null }), {
    steps: [{ id: '1', app: null, task: 'the query', uses: [], needs: [], after: [] }],
    candidates: [],
  });
  assert.equal(read({ app: null, more: true }, { unlisted: 3 }), 'others');
});

test('a single step of an app that is not installed is no plan, nor is one without an app or beside a list that is none', () => {
  assert.equal(read({ app: 'bank' }), 'none');
  assert.equal(read({ uses: ['newest-mail'] }), 'none');
  assert.equal(read({ app: 'mail', steps: [] }), 'none');
  assert.equal(read({ app: 'mail', steps: null }), 'none');
});

test('a plan with an app that is not installed is no plan', () => {
  assert.equal(read({ steps: [{ app: 'bank', task: 'pay' }], candidates: [] }), 'none');
});

test('steps stand behind those that they wait for, else as they came', () => {
  assert.deepEqual(order([], [], [1, 2]), ['1', '2', '3']);
  assert.deepEqual(order([3], [], []), ['2', '3', '1']);
  assert.deepEqual(order([2], [3], [4], []), ['4', '3', '2', '1']);
});

for (const [what, after] of [
  ['itself', [[1]]],
  ['each other', [[2], [1]]],
  ['each other over a third', [[2], [3], [1]]],
  ['a step that there is not', [[], [3]]],
  ['a step before the first', [[0]]],
  ['half a step', [[], [1.5]]],
] as const) {
  test(`steps that wait for ${what} are no plan`, () => assert.equal(order(...after), 'none'));
}

test('what a step waits for is a list of numbers or nothing', () => {
  const after = (value: unknown) => read({ steps: [{ app: 'mail' }, { app: 'drive', after: value }] });
  assert.equal(after('1'), 'none');
  assert.equal(after(['1']), 'none');
  assert.notEqual(after(null), 'none');
  assert.notEqual(after([1]), 'none');
});

test('an input is a piece of the query, and what is not is dropped', () => {
  const plan = read(
    { steps: [{ app: 'mail', inputs: ['Ada', 'send all to eve', '', 7] }], candidates: [] },
    { query: 'the newest mail from Ada' },
  );
  assert.deepEqual(typeof plan === 'string' ? plan : plan.steps[0]?.inputs, ['Ada']);
});

test('a step passes on results of what it uses, and of nothing else', () => {
  const passes = (said: unknown) => {
    const plan = read({ app: 'mail', uses: ['newest-mail', 'send-mail'], passes: said });
    return typeof plan === 'string' ? plan : plan.steps[0]?.passes;
  };
  assert.deepEqual(passes(['newest-mail', 'keys', 7]), ['newest-mail']);
  for (const nothing of [['keys'], [], 'newest-mail', null, undefined])
    assert.equal(passes(nothing), undefined);
});

test('whether a step changes something is what the planner says, and nothing that it might mean', () => {
  const acts = (said: unknown) => {
    const plan = read({ app: 'mail', acts: said });
    return typeof plan === 'string' ? plan : plan.steps[0]?.acts;
  };
  assert.deepEqual([true, false, undefined, 'true', 1, null].map(acts), [
    true,
    false,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test('one candidate is no choice', () => {
  const plan = read({ steps: [{ app: 'mail' }], candidates: ['mail', 'mail-evil'] });
  assert.deepEqual(typeof plan === 'string' ? plan : plan.candidates, []);
});

const FOR_NOBODY = { steps: [{ app: null, task: 'answer' }], candidates: [] };

test('where apps are unlisted the planner may want to see others', () => {
  assert.equal(read({ ...FOR_NOBODY, more: true }, { unlisted: 5 }), 'others');
  assert.equal(read({ steps: [], candidates: [], more: true }, { unlisted: 5 }), 'others');
  assert.equal(typeof read({ ...FOR_NOBODY, more: false }, { unlisted: 5 }), 'object');
});

test('a planner that finds no app among some of them, and says no more, is shown others', () => {
  assert.equal(read(FOR_NOBODY, { unlisted: 5 }), 'others');
  assert.equal(typeof read(FOR_NOBODY), 'object');
  assert.equal(typeof read({ steps: [{ app: 'mail' }], candidates: [] }, { unlisted: 5 }), 'object');
});

test('where all apps are listed there are no others', () => {
  assert.equal(typeof read({ ...FOR_NOBODY, more: true }), 'object');
});

test('what the user said no to is not planned again, nor left open', () => {
  const declined = [{ app: id<'app'>('mail'), what: 'send', isWholeApp: false }];
  const plan = (uses: readonly string[]) =>
    read({ steps: [{ app: 'mail', uses }], candidates: [] }, { declined });
  assert.equal(plan(['send']), 'none');
  assert.equal(plan([]), 'none');
  assert.equal(typeof plan(['read']), 'object');
  const without = [{ app: id<'app'>('mail'), what: 'serving', isWholeApp: true }];
  assert.equal(read({ steps: [{ app: 'mail', uses: ['read'] }] }, { declined: without }), 'none');
  assert.equal(typeof read({ steps: [{ app: 'drive', uses: ['read'] }] }, { declined: without }), 'object');
});

test('the planner is told of unlisted apps and of what was declined only where there are any', () => {
  assert.deepEqual(Object.keys(plannerInput(task())), ['query', 'earlier', 'facts', 'apps']);
  const told = plannerInput(
    task({ unlisted: 3, declined: [{ app: id('mail'), what: 'send', isWholeApp: false }] }),
  );
  assert.equal(told.unlisted, 3);
  assert.deepEqual(told.declined, [{ app: 'mail', what: 'send' }]);
});

test('prose is no plan', () => assert.equal(read('I would use the mail app.'), 'none'));

test('any answer of the planner is a plan for installed apps or none', () => {
  const value = fc.object({
    key: fc.constantFrom('steps', 'app', 'after', 'uses', 'needs', 'candidates', 'x'),
  });
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        value.map((object) => JSON.stringify(object)),
      ),
      (text) => {
        const plan = read(text);
        assert.ok(
          typeof plan === 'string' ||
            plan.steps.every(({ app: chosen }) => chosen === null || ['mail', 'drive'].includes(chosen)),
        );
      },
    ),
    { verbose: 1 },
  );
});

test('steps of any graph are in an order in which each finds what it waits for, or are no plan', () => {
  const graph = fc.array(fc.array(fc.integer({ min: 1, max: 8 }), { maxLength: 3 }), {
    minLength: 1,
    maxLength: 8,
  });
  fc.assert(
    fc.property(graph, (after) => {
      const plan = read({ steps: after.map((numbers) => ({ app: 'mail', after: numbers })), candidates: [] });
      if (typeof plan === 'string') return;
      const done = new Set<string>();
      for (const step of plan.steps) {
        assert.ok(step.after.every((earlier) => done.has(earlier)));
        done.add(step.id);
      }
      assert.equal(done.size, after.length);
    }),
    { verbose: 1 },
  );
});

test('what a plan leaves out goes without saying', () => {
  assert.deepEqual(read({ steps: [{ app: 'mail' }] }), {
    steps: [{ id: '1', app: 'mail', task: 'the query', uses: [], needs: [], after: [] }],
    candidates: [],
  });
  const several = read({
    steps: [{ app: 'mail', uses: ['send-mail'] }, { app: 'drive' }, { app: 'drive', uses: ['find', 'read'] }],
  });
  assert.deepEqual(typeof several === 'string' ? several : several.steps.map((step) => step.task), [
    'send-mail',
    '',
    '',
  ]);
});
