import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_APP_LIMITS, type InstalledApp, id } from '@cordon/core';
import fc from 'fast-check';
import { fallbackPlan, readPlan } from '../src/planner.ts';

function app(name: string, description: string | null = null): InstalledApp {
  return {
    id: id(name),
    model: null,
    source: { kind: 'command', command: 'node', args: [], env: {}, cwd: null },
    manifest: {
      description,
      functionalities: [],
      network: [],
      credentials: [],
      files: { read: [], write: [] },
      limits: DEFAULT_APP_LIMITS,
      node: [],
      irreversible: null,
      untrusted: null,
      private: null,
    },
  };
}

const APPS = [app('mail', 'Reads and sends mail'), app('drive', 'Keeps documents')];

test('a plan is read, also out of a Markdown fence', () => {
  const text =
    '```json\n{"steps":[{"app":"mail","task":"find","uses":["newest-mail"],"needs":["name","shoe size"],"after":[]}],"candidates":[]}\n```';
  assert.deepEqual(readPlan(text, APPS, ['name']), {
    steps: [{ id: '1', app: 'mail', task: 'find', uses: ['newest-mail'], needs: ['name'], after: [] }],
    candidates: [],
  });
});

test('a plan with an app that is not installed is no plan', () => {
  assert.equal(readPlan('{"steps":[{"app":"bank","task":"pay"}],"candidates":[]}', APPS, []), null);
});

test('a step cannot wait for itself or a later one', () => {
  const plan = readPlan('{"steps":[{"app":"mail","after":[1,2,9]},{"app":"drive","after":[1]}]}', APPS, []);
  assert.deepEqual(
    plan?.steps.map(({ after }) => after),
    [[], ['1']],
  );
});

test('one candidate is no choice', () => {
  assert.deepEqual(
    readPlan('{"steps":[{"app":"mail"}],"candidates":["mail","mail-evil"]}', APPS, [])?.candidates,
    [],
  );
});

test('prose is no plan, and then the words of the query choose', () => {
  assert.equal(readPlan('I would use the mail app.', APPS, []), null);
  assert.deepEqual(
    fallbackPlan('Summarize my newest mail', APPS).steps.map(({ app: chosen }) => chosen),
    ['mail'],
  );
  assert.deepEqual(
    fallbackPlan('Hello there', APPS).steps.map(({ app: chosen }) => chosen),
    [null],
  );
});

test('with one app and nothing to go by, that app serves', () => {
  assert.deepEqual(
    fallbackPlan('What is in notes.txt?', [app('filesystem')]).steps.map(({ app: chosen }) => chosen),
    ['filesystem'],
  );
});

test('apps of which nothing is said cannot be ruled out by words, unless a described one fits', () => {
  const chosen = (query: string, apps: readonly InstalledApp[]) =>
    fallbackPlan(query, apps).steps.map((step) => step.app);
  const silent = [app('filesystem'), app('memory')];
  assert.deepEqual(chosen('Read notes.txt and note it', silent), ['filesystem', 'memory']);
  assert.deepEqual(chosen('Read notes.txt into memory', silent), ['memory', 'filesystem']);
  assert.deepEqual(chosen('Summarize my newest mail', [...silent, ...APPS]), ['mail']);
  const many = ['a1', 'b1', 'c1', 'd1', 'e1', 'f1', 'g1'].map((name) => app(name));
  assert.deepEqual(chosen('Read notes.txt', many), [null]);
});

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
        const plan = readPlan(text, APPS, []);
        assert.ok(
          plan === null ||
            plan.steps.every(({ app: chosen }) => chosen === null || ['mail', 'drive'].includes(chosen)),
        );
      },
    ),
    { verbose: 1 },
  );
});
