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
import { calls, says, startFakeOpenAi } from '@cordon/testkit/fake-openai/server.ts';
import { isLeftOut } from '../../tools/cases.ts';
import { Place, ROOT, type Run } from '../harness/provider-harness.ts';
import { bodyOf, inTurns, plannerRequests, planning, step } from '../harness/provider-script.ts';
import { eventsOf } from '../harness/provider-trace.ts';

const PROBE = join(ROOT, 'e2e/apps/probe.mjs');

interface Attempt {
  readonly what: string;
  readonly path?: string;
  readonly amount?: number;
}

interface Outcome {
  readonly run: Run;
  /** What each tool answered, as the model read it. */
  readonly results: readonly string[];
  /** Everything that the provider was sent for plans. */
  readonly planned: string;
}

interface Asked {
  readonly manifest: object;
  readonly tries: readonly Attempt[];
  readonly tool?: 'look' | 'act';
  readonly env?: Readonly<Record<string, string>>;
  readonly options?: readonly string[];
}

/** One query with a home, a data folder and its own provider. `${files}` in paths is a folder of the user. */
function asking(baseUrl: string, options: readonly string[] = ['--allow-rest']): string[] {
  return ['ask', 'Do it.', '--model', 'local/x', '--base-url', baseUrl, '--json', ...options];
}

async function ask(asked: (place: Place) => Asked): Promise<Outcome> {
  const place = new Place();
  const { manifest, tries, tool = 'look', env = {}, options } = asked(place);
  let results: readonly string[] = [];
  const wanted = tries.map((attempt) => ({ name: tool, arguments: { ...attempt } }));
  const turns = wanted.map((call) => calls([call]));
  const script = planning(
    [step('probe', ['look', 'act'])],
    inTurns(...turns, (answers) => {
      results = answers;
      return says('done');
    }),
  );
  const fake = await startFakeOpenAi({ script });
  try {
    chmodSync(place.folder, 0o755);
    place.write('cordon.json', { apps: { probe: { command: 'node', args: [PROBE], env, manifest } } });
    const run = await place.cordon(asking(fake.baseUrl, options), { environment: SECRET });
    return { run, results, planned: plannerRequests(fake.requests).map(bodyOf).join('\n') };
  } finally {
    await fake.close();
    place[Symbol.dispose]();
  }
}

/** What came of one attempt. */
async function one(manifest: object | ((place: Place) => object), attempt: Attempt): Promise<string> {
  const outcome = await ask((place) => ({
    manifest: typeof manifest === 'function' ? manifest(place) : manifest,
    tries: [{ ...attempt, ...(attempt.path === undefined ? {} : { path: inPlace(attempt.path, place) }) }],
  }));
  const stopped = eventsOf(outcome.run.events, 'app.stopped').map(({ reason }) => String(reason));
  return [...outcome.results, ...stopped].join('; ');
}

function inPlace(path: string, place: Place): string {
  return path.replace('FILES', place.files);
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

const LIMITS = {
  memoryMiB: {
    sizes: [200, 16_000],
    attempt: { what: 'memory', amount: 400 },
    stopped: /of memory|ended during|exit code|SIGKILL/,
  },
  cpuSeconds: {
    sizes: [1, 60],
    attempt: { what: 'spin', amount: 3 },
    stopped: /CPU time/,
    besides: { silentSeconds: 40, callSeconds: 40 },
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
    sizes: [1, 40],
    attempt: { what: 'wait', amount: 3 },
    stopped: /did not answer|within 1 s|stopped/,
  },
  silentSeconds: {
    sizes: [2, 40],
    attempt: { what: 'spin', amount: 6 },
    stopped: /no sign of life for 2 s/,
    besides: { callSeconds: 40 },
  },
  totalSeconds: {
    sizes: [3, 120],
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
  const { results } = await ask(() => ({
    manifest: { ...OWN, node, limits },
    tries: all.map(({ attempt }) => attempt),
  }));
  return new Map(Object.keys(LIMITS).map((name, index) => [name, results[index] ?? 'no answer']));
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
  const attack = await one({ ...OWN, node, limits: { ...besides, [name]: sizes[0] } }, attempt);
  assert.match(attack, stopped);
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

/** Whether the configuration is accepted, else its first problem. */
async function accepted(manifest: object | ((place: Place) => object), name = 'probe-7'): Promise<string> {
  const place = new Place();
  try {
    const made = typeof manifest === 'function' ? manifest(place) : manifest;
    place.write('cordon.json', { apps: { [name]: { command: 'node', args: [PROBE], manifest: made } } });
    const { code, stderr } = await place.cordon(['apps'], { environment: SECRET });
    return code === 0 ? 'accepted' : stderr.replace(/\s+/g, ' ');
  } finally {
    place[Symbol.dispose]();
  }
}

/** In the environment of `cordon`. */
const SECRET = { TEST_SECRET: 'only-the-hub-knows' };
const CREDENTIAL = { hosts: ['api.example.com'], env: 'TEST_SECRET' };

/** Whether a manifest with this credential is accepted. */
function credential(changes: object): Promise<string> {
  return accepted(credentialed({ ...CREDENTIAL, ...changes }));
}

function credentialed(one: object): { readonly [key: string]: unknown } {
  return { network: ['example.com'], credentials: { service: one } };
}

function labelOf({ run }: Outcome): unknown {
  return eventsOf(run.events, 'tool-output.proposed')[0]?.label;
}

const NOTHING: Attempt = { what: 'nothing' };

/** By the key's path in the manifest. */
const PAIRS: Readonly<Record<string, () => Promise<void>>> = {
  ...Object.fromEntries(
    Object.keys(LIMITS).map((name) => [`limits.${name}`, () => limited(name as LimitName)]),
  ),
  description: async () => {
    const manifest = { description: 'Looks at things.' };
    assert.match((await ask(() => ({ manifest, tries: [NOTHING] }))).planned, /Looks at things\./);
    assert.match(await accepted({ description: 'Looks.\u202eObey.' }), /invisible character/);
  },
  functionalities: async () => {
    assert.match((await exchanged(KEEPING, NOTHING)).answers, /"named":1/);
    assert.doesNotMatch((await exchanged(null, NOTHING)).answers, /named/);
  },
  'functionalities.*.description': async () => {
    const functionalities = (description: string) => ({
      functionalities: { 'note-keeping': { ...KEEPING, description } },
    });
    assert.equal(await accepted(functionalities('keep a note')), 'accepted');
    assert.match(await accepted(functionalities('what probe-7 does')), /names the app/);
  },
  'functionalities.*.request': async () => {
    assert.match((await exchanged(KEEPING, NOTHING)).answers, /"named":1/);
    const attack = await exchanged(KEEPING, { what: 'read', path: '/etc/passwd' });
    assert.doesNotMatch(attack.answers, /named/);
    assert.deepEqual(eventsOf(attack.run.events, 'tool-call.executed'), []);
  },
  'functionalities.*.response': async () => {
    assert.doesNotMatch((await exchanged(KEEPING, NOTHING)).answers, /unnamed/);
    const wide = { ...RESPONSE, properties: { named: NUMBER, unnamed: NUMBER } };
    assert.match((await exchanged({ ...KEEPING, response: wide }, NOTHING)).answers, /"unnamed":2/);
  },
  'functionalities.*.tool': async () => {
    for (const [tool, other] of [
      ['look', 'act'],
      ['act', 'look'],
    ] as const) {
      const { run } = await exchanged({ ...KEEPING, tool }, NOTHING);
      const called = eventsOf(run.events, 'tool-call.proposed').map((event) => event.tool);
      assert.deepEqual([called.includes(tool), called.includes(other)], [true, false]);
    }
  },
  network: async () => {
    const attempt = { what: 'fetch', path: `http://${siteAddress}/` };
    assert.match(await one({ network: [siteAddress] }, attempt), /fetched: the site answers/);
    assert.doesNotMatch(await one({ network: ['example.com'] }, attempt), /the site answers/);
    assert.doesNotMatch(await one({}, attempt), /the site answers/);
  },
  credentials: async () => {
    const told = async (env: Readonly<Record<string, string>>) => {
      const { results } = await ask(() => ({
        manifest: credentialed(CREDENTIAL),
        tries: [{ what: 'environment' }],
        env,
      }));
      return results.join();
    };
    assert.doesNotMatch(await told({}), /only-the-hub-knows/);
    assert.match(await told({ HANDED: '${env:TEST_SECRET}' }), /only-the-hub-knows/);
  },
  'credentials.*.header': async () => {
    assert.equal(await credential({ header: 'X-Key' }), 'accepted');
    assert.match(await credential({ header: 'Host' }), /no header for a credential/);
  },
  'credentials.*.format': async () => {
    assert.equal(await credential({ format: 'Token ${secret}' }), 'accepted');
    assert.match(await credential({ format: 'Token' }), /does not hold the secret/);
  },
  'credentials.*.hosts': async () => {
    assert.equal(await credential({}), 'accepted');
    assert.match(await credential({ hosts: ['evil.example.net'] }), /may not reach/);
    assert.match(await credential({ hosts: ['api.example.com:80'] }), /not encrypted/);
  },
  'credentials.*.env': async () => {
    assert.equal(await credential({ env: 'TEST_SECRET' }), 'accepted');
    assert.match(await credential({ env: 'only-the-hub-knows' }), /no name of a variable/);
    assert.match(await credential({ env: 'NOT_SET' }), /is not set/);
  },
  'credentials.*.file': async () => {
    const inFile = (files: (place: Place) => object) =>
      accepted((place) => {
        withFiles(place);
        const file = join(place.files, 'closed/note.txt');
        return { ...credentialed({ hosts: CREDENTIAL.hosts, file }), files: files(place) };
      });
    assert.equal(await inFile((place) => ({ read: [join(place.files, 'open')] })), 'accepted');
    assert.match(
      await inFile((place) => ({ read: [join(place.files, 'closed')] })),
      /the app may read the file/,
    );
  },
  files: async () => {
    const read = { what: 'read', path: 'FILES/open/note.txt' };
    assert.match(await one((place) => ({ files: { read: [withFiles(place)] } }), read), /the note in open/);
    const silent = (place: Place) => {
      withFiles(place);
      return {};
    };
    assert.match(await one(silent, read), /^refused: (ENOENT|ERR_ACCESS_DENIED)/);
  },
  'files.read': async () => {
    const manifest = (place: Place) => ({ files: { read: [withFiles(place)] } });
    assert.match(await one(manifest, { what: 'read', path: 'FILES/open/note.txt' }), /the note in open/);
    assert.match(await one(manifest, { what: 'read', path: 'FILES/closed/note.txt' }), /^refused: /);
    assert.match(
      await one(manifest, { what: 'write', path: 'FILES/open/note.txt' }),
      /^refused: (EROFS|ERR_ACCESS_DENIED)/,
    );
  },
  'files.write': async () => {
    const manifest = (place: Place) => ({ files: { write: [withFiles(place)] } });
    assert.match(await one(manifest, { what: 'write', path: 'FILES/open/new.txt' }), /^done/);
    assert.match(await one(manifest, { what: 'write', path: 'FILES/closed/new.txt' }), /^refused: /);
  },
  limits: async () => {
    assert.match(await accepted({ limits: { memoryMiB: 99_999_999 } }), /memoryMiB|from 16 to/);
    assert.equal(await accepted({ limits: { memoryMiB: 100 } }), 'accepted');
  },
  'limits.startSeconds': async () => {
    const slow = (startSeconds: number) =>
      ask(() => ({ manifest: { limits: { startSeconds } }, tries: [NOTHING], env: { SLOW_START: '4' } }));
    assert.match(JSON.stringify((await slow(1)).run.events), /did not answer within 1 s of its start/);
    assert.deepEqual((await slow(30)).results.length, 1);
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
    assert.match(await one({ node: ['child-process'] }, attempt), /^done/);
    assert.match(await one({}, attempt), /^refused: ERR_ACCESS_DENIED/);
  },
  unixSockets: async () => {
    const attempt = { what: 'unix', path: '/tmp/socket' };
    assert.match(await one({ unixSockets: true }, attempt), /^done/);
    for (const manifest of [{}, { unixSockets: false }])
      assert.match(await one(manifest, attempt), /^refused: EAFNOSUPPORT/);
  },
  irreversible: async () => {
    const asks = async (manifest: object) => {
      const { run, results } = await ask(() => ({
        manifest,
        tries: [NOTHING],
        tool: 'act',
        options: ['--deny-all'],
      }));
      const calledFor = eventsOf(run.events, 'permission.asked').length;
      return [calledFor, eventsOf(run.events, 'tool-call.executed').length, results.length];
    };
    assert.deepEqual((await asks({ irreversible: ['act'] })).slice(0, 2), [1, 0]);
    assert.deepEqual((await asks({})).slice(0, 2), [1, 0]);
    assert.deepEqual((await asks({ irreversible: [] })).slice(0, 2), [0, 1]);
  },
  untrusted: async () => {
    const label = async (manifest: object) => labelOf(await ask(() => ({ manifest, tries: [NOTHING] })));
    assert.deepEqual(await label({ untrusted: ['look'], private: [] }), {
      confidentiality: 'public',
      integrity: 'untrusted',
    });
    assert.deepEqual(await label({ untrusted: ['act'], private: [] }), {
      confidentiality: 'public',
      integrity: 'trusted',
    });
  },
  private: async () => {
    const label = async (manifest: object) => labelOf(await ask(() => ({ manifest, tries: [NOTHING] })));
    assert.deepEqual(await label({ untrusted: [], private: ['look'] }), {
      confidentiality: 'private',
      integrity: 'trusted',
    });
    assert.deepEqual(await label({ untrusted: [], private: ['act'] }), {
      confidentiality: 'public',
      integrity: 'trusted',
    });
  },
  remembers: async () => {
    const learnt = async (manifest: object) => {
      const { run } = await ask(() => ({ manifest, tries: [NOTHING] }));
      return eventsOf(run.events, 'fact.observed').map(({ name }) => name);
    };
    const at = (schema: object) => ({ remembers: { outcome: { tool: 'look', at: 'named', schema } } });
    assert.deepEqual(await learnt(at({ type: 'number' })), ['outcome']);
    assert.deepEqual(await learnt(at({ type: 'boolean' })), []);
    assert.deepEqual(await learnt({}), []);
  },
};

/** Keys whose means differ: release and network. */
const SAMPLE: ReadonlySet<string> = new Set(['functionalities.*.request', 'credentials.*.hosts']);

// Most of the time is spent waiting for limits of time.
describe('each key', { concurrency: 4 }, () => {
  for (const [key, pair] of Object.entries(PAIRS)) {
    test(`the key \`${key}\` is enforced`, async (t) => {
      if (isLeftOut(t, SAMPLE.has(key))) return;
      await pair();
    });
  }
});

/** The keys that an object takes, as its reader tells them to somebody who wrote another. */
async function keysOf(inside: (unknown: object) => object): Promise<readonly string[]> {
  const told = await accepted(inside({ qqqqqqqqqqqq: 1 }));
  const keys = /known keys: (\w+(?:, \w+)*)/.exec(told)?.[1];
  assert.ok(keys, told);
  return keys.split(', ');
}

test('every key that the reader of manifests accepts has its pair', async () => {
  const top = await keysOf((unknown) => unknown);
  const nested = await Promise.all([
    keysOf((unknown) => ({ files: unknown })).then((keys) => keys.map((key) => `files.${key}`)),
    keysOf((unknown) => ({ limits: unknown })).then((keys) => keys.map((key) => `limits.${key}`)),
    keysOf((unknown) => ({ credentials: { x: unknown } })).then((keys) =>
      keys.map((key) => `credentials.*.${key}`),
    ),
    keysOf((unknown) => ({ functionalities: { x: unknown } })).then((keys) =>
      keys.map((key) => `functionalities.*.${key}`),
    ),
  ]);
  const keys = [...top, ...nested.flat()];
  assert.equal(keys.length > 20, true, keys.join(', '));
  assert.deepEqual(
    {
      withoutPair: keys.filter((key) => !Object.hasOwn(PAIRS, key)),
      gone: Object.keys(PAIRS).filter((key) => !keys.includes(key)),
    },
    { withoutPair: [], gone: [] },
  );
});
