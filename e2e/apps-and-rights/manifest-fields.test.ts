/**
 * Every key that a manifest may hold does something: for each there is what an app tries against it and the same thing
 * where the manifest allows it, both with the real `cordon`, the real sandbox, and an app that does as it is told.
 * A key that the reader accepts and that has no such pair here fails.
 */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders as the configuration writes them
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { chmodSync, lchownSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { calls, type FakeScript, says, startFakeOpenAi } from '@cordon/testkit/fake-openai/server.ts';
import { isLeftOut } from '../../tools/cases.ts';
import { Place, ROOT, type Run, type TraceEvent } from '../harness/provider-harness.ts';
import { bodyOf, inTurns, plannerRequests, planning, step } from '../harness/provider-script.ts';
import { eventsOf } from '../harness/provider-trace.ts';

const PROBE = join(ROOT, 'e2e/apps/probe.mjs');

interface Attempt {
  readonly what: string;
  /** `FILES` is a folder of the user. */
  readonly path?: string;
  readonly amount?: number;
}

/** An app: what its manifest lets it do, and what it tries. */
interface Asked {
  readonly manifest: object;
  readonly tries: readonly Attempt[];
  readonly tool?: 'look' | 'act';
  readonly env?: Readonly<Record<string, string>>;
}

interface Outcome {
  /** What each tool answered, as the model read it. */
  readonly results: readonly string[];
  /** Those of the trace that are about the app. */
  readonly events: readonly TraceEvent[];
}

interface Query {
  readonly outcomes: readonly Outcome[];
  readonly run: Run;
  /** Everything that the provider was sent for plans. */
  readonly planned: string;
}

/** One query with a home, a data folder and its own provider. */
function asking(baseUrl: string, options: readonly string[] = ['--allow-rest']): string[] {
  return ['ask', 'Do it.', '--model', 'local/x', '--base-url', baseUrl, '--json', ...options];
}

/** One query in which each app tries its own, in a step of its own. Another app costs a quarter of another query. */
async function ask(asked: (place: Place) => readonly Asked[], options?: readonly string[]): Promise<Query> {
  const place = new Place();
  const apps = asked(place).map((one, index) => ({ ...one, name: `probe-${index}` }));
  const results = new Map<string, readonly string[]>();
  const scripts = apps.map(({ name, tries, tool = 'look' }) => {
    const turns = tries.map((attempt) => calls([{ name: tool, arguments: inPlace(attempt, place) }]));
    return inTurns(...turns, (answers) => {
      results.set(name, answers);
      return says('done');
    });
  });
  const steps = apps.map(({ name }) => ({ ...step(name, ['look', 'act']), task: taskOf(name) }));
  // The context that makes one answer of the steps has no tools of the apps.
  const agent: FakeScript = (request, number) => {
    if (!request.tools.includes('look')) return says('done');
    const own = apps.findIndex(({ name }) => bodyOf(request).includes(taskOf(name)));
    return scripts[apps.length === 1 ? 0 : own]?.(request, number) ?? says('done');
  };
  const fake = await startFakeOpenAi({ script: planning(steps, agent) });
  try {
    chmodSync(place.folder, 0o755);
    place.write('cordon.json', { apps: configured(apps.map(startingSlowly)) });
    const run = await place.cordon(asking(fake.baseUrl, options), { environment: SECRET });
    const outcomes = apps.map(({ name }) => ({
      results: results.get(name) ?? [],
      events: run.events.filter(({ app }) => app === name),
    }));
    return { outcomes, run, planned: plannerRequests(fake.requests).map(bodyOf).join('\n') };
  } finally {
    await fake.close();
    place[Symbol.dispose]();
  }
}

/** Many start at the same time. */
function startingSlowly<T extends Asked>(app: T): T {
  const limits = { startSeconds: 300, ...Object(app.manifest).limits };
  return { ...app, manifest: { ...app.manifest, limits } };
}

function taskOf(name: string): string {
  return `Do all that ${name} is to try.`;
}

/** Apps as a configuration has them: all of them the probe. */
function configured(
  apps: readonly { readonly name: string; readonly manifest: object; readonly env?: object }[],
): object {
  return Object.fromEntries(
    apps.map(({ name, manifest, env = {} }) => [name, { command: 'node', args: [PROBE], env, manifest }]),
  );
}

/** What came of the attempts of each app, with the reason for which it was stopped; else why the query came to nothing. */
async function tried(asked: (place: Place) => readonly Asked[]): Promise<readonly string[]> {
  const { outcomes, run } = await ask(asked);
  const why = eventsOf(run.events, 'query.ended').map(({ reason }) => `nothing was tried: ${reason}`);
  return outcomes.map(({ results, events }) => {
    const stopped = eventsOf(events, 'app.stopped').map(({ reason }) => String(reason));
    return (results.length + stopped.length > 0 ? [...results, ...stopped] : why).join('; ');
  });
}

/** What came of one attempt under each of these manifests. */
function each(attempt: Attempt, ...manifests: readonly object[]): Promise<readonly string[]> {
  return tried(() => manifests.map((manifest) => ({ manifest, tries: [attempt] })));
}

function inPlace({ path, ...attempt }: Attempt, place: Place): Attempt {
  return path === undefined ? attempt : { ...attempt, path: path.replace('FILES', place.files) };
}

/** The folders `open` and `closed` of the user, which apps may use as far as file permissions go. */
function withFiles(place: Place): string {
  for (const name of ['open', 'closed']) {
    const folder = join(place.files, name);
    mkdirSync(folder);
    writeFileSync(join(folder, 'note.txt'), `the note in ${name}`);
    if (process.getuid?.() === 0) {
      lchownSync(folder, 61_000, 61_000);
      lchownSync(join(folder, 'note.txt'), 61_000, 61_000);
    }
  }
  return join(place.files, 'open');
}

const OWN = { files: { write: ['${state}'] } } as const;

interface Limit {
  /** A limit that stops the attempt, and one that lets it be. */
  readonly sizes: readonly [small: number, large: number];
  readonly attempt: Attempt;
  readonly stopped: RegExp;
  /** What else the manifest of the attempt needs. */
  readonly node?: readonly string[];
  readonly besides?: Readonly<Record<string, number>>;
}

/** What the attempts of other limits have. A busy machine gives a program that uses one second of a processor many to do so. */
const PATIENT = { callSeconds: 600, silentSeconds: 600 };

const LIMITS = {
  memoryMiB: {
    sizes: [200, 16_000],
    attempt: { what: 'memory', amount: 400 },
    stopped: /of memory|ended during|exit code|SIGKILL/,
  },
  cpuSeconds: {
    // The start takes a part of it.
    sizes: [3, 600],
    attempt: { what: 'spin', amount: 6 },
    stopped: /CPU time/,
    besides: PATIENT,
  },
  processes: {
    sizes: [13, 200],
    attempt: { what: 'threads', amount: 10 },
    stopped: /ERR_WORKER|EAGAIN|ended by|not be started/,
    node: ['worker'],
    // Every worker reserves half a gibibyte that it does not use.
    besides: { memoryMiB: 16_000 },
  },
  openFiles: { sizes: [64, 1000], attempt: { what: 'open', amount: 200 }, stopped: /EMFILE/ },
  fileMiB: {
    sizes: [2, 70],
    attempt: { what: 'write', path: '/state/file', amount: 8 },
    stopped: /EFBIG/,
  },
  storageMiB: {
    sizes: [16, 200],
    attempt: { what: 'fill', path: '/state', amount: 64 },
    stopped: /16 MiB in its own folder/,
  },
  files: {
    sizes: [200, 5000],
    attempt: { what: 'files', path: '/state', amount: 600 },
    stopped: /more than 200 files/,
  },
  callSeconds: {
    sizes: [1, PATIENT.callSeconds],
    attempt: { what: 'wait', amount: 3 },
    stopped: /did not answer|within 1 s|stopped/,
  },
  silentSeconds: {
    sizes: [2, PATIENT.silentSeconds],
    attempt: { what: 'spin', amount: 6 },
    stopped: /no sign of life for 2 s/,
    besides: { callSeconds: PATIENT.callSeconds },
  },
  totalSeconds: {
    sizes: [3, 3_600],
    attempt: { what: 'wait', amount: 8 },
    stopped: /3 s|altogether|total|ended during/,
  },
  lineBytes: {
    sizes: [4096, 1_000_000],
    attempt: { what: 'line', amount: 64 },
    stopped: /line|longer than/,
  },
  messagesPerSecond: {
    sizes: [10, 10_000],
    attempt: { what: 'notify', amount: 3000 },
    stopped: /messages/,
  },
} as const satisfies Readonly<Record<string, Limit>>;

type LimitName = keyof typeof LIMITS;

/** The attempts of all limits in one query, with the limits that let them be. */
const twins = onceAsked(async () => {
  const all: readonly Limit[] = Object.values(LIMITS);
  const limits = Object.fromEntries(Object.entries(LIMITS).map(([name, { sizes }]) => [name, sizes[1]]));
  const node = all.flatMap((limit) => limit.node ?? []);
  const manifest = { ...OWN, node, limits };
  const { outcomes } = await ask(() => [{ manifest, tries: all.map(({ attempt }) => attempt) }]);
  return new Map(
    Object.keys(LIMITS).map((name, index) => [name, outcomes[0]?.results[index] ?? 'no answer']),
  );
});

function onceAsked<T>(run: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined;
  return () => {
    asked ??= run();
    return asked;
  };
}

/** The small limit stops the attempt, and the large one lets it be. */
async function limited(name: LimitName): Promise<void> {
  const { sizes, attempt, stopped, node = [], besides = {} }: Limit = LIMITS[name];
  const [attack] = await each(attempt, { ...OWN, node, limits: { ...besides, [name]: sizes[0] } });
  assert.match(String(attack), stopped);
  const twin = (await twins()).get(name) ?? '';
  assert.match(twin, /^(done|x+)/);
  assert.doesNotMatch(twin, stopped);
}

/** A site on this machine, named by its address: what the manifest must list literally. */
const site = createServer((_, response) => response.end('the site answers'));
let siteAddress = '';
before(async () => {
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  const address = site.address();
  siteAddress = `127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
});
after(() => site.close());

/** An app without code beside the probe, whose model asks for `note-keeping`. */
async function exchanged(
  functionality: object | null,
  message: object,
): Promise<{ answers: string; run: Run }> {
  const place = new Place();
  let answers: readonly string[] = [];
  const agent = inTurns(calls([{ name: 'note-keeping', arguments: { ...message } }]), (results) => {
    answers = results;
    return says('done');
  });
  const fake = await startFakeOpenAi({
    script: planning([step('asker'), step('probe', ['note-keeping'])], agent),
  });
  const served = functionality === null ? {} : { functionalities: { 'note-keeping': functionality } };
  const asker = { instructions: 'Ask for a note.', manifest: { description: 'Asks for notes.' } };
  const manifest = { description: 'Looks.', irreversible: [], untrusted: [], private: [], ...served };
  place.write('cordon.json', { apps: { asker, probe: { command: 'node', args: [PROBE], manifest } } });
  try {
    const run = await place.cordon(asking(fake.baseUrl));
    return { answers: answers.join('; '), run };
  } finally {
    await fake.close();
    place[Symbol.dispose]();
  }
}

const REQUEST = {
  type: 'object',
  properties: { what: { type: 'string', enum: ['nothing'] } },
  required: ['what'],
  additionalProperties: false,
};
const NUMBER = { type: 'integer' };
const RESPONSE = { type: 'object', properties: { named: NUMBER }, required: ['named'] };
const KEEPING = { description: 'keep or find a note', request: REQUEST, response: RESPONSE, tool: 'look' };

/** The exchange that a functionality is for. */
const kept = onceAsked(() => exchanged(KEEPING, NOTHING));

/** In the environment of `cordon`. */
const SECRET = { TEST_SECRET: 'only-the-hub-knows' };
const CREDENTIAL = { hosts: ['api.example.com'], env: 'TEST_SECRET' };

/** A manifest that only its reader sees. `name` is that of the app. */
type Written = (place: Place, name: string) => object;

interface Judged {
  readonly accepted: readonly Written[];
  readonly refused: readonly (readonly [manifest: Written, says: RegExp])[];
}

function credential(changes: object): Written {
  return () => credentialed({ ...CREDENTIAL, ...changes });
}

function credentialed(one: object): { readonly [key: string]: unknown } {
  return { network: ['example.com'], credentials: { service: one } };
}

/** A credential in a file of the user, and a folder that the app may read. */
function inFile(readable: string): Written {
  return ({ files }) => {
    const file = join(files, 'closed/note.txt');
    const read = [join(files, readable)];
    return { ...credentialed({ hosts: CREDENTIAL.hosts, file }), files: { read } };
  };
}

function described(description: (name: string) => string): Written {
  return (_, name) => ({
    functionalities: { 'note-keeping': { ...KEEPING, description: description(name) } },
  });
}

/** By the key's path: what is decided when the configuration is read. */
const JUDGED = {
  description: {
    accepted: [],
    refused: [[() => ({ description: 'Looks.\u202eObey.' }), /invisible character/]],
  },
  'functionalities.*.description': {
    accepted: [described(() => 'keep a note')],
    refused: [[described((name) => `what ${name} does`), /names the app/]],
  },
  'credentials.*.header': {
    accepted: [credential({ header: 'X-Key' })],
    refused: [[credential({ header: 'Host' }), /no header for a credential/]],
  },
  'credentials.*.format': {
    accepted: [credential({ format: 'Token ${secret}' })],
    refused: [[credential({ format: 'Token' }), /does not hold the secret/]],
  },
  'credentials.*.hosts': {
    accepted: [credential({})],
    refused: [
      [credential({ hosts: ['evil.example.net'] }), /may not reach/],
      [credential({ hosts: ['api.example.com:80'] }), /not encrypted/],
    ],
  },
  'credentials.*.env': {
    accepted: [credential({ env: 'TEST_SECRET' })],
    refused: [
      [credential({ env: 'only-the-hub-knows' }), /no name of a variable/],
      [credential({ env: 'NOT_SET' }), /is not set/],
    ],
  },
  'credentials.*.file': {
    accepted: [inFile('open')],
    refused: [[inFile('closed'), /the app may read the file/]],
  },
  limits: {
    accepted: [() => ({ limits: { memoryMiB: 100 } })],
    refused: [[() => ({ limits: { memoryMiB: 99_999_999 } }), /memoryMiB|from 16 to/]],
  },
} as const satisfies Readonly<Record<string, Judged>>;

/** A manifest with a key that nobody knows, in each object that has keys of its own. The reader tells those that it knows. */
const UNKNOWN = { qqqqqqqqqqqq: 1 };
const OBJECTS: Readonly<Record<string, object>> = {
  '': UNKNOWN,
  'files.': { files: UNKNOWN },
  'limits.': { limits: UNKNOWN },
  'credentials.*.': { credentials: { x: UNKNOWN } },
  'functionalities.*.': { functionalities: { x: UNKNOWN } },
};

/** What Cordon reports of a configuration whose apps have these manifests, app by app; code 0 if it is accepted. */
async function read(
  manifests: readonly Written[],
): Promise<{ code: number | null; told: readonly string[] }> {
  using place = new Place();
  withFiles(place);
  const apps = manifests.map((made, index) => ({
    name: `probe-${index}`,
    manifest: made(place, `probe-${index}`),
  }));
  place.write('cordon.json', { apps: configured(apps) });
  const { code, stderr } = await place.cordon(['apps'], { environment: SECRET });
  const problems = stderr.split(/^(?=\S+: error )/m).map((problem) => problem.replace(/\s+/g, ' '));
  const about = (name: string) => problems.filter((problem) => problem.includes(` apps.${name}.`)).join('\n');
  return { code, told: apps.map(({ name }) => about(name)) };
}

/** All that is to be accepted is one configuration, all that is to be refused another: the reader tells of every problem. */
const readings = onceAsked(async () => {
  const all: readonly Judged[] = Object.values(JUDGED);
  const refused = all.flatMap((one) => one.refused.map(([manifest]) => manifest));
  const unknown = Object.values(OBJECTS).map((manifest) => () => manifest);
  const [good, bad] = await Promise.all([
    read(all.flatMap(({ accepted }) => accepted)),
    read([...refused, ...unknown]),
  ]);
  const told = new Map([...refused, ...unknown].map((manifest, index) => [manifest, bad.told[index] ?? '']));
  return { good, told, ofUnknown: bad.told.slice(refused.length) };
});

/** Of what is decided when the configuration is read, the one is accepted and the other refused for its own reason. */
async function judged(key: keyof typeof JUDGED): Promise<void> {
  const { good, told } = await readings();
  const { refused }: Judged = JUDGED[key];
  assert.deepEqual([good.code, good.told.join('')], [0, '']);
  for (const [manifest, says] of refused) assert.match(told.get(manifest) ?? '', says);
}

/** The label of what each app said under these manifests. */
async function labels(...manifests: readonly object[]): Promise<readonly unknown[]> {
  const { outcomes } = await ask(() => manifests.map((manifest) => ({ manifest, tries: [NOTHING] })));
  return outcomes.map(({ events }) => eventsOf(events, 'tool-output.proposed')[0]?.label);
}

const NOTHING: Attempt = { what: 'nothing' };

/** By the key's path in the manifest. */
const PAIRS: Readonly<Record<string, () => Promise<void>>> = {
  ...Object.fromEntries(
    Object.keys(LIMITS).map((name) => [`limits.${name}`, () => limited(name as LimitName)]),
  ),
  ...Object.fromEntries(Object.keys(JUDGED).map((key) => [key, () => judged(key as keyof typeof JUDGED)])),
  description: async () => {
    const manifest = { description: 'Looks at things.' };
    assert.match((await ask(() => [{ manifest, tries: [NOTHING] }])).planned, /Looks at things\./);
    await judged('description');
  },
  functionalities: async () => {
    assert.match((await kept()).answers, /"named":1/);
    assert.doesNotMatch((await exchanged(null, NOTHING)).answers, /named/);
  },
  'functionalities.*.request': async () => {
    assert.match((await kept()).answers, /"named":1/);
    const attack = await exchanged(KEEPING, { what: 'read', path: '/etc/passwd' });
    assert.doesNotMatch(attack.answers, /named/);
    assert.deepEqual(eventsOf(attack.run.events, 'tool-call.executed'), []);
  },
  'functionalities.*.response': async () => {
    assert.doesNotMatch((await kept()).answers, /unnamed/);
    const wide = { ...RESPONSE, properties: { named: NUMBER, unnamed: NUMBER } };
    assert.match((await exchanged({ ...KEEPING, response: wide }, NOTHING)).answers, /"unnamed":2/);
  },
  'functionalities.*.tool': async () => {
    for (const [tool, other] of [
      ['look', 'act'],
      ['act', 'look'],
    ] as const) {
      const { run } = tool === KEEPING.tool ? await kept() : await exchanged({ ...KEEPING, tool }, NOTHING);
      const called = eventsOf(run.events, 'tool-call.proposed').map((event) => event.tool);
      assert.deepEqual([called.includes(tool), called.includes(other)], [true, false]);
    }
  },
  network: async () => {
    const attempt = { what: 'fetch', path: `http://${siteAddress}/` };
    const [listed, other, none] = await each(
      attempt,
      { network: [siteAddress] },
      { network: ['example.com'] },
      {},
    );
    assert.match(String(listed), /fetched: the site answers/);
    assert.doesNotMatch(String(other), /the site answers/);
    assert.doesNotMatch(String(none), /the site answers/);
  },
  credentials: async () => {
    const manifest = credentialed(CREDENTIAL);
    const tries = [{ what: 'environment' }];
    const [kept, handed] = await tried(() => [
      { manifest, tries },
      { manifest, tries, env: { HANDED: '${env:TEST_SECRET}' } },
    ]);
    assert.match(String(kept), /^{/);
    assert.doesNotMatch(String(kept), /only-the-hub-knows/);
    assert.match(String(handed), /only-the-hub-knows/);
  },
  files: async () => {
    const tries = [{ what: 'read', path: 'FILES/open/note.txt' }];
    const [granted, silent] = await tried((place) => [
      { manifest: { files: { read: [withFiles(place)] } }, tries },
      { manifest: {}, tries },
    ]);
    assert.match(String(granted), /the note in open/);
    assert.match(String(silent), /^refused: (ENOENT|ERR_ACCESS_DENIED)/);
  },
  'files.read': async () => {
    const { outcomes } = await ask((place) => [
      {
        manifest: { files: { read: [withFiles(place)] } },
        tries: [
          { what: 'read', path: 'FILES/open/note.txt' },
          { what: 'read', path: 'FILES/closed/note.txt' },
          { what: 'write', path: 'FILES/open/note.txt' },
        ],
      },
    ]);
    const [read, closed, written] = outcomes[0]?.results ?? [];
    assert.match(String(read), /the note in open/);
    assert.match(String(closed), /^refused: /);
    assert.match(String(written), /^refused: (EROFS|ERR_ACCESS_DENIED)/);
  },
  'files.write': async () => {
    const { outcomes } = await ask((place) => [
      {
        manifest: { files: { write: [withFiles(place)] } },
        tries: [
          { what: 'write', path: 'FILES/open/new.txt' },
          { what: 'write', path: 'FILES/closed/new.txt' },
        ],
      },
    ]);
    const [open, closed] = outcomes[0]?.results ?? [];
    assert.match(String(open), /^done/);
    assert.match(String(closed), /^refused: /);
  },
  'limits.startSeconds': async () => {
    const slow = (startSeconds: number) =>
      ask(() => [{ manifest: { limits: { startSeconds } }, tries: [NOTHING], env: { SLOW_START: '4' } }]);
    assert.match(JSON.stringify((await slow(1)).run.events), /did not answer within 1 s of its start/);
    assert.deepEqual((await slow(30)).outcomes[0]?.results.length, 1);
  },
  'limits.idleSeconds': async () => {
    // Between two calls the model thinks until the app was ended, or where it is not, for four seconds.
    const starts = async (idleSeconds: number, isEnded: boolean) => {
      const place = new Place();
      const stopped = Promise.withResolvers<void>();
      const turns = inTurns(
        calls([{ name: 'look', arguments: { ...NOTHING } }]),
        calls([{ name: 'look', arguments: { ...NOTHING } }]),
        says('done'),
      );
      const script = planning([step('probe', ['look'])], async (request, number) => {
        if (request.messages.filter(({ role }) => role === 'tool').length === 1)
          await (isEnded ? stopped.promise : setTimeout(4_000));
        return turns(request, number);
      });
      const fake = await startFakeOpenAi({ script });
      place.write('cordon.json', {
        apps: { probe: { command: 'node', args: [PROBE], manifest: { limits: { idleSeconds } } } },
      });
      const onOutput = (text: string, child: ChildProcess) => {
        child.stdin?.end();
        if (text.includes('"app.stopped"')) stopped.resolve();
      };
      const run = await place.cordon(asking(fake.baseUrl), { onOutput });
      await fake.close();
      place[Symbol.dispose]();
      return eventsOf(run.events, 'app.stopped').map(({ reason }) => String(reason));
    };
    assert.match((await starts(1, true)).join('; '), /nobody used it/);
    assert.doesNotMatch((await starts(60, false)).join('; '), /nobody used it/);
  },
  node: async () => {
    const attempt = { what: 'child' };
    const [allowed, silent] = await each(attempt, { node: ['child-process'] }, {});
    assert.match(String(allowed), /^done/);
    assert.match(String(silent), /^refused: ERR_ACCESS_DENIED/);
  },
  unixSockets: async () => {
    const attempt = { what: 'unix', path: '/tmp/socket' };
    const [allowed, ...others] = await each(attempt, { unixSockets: true }, {}, { unixSockets: false });
    assert.match(String(allowed), /^done/);
    for (const other of others) assert.match(other, /^refused: EAFNOSUPPORT/);
  },
  irreversible: async () => {
    const manifests = [{ irreversible: ['act'] }, {}, { irreversible: [] }];
    const { outcomes } = await ask(
      () => manifests.map((manifest) => ({ manifest, tries: [NOTHING], tool: 'act' })),
      ['--deny-all'],
    );
    const asked = outcomes.map(({ events }) => [
      eventsOf(events, 'permission.asked').length,
      eventsOf(events, 'tool-call.executed').length,
    ]);
    assert.deepEqual(asked, [
      [1, 0],
      [1, 0],
      [0, 1],
    ]);
  },
  untrusted: async () => {
    const found = await labels({ untrusted: ['look'], private: [] }, { untrusted: ['act'], private: [] });
    assert.deepEqual(found, [
      { confidentiality: 'public', integrity: 'untrusted' },
      { confidentiality: 'public', integrity: 'trusted' },
    ]);
  },
  private: async () => {
    const found = await labels({ untrusted: [], private: ['look'] }, { untrusted: [], private: ['act'] });
    assert.deepEqual(found, [
      { confidentiality: 'private', integrity: 'trusted' },
      { confidentiality: 'public', integrity: 'trusted' },
    ]);
  },
  remembers: async () => {
    const at = (schema: object) => ({ remembers: { outcome: { tool: 'look', at: 'named', schema } } });
    const manifests = [at({ type: 'number' }), at({ type: 'boolean' }), {}];
    const { outcomes } = await ask(() => manifests.map((manifest) => ({ manifest, tries: [NOTHING] })));
    const learnt = outcomes.map(({ events }) => eventsOf(events, 'fact.observed').map(({ name }) => name));
    assert.deepEqual(learnt, [['outcome'], [], []]);
  },
};

/** Keys whose means differ: release and network. */
const SAMPLE: ReadonlySet<string> = new Set(['functionalities.*.request', 'credentials.*.hosts']);

// Much of the time is spent waiting for limits of time. More at once would start too slowly for limits that are not theirs.
describe('each key', { concurrency: 2 }, () => {
  for (const [key, pair] of Object.entries(PAIRS)) {
    test(`the key \`${key}\` is enforced`, async (t) => {
      if (isLeftOut(t, SAMPLE.has(key))) return;
      await pair();
    });
  }
});

test('every key that the reader of manifests accepts has its pair', async () => {
  const { ofUnknown } = await readings();
  const keys = Object.keys(OBJECTS).flatMap((inside, index) => {
    const told = ofUnknown[index] ?? '';
    const known = /known keys: (\w+(?:, \w+)*)/.exec(told)?.[1];
    assert.ok(known, told);
    return known.split(', ').map((key) => `${inside}${key}`);
  });
  assert.equal(keys.length > 20, true, keys.join(', '));
  assert.deepEqual(
    {
      withoutPair: keys.filter((key) => !Object.hasOwn(PAIRS, key)),
      gone: Object.keys(PAIRS).filter((key) => !keys.includes(key)),
    },
    { withoutPair: [], gone: [] },
  );
});
