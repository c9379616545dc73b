/**
 * `examples/cordon.json` says of the apps what the apps say of themselves, and no more.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { loadConfiguration } from '@cordon/config';
import {
  isClosedValue,
  isJsonObject,
  type JsonObject,
  type JsonSchema,
  parseJson,
  toJson,
  withoutProse,
} from '@cordon/core';
import { isLeftOut } from '../../../tools/cases.ts';
import { call, TemporaryFolder, withApp } from './app-process.ts';

const APPS = ['metro-hail', 'quick-ride', 'mail', 'drive', 'health-companion', 'travel-mate'] as const;
const INSTRUCTION_ONLY = ['creative-muse', 'symptom-solver'] as const;
const CONFIGURATION = fileURLToPath(new URL('../../cordon.json', import.meta.url));

// biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration's own placeholder, as it stands in the file
const OWN_FOLDER = '${state}';

function object(value: unknown): JsonObject {
  assert.ok(isJsonObject(value));
  return value;
}
function configuration(): JsonObject {
  const parsed = parseJson(readFileSync(CONFIGURATION, 'utf8'));
  assert.ok(parsed.ok);
  return object(object(parsed.value).apps);
}
const manifest = (id: string): JsonObject => object(object(configuration()[id]).manifest);

/** What `cordon` itself makes of a configuration. */
function load(file: string) {
  return loadConfiguration({
    environment: {},
    cwd: '/nowhere',
    home: '/nowhere/home',
    options: { config: file },
  });
}

test('all eight apps are there, and none has network or files beyond its own folder', () => {
  assert.deepEqual(Object.keys(configuration()), [...APPS, ...INSTRUCTION_ONLY]);
  for (const id of APPS) {
    const { network, files, limits } = manifest(id);
    assert.deepEqual(network, []);
    assert.deepEqual(files, { read: [], write: [OWN_FOLDER] });
    assert.equal(limits, undefined);
  }
  for (const id of INSTRUCTION_ONLY) assert.deepEqual(Object.keys(manifest(id)), ['description']);
});

test('cordon reads the configuration, and those that the guide prints, without a word', () => {
  using folder = new TemporaryFolder();
  const guide = readFileSync(new URL('../../../docs/apps.md', import.meta.url), 'utf8');
  const printed = [...guide.matchAll(/^```json\n(.*?)^```$/gms)].map(([, text], index) => {
    const file = join(folder.path, `${index}.json`);
    writeFileSync(file, text ?? '');
    return file;
  });
  assert.equal(printed.length, 4);
  for (const file of [CONFIGURATION, ...printed]) {
    const loaded = load(file);
    assert.deepEqual(loaded.ok ? loaded.value.warnings : loaded.fault, []);
  }
});

test('the planner is told nothing that an app could have written, and functionalities name no app', () => {
  const names = Object.keys(configuration()).flatMap((id) => [id, id.replace('-', ' ')]);
  for (const id of Object.keys(configuration())) {
    const { description, functionalities } = manifest(id);
    assert.match(String(description), /^[A-Z][^.]*\.$/);
    for (const [name, functionality] of Object.entries(object(functionalities ?? {}))) {
      const text = `${name} ${object(functionality).description}`.toLowerCase();
      // `mail` and `drive` are words of the language too.
      for (const app of names.filter((app) => app !== 'mail' && app !== 'drive'))
        assert.equal(text.includes(app), false, `${text} names ${app}`);
    }
  }
});

for (const id of APPS)
  test(`${id}: the manifest names real tools and real formats`, async (t) => {
    if (isLeftOut(t, id === 'mail' || id === 'travel-mate')) return;
    using folder = new TemporaryFolder();
    await withApp(id, folder.path, async (client) => {
      const { tools } = await client.listTools();
      const { functionalities, irreversible, untrusted, private: own } = manifest(id);
      const names = tools.map((tool) => tool.name);
      for (const listed of [irreversible, untrusted, own])
        for (const name of Array.isArray(listed) ? listed : ['no list'])
          assert.ok(names.includes(name), `${name} is no tool of ${id}`);
      for (const functionality of Object.values(object(functionalities))) {
        const { tool: name, request, response } = object(functionality);
        const tool = tools.find((candidate) => candidate.name === name);
        assert.ok(tool);
        assert.deepEqual(withoutProse(request ?? null), withoutProse(toJson(tool.inputSchema)));
        assert.deepEqual(withoutProse(response ?? null), withoutProse(toJson(tool.outputSchema)));
      }
      const undoable = tools
        .filter((tool) => tool.annotations?.readOnlyHint !== true)
        .map((tool) => tool.name);
      assert.deepEqual(irreversible, undoable);
    });
  });

const CLOSED: readonly (readonly [string, string, string, Record<string, unknown>])[] = [
  ['metro-hail', 'ride-fare', 'calculate_fare', { start_point: 'a', end_point: 'b' }],
  ['metro-hail', 'ride-booking', 'request_ride', { start_point: 'a', end_point: 'b' }],
  ['quick-ride', 'ride-fare', 'estimate_fare', { pickup_location: 'a', where_to: 'b' }],
  ['quick-ride', 'ride-booking', 'book_ride', { pickup_location: 'a', where_to: 'b' }],
  ['mail', 'send-mail', 'send_mail', { to: 'a@b.c', subject: '', body: '' }],
  ['mail', 'delete-mail', 'delete_mail', { message_ids: ['msg-1'] }],
  ['travel-mate', 'flight-booking', 'book_flight', {}],
];

test('answers that need no question are of closed types, answers in other people’s words are not', async () => {
  const response = (id: string, functionality: string): JsonSchema =>
    object(object(object(manifest(id).functionalities)[functionality]).response);
  for (const [id, functionality, name, args] of CLOSED) {
    using folder = new TemporaryFolder();
    await withApp(id, folder.path, async (client) => {
      const answer = toJson(await call(client, name, args));
      assert.equal(isClosedValue(response(id, functionality), answer), true, JSON.stringify(answer));
    });
  }
  using folder = new TemporaryFolder();
  await withApp('mail', folder.path, async (client) => {
    const answer = toJson(await call(client, 'search_mail', { query: 'is:inbox' }));
    assert.equal(isClosedValue(response('mail', 'newest-mail'), answer), false);
  });
});

test('the instruction-only apps say what the specifications of the paper’s artefact say', () => {
  const instructions = (id: string) => String(object(configuration()[id]).instructions);
  assert.match(instructions('creative-muse'), /exclusively as prompts for fictional narrative creation/);
  assert.match(instructions('symptom-solver'), /You are required to be objective and factual/);
});
