/** Facts that a model finds in the user's own words, with a provider behind real HTTP: told, corrected, and known to the next session. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FakeChatRequest, says, startFakeOpenAi } from './fake-openai/server.ts';
import { Place } from './provider-harness.ts';
import { plannerInputOf, planning, step } from './provider-script.ts';

const QUERY = 'Je m’appelle Zoé Durand et j’habite à Lyon.';
const APPS = { metro: { instructions: 'You know fares.', manifest: { description: 'Knows fares.' } } };
const FOUND = JSON.stringify({
  facts: [
    { name: 'name', value: 'Zoé Durand' },
    { name: 'city', value: 'Lyon' },
    { name: 'country', value: 'France' },
  ],
});

function isAboutFacts({ messages }: FakeChatRequest): boolean {
  return messages.some(({ content }) => content.startsWith('You find facts'));
}

/** Finds the facts only when the query has been answered. */
const SCRIPT = planning([step(null)], (request) => (isAboutFacts(request) ? says(FOUND) : says('Noted.')));

test('what the user states is told when it is new, corrected by the user, and known to the next session by name', async () => {
  using place = new Place();
  const fake = await startFakeOpenAi({ script: SCRIPT });
  try {
    const configured = { model: 'local/x', providers: { local: { baseURL: fake.baseUrl } } };
    place.write('cordon.json', { ...configured, apps: APPS, memory: {} });
    const first = await place.cordon(['ask', QUERY]);
    assert.equal(first.code, 0, first.stderr);
    const noted = first.stderr.replace(/\s+/g, ' ');
    assert.match(noted, /Noted: name = Zoé Durand; city = Lyon\. `cordon memory` shows and corrects it\./);
    const heard = fake.requests.filter(isAboutFacts).map(({ messages }) => messages.at(-1)?.content);
    assert.deepEqual(heard, [QUERY]);

    const shown = await place.cordon(['memory', 'show', 'system', '--kind', 'fact', '--json']);
    const facts = shown.events.map(({ name, value, id }) => ({ name, value, id }));
    assert.deepEqual(
      facts.map(({ name, value }) => `${name}=${value}`),
      ['city=Lyon', 'name=Zoé Durand'],
    );
    const corrected = await place.cordon(['memory', 'correct', String(facts[0]?.id), 'Lyon 3e']);
    assert.equal(corrected.code, 0, corrected.stderr);
    const audit = await place.cordon(['audit', 'verify']);
    assert.equal(audit.code, 0, audit.stderr);

    const second = await place.cordon(['ask', QUERY, '--json']);
    assert.equal(second.code, 0, second.stderr);
    const input = fake.requests.flatMap((request) => plannerInputOf(request) ?? []).at(-1);
    assert.deepEqual(input?.facts, ['city', 'name']);
    const [learnt] = second.events.filter(({ kind }) => kind === 'facts.learnt');
    assert.deepEqual(learnt?.facts, [
      { name: 'name', value: 'Zoé Durand', isNew: false, before: 'Zoé Durand' },
      { name: 'city', value: 'Lyon', isNew: true, before: 'Lyon 3e' },
    ]);
  } finally {
    await fake.close();
  }
});

test('with `facts` set to `patterns` the provider is asked nothing of it', async () => {
  using place = new Place();
  const fake = await startFakeOpenAi({ script: SCRIPT });
  try {
    const configured = { model: 'local/x', providers: { local: { baseURL: fake.baseUrl } } };
    place.write('cordon.json', { ...configured, apps: APPS, memory: { facts: 'patterns' } });
    const run = await place.cordon(['ask', 'My city is Turin.']);
    assert.equal(run.code, 0, run.stderr);
    assert.match(run.stderr, /Noted: city = Turin\./);
    assert.deepEqual(fake.requests.filter(isAboutFacts), []);
  } finally {
    await fake.close();
  }
});
