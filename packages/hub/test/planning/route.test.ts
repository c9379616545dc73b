import assert from 'node:assert/strict';
import { test } from 'node:test';
import { id, type PlanStep, type StepPlan } from '@cordon/core';
import { routeOf, withCandidate } from '../../src/planning/route.ts';

function plan(...steps: readonly (readonly [app: string | null, after?: readonly string[]])[]): StepPlan {
  return {
    candidates: [],
    steps: steps.map(
      ([app, after = []], index): PlanStep => ({
        id: String(index + 1),
        app: app === null ? null : id(app),
        task: 'do it',
        uses: ['use'],
        needs: [],
        after,
      }),
    ),
  };
}

test('a plan without apps is served by the model alone', () => {
  assert.deepEqual(routeOf(plan([null])), { kind: 'vanilla' });
});

test('one app serves in its own context', () => {
  assert.deepEqual(routeOf(plan(['mail'], ['mail', ['1']])), { kind: 'app', app: 'mail', helpers: [] });
});

test('apps that do not depend on each other are coordinated from outside', () => {
  assert.deepEqual(routeOf(plan(['metro'], ['quick'], ['metro', ['1', '2']])), {
    kind: 'coordinator',
    apps: ['metro', 'quick'],
  });
});

test('an app that needs another is helped by exchange', () => {
  assert.deepEqual(routeOf(plan(['mail'], ['drive', ['1']])), {
    kind: 'app',
    app: 'mail',
    helpers: ['drive'],
  });
});

test('the chosen candidate takes the step, and what was said of the other app is not said of it', () => {
  const planned = { ...plan(['metro']), candidates: [id<'app'>('metro'), id<'app'>('quick')] };
  const chosen = withCandidate(planned, id('quick'));
  assert.deepEqual(
    chosen.steps.map(({ app, uses }) => ({ app, uses })),
    [{ app: 'quick', uses: [] }],
  );
});
