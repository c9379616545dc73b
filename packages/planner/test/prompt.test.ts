/** What the planner's model is told of apps that list no uses. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PlanningTask } from '@cordon/hub';
import { plannerPrompt } from '../src/prompt.ts';
import { app, serves } from './app.ts';

const RIDES = app('rides', 'Books rides', [serves('ride-fare', 'fare')]);
const MAIL = app('mail', null);

function prompt(apps: PlanningTask['apps'], more: Partial<PlanningTask> = {}): string {
  return plannerPrompt({ query: 'q', apps, unlisted: 0, facts: [], earlier: [], declined: [], ...more });
}

test('the planner says whether a step changes something only where an app lists no uses', () => {
  assert.match(prompt([RIDES, MAIL]), /"acts": true if the query asks to change something there/);
  assert.match(prompt([RIDES], { installable: [MAIL] }), /"acts"/);
  assert.doesNotMatch(prompt([RIDES]), /"acts"/);
  const muse = { ...MAIL, source: { kind: 'instructions', instructions: 'Write haiku.' } } as const;
  assert.doesNotMatch(prompt([RIDES, muse]), /"acts"/);
});
