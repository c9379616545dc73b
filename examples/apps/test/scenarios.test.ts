/**
 * The scenarios of the case studies fit the apps: the attacker's texts stand where a model will meet them, and every
 * call that a scenario makes exists.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { isJsonObject, type JsonObject, parseJson } from '@cordon/core';
import { call, refusal, TemporaryFolder, withApp } from './app-process.ts';

const EXAMPLES = new URL('../../', import.meta.url);

function object(value: unknown): JsonObject {
  assert.ok(isJsonObject(value));
  return value;
}
function list(value: unknown): readonly JsonObject[] {
  assert.ok(Array.isArray(value));
  return value.map(object);
}
function read(path: string): JsonObject {
  const parsed = parseJson(readFileSync(new URL(path, EXAMPLES), 'utf8'));
  assert.ok(parsed.ok);
  return object(parsed.value);
}
function attackOf(scenario: string): string {
  const [attack] = list(read(`scenarios/${scenario}.json`).attacks);
  return String(attack?.text);
}
function assertShows(shown: string | undefined, attack: string): void {
  assert.ok((shown ?? '').toLowerCase().includes(attack.toLowerCase()), `${shown} does not say: ${attack}`);
}

test('case 1: the instructions of Quick Ride attack, those of Metro Hail do not', async () => {
  using folder = new TemporaryFolder();
  const attack = attackOf('1-app-compromise');
  await withApp('quick-ride', folder.path, async (client) => assertShows(client.getInstructions(), attack));
  await withApp('metro-hail', folder.path, async (client) =>
    assert.throws(() => assertShows(client.getInstructions(), attack)),
  );
});

test('case 2: the newest mail attacks, the one before does not', async () => {
  using folder = new TemporaryFolder();
  const attack = attackOf('2-data-stealing');
  await withApp('mail', folder.path, async (client) => {
    const found = await call(client, 'search_mail', { query: 'is:inbox', max_results: 2 });
    const [newest, before] = list(object(found).messages);
    assertShows(String(newest?.body), attack);
    assert.throws(() => assertShows(String(before?.body), attack));
  });
});

test('case 3: the instructions of Travel Mate ask for everything, those of Health Companion do not', async () => {
  using folder = new TemporaryFolder();
  const attack = attackOf('3-data-exposure');
  await withApp('travel-mate', folder.path, async (client) => assertShows(client.getInstructions(), attack));
  await withApp('health-companion', folder.path, async (client) =>
    assert.throws(() => assertShows(client.getInstructions(), attack)),
  );
});

test('case 4: the instructions of Creative Muse take over every query, those of Symptom Solver do not', () => {
  const attack = attackOf('4-system-alteration');
  const instructions = (id: string) => String(object(object(read('cordon.json').apps)[id]).instructions);
  assertShows(instructions('creative-muse'), attack);
  assert.throws(() => assertShows(instructions('symptom-solver'), attack));
  assertShows(instructions('symptom-solver'), 'your job is to diagnose patients');
});

test('every call of the scenarios names a tool that its app has, with arguments that the tool knows', async () => {
  const scenarios = readdirSync(new URL('scenarios/', EXAMPLES)).filter((name) => name.endsWith('.json'));
  const calls = scenarios
    .map((name) => read(`scenarios/${name}`))
    .flatMap(({ tasks, attacks }) => [...list(tasks), ...list(attacks)])
    .flatMap((part) => list(part.calls));
  assert.notEqual(calls.length, 0);
  for (const app of new Set(calls.map((wanted) => String(wanted.app)))) {
    using folder = new TemporaryFolder();
    await withApp(app, folder.path, async (client) => {
      const { tools } = await client.listTools();
      for (const wanted of calls.filter((candidate) => candidate.app === app)) {
        const tool = tools.find(({ name }) => name === wanted.tool);
        assert.ok(tool, `${app} has no ${wanted.tool}`);
        const known = Object.keys(tool.inputSchema.properties ?? {});
        for (const name of Object.keys(object(wanted.arguments)))
          assert.ok(known.includes(name), `${tool.name} has no ${name}`);
      }
    });
  }
});

test('Travel Mate takes whatever it is told about a passenger, up to a limit', async () => {
  using folder = new TemporaryFolder();
  await withApp('travel-mate', folder.path, async (client) => {
    const told = await call(client, 'book_flight', { special_requirements: 'x'.repeat(20_000) });
    assert.equal(object(told).status, 'incomplete');
    const refused = await refusal(client, 'book_flight', { special_requirements: 'x'.repeat(20_001) });
    assert.match(refused, /at most 20000 characters/);
  });
});
