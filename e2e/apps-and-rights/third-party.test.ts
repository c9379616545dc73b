/**
 * Apps that nobody wrote for Cordon, from npm, with a provider of OpenAI's kind: real processes and real HTTP. What
 * reaches whom is read off the requests that the provider got, what was done off the disk.
 */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders as people write them
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  calls,
  type FakeOpenAi,
  type FakeScript,
  says,
  startFakeOpenAi,
} from '@cordon/testkit/fake-openai/server.ts';
import { isLeftOut } from '../../tools/cases.ts';
import { Place, ROOT, type Run } from '../harness/provider-harness.ts';
import {
  bodyOf,
  calledIn,
  inTurns,
  plannerInputOf,
  plannerRequests,
  planning,
  requestsWith,
  step,
} from '../harness/provider-script.ts';
import { assertMediated, eventsOf, fieldOf } from '../harness/provider-trace.ts';

/** Words that stand in the user's file and nowhere else. */
const IN_FILE = 'The blue heron nests at 47 Mill Lane.';
const KEY = 'sk-e2e-5ecret-0f-the-u5er';

/** What the servers say of themselves. */
const DISK_WORDS = 'Read the complete contents of a file from the file system as text.';
const DISK_SCHEMA_WORDS = 'If provided, returns only the last N lines of the file';
const NOTEBOOK_WORDS = 'Create multiple new entities in the knowledge graph';

const HERON = {
  entities: [{ name: 'heron', entityType: 'bird', observations: ['nests at 47 Mill Lane'] }],
};

/** What a context stores that was never shown the file: words of the file in it would be a warning. */
const OWN_HERON = { entities: [{ name: 'heron', entityType: 'bird', observations: ['seen at the pond'] }] };
const STORED_OWN = '{"type":"entity","name":"heron","entityType":"bird","observations":["seen at the pond"]}';

function distOf(server: string): string {
  return join(ROOT, 'node_modules', '@modelcontextprotocol', server, 'dist', 'index.js');
}

/** As other clients have it; of manifests only the files, which nothing else can grant. */
function mcpServers(place: Place) {
  return {
    disk: {
      command: 'npx',
      args: ['-y', '@modelcontextprotocol/server-filesystem', place.files],
      manifest: { files: { read: [place.files] } },
    },
    notebook: {
      command: 'node',
      args: [distOf('server-memory')],
      env: { MEMORY_FILE_PATH: '${state}/memory.jsonl' },
      manifest: { files: { write: ['${state}'] } },
    },
  };
}

/** The same with manifests that say all there is to say. */
function describedApps(place: Place) {
  const text = { type: 'string' };
  const entity = {
    type: 'object',
    properties: { name: text, entityType: text, observations: { type: 'array', items: text } },
    required: ['name', 'entityType', 'observations'],
  };
  const entities = {
    type: 'object',
    properties: { entities: { type: 'array', items: entity } },
    required: ['entities'],
  };
  return {
    disk: {
      command: 'node',
      args: [distOf('server-filesystem'), place.files],
      manifest: {
        description: 'Reads documents of the user.',
        functionalities: {
          'read-document': {
            description: 'read a document',
            request: { type: 'object', properties: { path: text }, required: ['path'] },
            response: { type: 'object', properties: { content: text }, required: ['content'] },
            tool: 'read_text_file',
          },
        },
        files: { read: [place.files] },
        irreversible: [],
      },
    },
    notebook: {
      command: 'npx',
      args: ['-y', '@modelcontextprotocol/server-memory'],
      env: { MEMORY_FILE_PATH: '${state}/memory.jsonl' },
      manifest: {
        description: 'Keeps facts for later.',
        functionalities: {
          'remember-fact': {
            description: 'remember a fact',
            request: entities,
            response: entities,
            tool: 'create_entities',
          },
        },
        files: { write: ['${state}'] },
        irreversible: ['create_entities'],
      },
    },
  };
}

function notesIn(place: Place): string {
  const path = join(place.files, 'notes.txt');
  writeFileSync(path, IN_FILE);
  return path;
}

function remembered(place: Place): string {
  const path = join(place.state('notebook'), 'memory.jsonl');
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

const STORED =
  '{"type":"entity","name":"heron","entityType":"bird","observations":["nests at 47 Mill Lane"]}';

/** Reads the file in its own context, has the fact stored by the other app, and answers. */
function readsAndStores(path: string, remember: string): FakeScript {
  return inTurns(
    calls([{ name: 'read_text_file', arguments: { path } }]),
    calls([{ name: remember, arguments: HERON }]),
    ([content]) => says(`Noted: ${content}`),
  );
}

const QUERY = 'What do my notes say? Keep it for later.';
const ALLOWING = ['--allow-rest', '--deny-warned', '--json'];

async function withProvider<T>(
  script: FakeScript,
  use: (fake: FakeOpenAi) => Promise<T>,
  key?: string,
): Promise<T> {
  const fake = await startFakeOpenAi({ script, ...(key === undefined ? {} : { key }) });
  try {
    return await use(fake);
  } finally {
    await fake.close();
  }
}

/** What holds of every one of these queries, however it is served. */
function assertApart(fake: FakeOpenAi, run: Run): void {
  for (const request of plannerRequests(fake.requests)) {
    const body = bodyOf(request);
    for (const words of [
      DISK_WORDS,
      DISK_SCHEMA_WORDS,
      NOTEBOOK_WORDS,
      IN_FILE,
      'list_directory',
      'read_graph',
    ])
      assert.ok(!body.includes(words), `the planner was shown: ${words}`);
  }
  // The reading context may use the other app, and learns neither its name nor its words.
  for (const request of requestsWith(fake.requests, 'list_allowed_directories')) {
    const body = bodyOf(request);
    assert.ok(!body.includes('notebook'));
    assert.ok(!body.includes(NOTEBOOK_WORDS));
    assert.ok(!body.includes('knowledge graph'));
  }
  assert.ok(!run.stdout.includes(KEY));
  assert.ok(!run.stderr.includes(KEY));
  assert.ok(assertMediated(run.events) > 0);
}

function answerOf(run: Run): unknown {
  return fieldOf(run.events, 'answer.proposed', 'text').at(-1);
}

const variants = [
  {
    name: 'an mcpServers file, openai/… with a base URL and a key, streamed',
    apps: (place: Place) => ({ mcpServers: mcpServers(place) }),
    style: {},
    uses: { read: 'read_text_file', remember: 'create_entities' },
    model: 'openai/fake-1',
    key: 'OPENAI_API_KEY',
  },
  {
    name: 'an mcpServers file, openai/… with a base URL and no key, plain JSON',
    apps: (place: Place) => ({ mcpServers: mcpServers(place) }),
    style: { plain: 'application/json' },
    uses: { read: 'read_text_file', remember: 'create_entities' },
    model: 'openai/fake-1',
    key: null,
  },
  {
    name: 'described apps, a provider of the file with a key, plain JSON',
    apps: (place: Place) => ({ apps: describedApps(place) }),
    style: { plain: 'application/json' },
    uses: { read: 'read-document', remember: 'remember-fact' },
    model: 'local/fake-1',
    key: 'LOCAL_MODEL_KEY',
  },
  {
    name: 'described apps, a provider of the file without a key, streamed letter by letter',
    apps: (place: Place) => ({ apps: describedApps(place) }),
    style: { chunkSize: 1 },
    uses: { read: 'read-document', remember: 'remember-fact' },
    model: 'local/fake-1',
    key: null,
  },
] as const;

for (const { name, apps, style, uses, model, key } of variants) {
  test(`a file is read, a fact stored and an answer given: ${name}`, async (t) => {
    if (isLeftOut(t, name === variants[0].name)) return;
    using place = new Place();
    const path = notesIn(place);
    const steps = [step('disk', [uses.read]), step('notebook', [uses.remember], [1])];
    const script = planning(steps, readsAndStores(path, uses.remember), style);
    await withProvider(
      script,
      async (fake) => {
        const local = { baseURL: fake.baseUrl, ...(key === null ? {} : { apiKeyEnv: key }) };
        place.write('cordon.json', { ...apps(place), providers: { local } });
        const base = model.startsWith('openai/') ? ['--base-url', fake.baseUrl] : [];
        const run = await place.cordon(['ask', QUERY, '--model', model, ...base, ...ALLOWING], {
          environment: key === null ? {} : { [key]: KEY },
        });
        assert.equal(run.stderr, '');
        assert.equal(run.code, 0);
        assert.equal(answerOf(run), `Noted: ${IN_FILE}`);
        assert.equal(remembered(place), STORED);
        assertApart(fake, run);
        assert.deepEqual(fieldOf(run.events, 'tool-call.proposed', 'tool'), [
          'read_text_file',
          'create_entities',
        ]);
        assert.deepEqual(
          fake.requests.map(({ headers }) => headers.authorization),
          [1, 2, 3, 4].map(() => (key === null ? undefined : `Bearer ${KEY}`)),
        );
        assert.deepEqual(
          fake.requests.map((request) => bodyOf(request).includes(IN_FILE)),
          [false, false, true, true],
        );
        // The twin of what must not be seen elsewhere: the app's own context has its app's words.
        assert.ok(
          bodyOf(requestsWith(fake.requests, 'list_allowed_directories')[0] ?? fail()).includes(DISK_WORDS),
        );
      },
      key === null ? undefined : KEY,
    );
  });
}

function fail(): never {
  throw new Error('there is no such request');
}

test('two calls in one turn are both made, also when their pieces arrive in turns', async (t) => {
  if (isLeftOut(t)) return;
  using place = new Place();
  const path = notesIn(place);
  const other = join(place.files, 'other.txt');
  writeFileSync(other, 'Owls sleep by day.');
  place.write('cordon.json', { mcpServers: mcpServers(place) });
  const read = (file: string) => ({ name: 'read_text_file', arguments: { path: file } });
  const agent = inTurns(
    calls([read(path), read(other)], { interleaved: true }),
    calls([{ name: 'create_entities', arguments: HERON }, read(other)], { interleaved: true }),
    (results) => says(results.slice(0, 2).join(' / ')),
  );
  const steps = [step('disk', ['read_text_file']), step('notebook', ['create_entities'], [1])];
  await withProvider(planning(steps, agent), async (fake) => {
    const args = ['ask', QUERY, '--model', 'openai/x', '--base-url', fake.baseUrl, ...ALLOWING];
    const run = await place.cordon(args);
    assert.equal(run.code, 0);
    assert.equal(answerOf(run), `${IN_FILE} / Owls sleep by day.`);
    assert.equal(remembered(place), STORED);
    assert.equal(eventsOf(run.events, 'tool-call.executed').length, 4);
    assertApart(fake, run);
  });
});

/** Knows nothing of plans: calls what it is offered, once each, and talks. */
function unplanned(path: string): FakeScript {
  return (request) => {
    const called = calledIn(request);
    const find = (...names: readonly string[]) =>
      request.tools.find((tool) => names.some((name) => tool.includes(name)) && !called.has(tool));
    const read = [...called].some((name) => /read_(text_)?file/.test(name))
      ? undefined
      : find('read_text_file', 'read_file');
    if (read !== undefined) return calls([{ name: read, arguments: { path } }]);
    const store = find('create_entities');
    if (store !== undefined) return calls([{ name: store, arguments: OWN_HERON }]);
    return says(`It is done. ${request.messages.at(-1)?.content}`);
  };
}

for (const form of ['mcpServers', 'apps'] as const) {
  test(`a model that knows nothing of plans gets as far, by the hub's own choice of apps: ${form}`, async (t) => {
    if (isLeftOut(t)) return;
    using place = new Place();
    const path = notesIn(place);
    const apps = form === 'apps' ? describedUnderTools(place) : mcpServers(place);
    place.write('cordon.json', { [form]: apps });
    await withProvider(unplanned(path), async (fake) => {
      const query = 'Read the documents and remember facts.';
      const args = ['ask', query, '--model', 'openai/x', '--base-url', fake.baseUrl, ...ALLOWING];
      const run = await place.cordon(args);
      assert.equal(run.code, 0);
      assert.equal(remembered(place), STORED_OWN);
      assert.deepEqual(fieldOf(run.events, 'plan.made', 'origin'), ['fallback']);
      assert.match(String(answerOf(run)), /^It is done\./);
      assertApart(fake, run);
      // The model that works over both apps holds references to what they say.
      assert.deepEqual(
        fake.requests.filter((request) => bodyOf(request).includes(IN_FILE)),
        [],
      );
    });
  });
}

/** Described, and with the tools themselves as functionalities: the names that a model of other clients expects. */
function describedUnderTools(place: Place) {
  const { disk, notebook } = describedApps(place);
  const read = { read_text_file: disk.manifest.functionalities['read-document'] };
  const store = { create_entities: notebook.manifest.functionalities['remember-fact'] };
  return {
    disk: { ...disk, manifest: { ...disk.manifest, functionalities: read } },
    notebook: { ...notebook, manifest: { ...notebook.manifest, functionalities: store } },
  };
}

test('where the user says no, nothing is stored, and the file may still be read', async (t) => {
  if (isLeftOut(t)) return;
  using place = new Place();
  const path = notesIn(place);
  place.write('cordon.json', { mcpServers: mcpServers(place) });
  await withProvider(unplanned(path), async (fake) => {
    const args = ['ask', QUERY, '--model', 'openai/x', '--base-url', fake.baseUrl, '--deny-all', '--json'];
    const run = await place.cordon(args);
    assert.equal(run.code, 1);
    assert.equal(remembered(place), '');
    assert.equal(eventsOf(run.events, 'permission.asked').length, 1);
    assert.deepEqual(fieldOf(run.events, 'permission.answered', 'allow'), [false]);
    assert.deepEqual(
      run.events.filter(({ kind }) => kind === 'tool-call.executed').length,
      1,
      'the file was read, nothing else was done',
    );
    assertApart(fake, run);
  });
});

for (const allowed of [false, true]) {
  test(`text of one app gets into another unseen by the model, ${allowed ? 'if the user allows it' : 'and with a warning that a script can refuse'}`, async (t) => {
    if (isLeftOut(t)) return;
    using place = new Place();
    const path = notesIn(place);
    place.write('cordon.json', { mcpServers: mcpServers(place) });
    place.write('answers.json', [
      { match: { scope: 'irreversible-action', to: 'notebook', what: 'create_entities' }, decision: 'once' },
      { match: { scope: 'policy', to: 'notebook' }, decision: 'once' },
    ]);
    const entity = { name: 'heron', entityType: 'bird', observations: ['Notes: $1'] };
    const agent = inTurns(
      calls([{ name: 'read_text_file', arguments: { path } }]),
      calls([{ name: 'create_entities', arguments: { entities: [entity] } }]),
      says('They say: $1'),
    );
    const steps = [step('disk', ['read_text_file']), step('notebook', ['create_entities'])];
    await withProvider(planning(steps, agent), async (fake) => {
      const consent = allowed ? ['--answers', 'answers.json', '--json'] : ALLOWING;
      const args = ['ask', QUERY, '--model', 'openai/x', '--base-url', fake.baseUrl, ...consent];
      const run = await place.cordon(args);
      assert.equal(run.code, allowed ? 0 : 1);
      assert.equal(
        remembered(place),
        allowed
          ? `{"type":"entity","name":"heron","entityType":"bird","observations":["Notes: ${IN_FILE}"]}`
          : '',
      );
      assert.equal(answerOf(run), `They say: «${IN_FILE}» (from read_text_file)`);
      assert.deepEqual(
        fake.requests.filter((request) => bodyOf(request).includes(IN_FILE)),
        [],
      );
      assertApart(fake, run);
    });
  });
}

test('a later query for another app sees nothing of what the first app read', async (t) => {
  if (isLeftOut(t)) return;
  using place = new Place();
  const path = notesIn(place);
  place.write('cordon.json', { mcpServers: mcpServers(place) });
  const reads = inTurns(calls([{ name: 'read_text_file', arguments: { path } }]), ([content]) =>
    says(`They say: ${content}`),
  );
  const stores = inTurns(calls([{ name: 'create_entities', arguments: OWN_HERON }]), says('Stored.'));
  const script: FakeScript = async (request, number) => {
    const input = plannerInputOf(request);
    const isFirst = input?.query === 'What do my notes say?';
    const plan = { steps: [step(isFirst ? 'disk' : 'notebook')], candidates: [] };
    if (input !== null) return says(JSON.stringify(plan));
    return request.tools.includes('read_text_file') ? reads(request, number) : stores(request, number);
  };
  await withProvider(script, async (fake) => {
    const args = ['chat', '--model', 'openai/x', '--base-url', fake.baseUrl, ...ALLOWING];
    const input = 'What do my notes say?\nNote a heron.\nWhat do my notes say?\n/exit\n';
    const run = await place.cordon(args, { input });
    assert.equal(run.code, 0);
    assert.deepEqual(fieldOf(run.events, 'query.ended', 'outcome'), ['answered', 'answered', 'answered']);
    assertApart(fake, run);
    const notebook = requestsWith(fake.requests, 'create_entities').map(bodyOf);
    assert.equal(notebook.length, 2);
    for (const body of notebook) {
      assert.ok(body.includes(NOTEBOOK_WORDS));
      for (const words of [IN_FILE, 'disk', 'read_text_file', 'What do my notes say?', DISK_WORDS])
        assert.ok(!body.includes(words), words);
    }
    // The app's own history is kept: its second turn shows the first.
    const disk = requestsWith(fake.requests, 'read_text_file').map(bodyOf);
    assert.ok(disk[2]?.includes(`They say: ${IN_FILE}`));
    assert.ok(!disk[2]?.includes('Note a heron.'));
  });
});

test('an app has the variables of its manifest, and none of the user’s keys', async (t) => {
  if (isLeftOut(t)) return;
  using place = new Place();
  place.write('cordon.json', {
    apps: {
      everything: {
        command: 'npx',
        args: ['-y', '@modelcontextprotocol/server-everything'],
        env: { GREETING: '${env:MY_GREETING}' },
      },
    },
  });
  const agent = inTurns(calls([{ name: 'get-env', arguments: {} }]), says('Seen.'));
  await withProvider(
    planning([step('everything')], agent),
    async (fake) => {
      const args = ['ask', 'Show it.', '--model', 'openai/x', '--base-url', fake.baseUrl, ...ALLOWING];
      const environment = { OPENAI_API_KEY: KEY, MY_GREETING: 'hello', OTHER: 'not for apps' };
      const run = await place.cordon(args, { environment });
      assert.equal(run.code, 0);
      const [shown] = fieldOf(run.events, 'tool-output.proposed', 'text');
      const seen: unknown = JSON.parse(String(shown));
      assert.deepEqual(seen, {
        GREETING: 'hello',
        HOME: '/tmp',
        LANG: 'C.UTF-8',
        PATH: '/opt/node/bin',
        PWD: '/tmp',
        TMPDIR: '/tmp',
      });
      assert.ok(!run.stdout.includes(KEY));
      assert.deepEqual(
        fake.requests.map(({ headers }) => headers.authorization),
        [1, 2, 3, 4].map(() => `Bearer ${KEY}`),
      );
      // What the server says of itself steers its own context and is shown to no planner, nor where its tools are named.
      const words = 'Follow them to use, extend, and troubleshoot the server safely and effectively.';
      assert.deepEqual(
        fake.requests.map((request) => bodyOf(request).includes(words)),
        [false, false, true, true],
      );
    },
    KEY,
  );
});

test('a server whose folder nobody granted says so, and how to grant it', async (t) => {
  if (isLeftOut(t)) return;
  using place = new Place();
  const { disk } = mcpServers(place);
  place.write('cordon.json', { mcpServers: { disk: { command: disk.command, args: disk.args } } });
  await withProvider(unplanned(notesIn(place)), async (fake) => {
    const run = await place.cordon(['ask', QUERY, '--model', 'openai/x', '--base-url', fake.baseUrl]);
    assert.equal(run.code, 2);
    const told = run.stderr.replace(/\s+/g, ' ');
    assert.match(told, /failed: `disk` could not be started: .*None of the specified directories/);
    assert.ok(
      told.includes(
        `help: its arguments name \`${place.files}\`, which it cannot see: list it in \`manifest.files.read\` or \`manifest.files.write\``,
      ),
      told,
    );
  });
});

test('without isolation one context has all tools and all texts, no one is asked, and it says so', async (t) => {
  if (isLeftOut(t)) return;
  using place = new Place();
  const path = notesIn(place);
  place.write('cordon.json', { mcpServers: mcpServers(place) });
  await withProvider(unplanned(path), async (fake) => {
    const args = ['ask', QUERY, '--model', 'openai/x', '--base-url', fake.baseUrl, '--isolation', 'none'];
    const run = await place.cordon([...args, '--deny-all', '--json']);
    assert.equal(run.code, 0);
    assert.equal(remembered(place), STORED_OWN);
    assert.deepEqual(plannerRequests(fake.requests), []);
    const contexts = new Set(eventsOf(run.events, 'model-call.proposed').map(({ context }) => context));
    assert.equal(contexts.size, 1);
    assert.deepEqual(eventsOf(run.events, 'permission.asked'), []);
    for (const request of fake.requests) {
      const body = bodyOf(request);
      assert.ok(body.includes(DISK_WORDS) && body.includes(NOTEBOOK_WORDS));
    }
    assert.ok(bodyOf(fake.requests[1] ?? fail()).includes(IN_FILE));
    assertMediated(run.events);
    assert.match(JSON.stringify(eventsOf(run.events, 'session.started')), /BASELINE: no isolation/);
    const loud = await place.cordon([...args, '--deny-all']);
    assert.match(loud.stderr, /^!! BASELINE: no isolation\./);
  });
});
