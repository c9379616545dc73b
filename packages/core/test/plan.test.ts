import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AppId, expects, id, type StepPlan } from '../src/index.ts';

const MAIL: AppId = id('mail');

function planOf(
  ...steps: readonly { readonly app: string | null; readonly uses: readonly string[] }[]
): StepPlan {
  return {
    steps: steps.map(({ app, uses }, index) => ({
      id: String(index + 1),
      app: app === null ? null : id(app),
      task: '',
      uses,
      needs: [],
      after: [],
    })),
    candidates: [MAIL],
  };
}

test('a plan expects what it names, whichever of the app’s steps names it', () => {
  const plan = planOf({ app: 'mail', uses: ['read'] }, { app: 'mail', uses: ['send'] });
  assert.equal(expects(plan, MAIL, 'send'), 'expected');
});

test('a plan that names the app and none of its uses says no more than that', () => {
  assert.equal(expects(planOf({ app: 'mail', uses: [] }), MAIL, 'send'), 'app-only');
});

test('a plan that names some uses of an app does not expect the others', () => {
  const plan = planOf({ app: 'mail', uses: ['read'] }, { app: 'mail', uses: [] });
  assert.equal(expects(plan, MAIL, 'send'), 'unexpected');
});

test('a plan that does not name the app does not expect it, even as a candidate or for the same use', () => {
  assert.equal(expects(planOf({ app: 'rides', uses: ['send'] }), MAIL, 'send'), 'unexpected');
  assert.equal(expects(planOf({ app: null, uses: ['send'] }), MAIL, 'send'), 'unexpected');
  assert.equal(expects(planOf(), MAIL, 'send'), 'unexpected');
});
