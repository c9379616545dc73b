/**
 * Apps that are given by an address: MCP over Streamable HTTP, spoken by the hub. Each request that leaves the
 * machine is its own effect, and none goes anywhere but to the address of the configuration.
 */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders as people write them
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { calls, type FakeScript, says, startFakeOpenAi } from '@cordon/testkit/fake-openai/server.ts';
import { isLeftOut } from '../../tools/cases.ts';
import { Place, ROOT, type Run } from '../harness/provider-harness.ts';
import { inTurns, planning, step } from '../harness/provider-script.ts';
import { assertMediated, eventsOf, fieldOf } from '../harness/provider-trace.ts';

const KEY = 'sk-e2e-5ecret-0f-the-u5er';
const EVERYTHING = join(ROOT, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js');

const place = new Place();
after(() => place[Symbol.dispose]());

/** The reference server, as its own process. */
let everything: { readonly process: ChildProcess; readonly url: string };

before(async () => {
  const port = await freePort();
  const process_ = spawn(process.execPath, [EVERYTHING, 'streamableHttp'], {
    env: { PATH: process.env.PATH ?? '', PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await once(process_.stderr, 'data');
  everything = { process: process_, url: `http://127.0.0.1:${port}/mcp` };
});
after(() => everything.process.kill('SIGKILL'));

async function freePort(): Promise<number> {
  const { port, close } = await listen((_, response) => response.end());
  await close();
  return port;
}

interface Listening {
  readonly port: number;
  readonly close: () => Promise<void>;
}

async function listen(
  serve: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Listening> {
  const server = createServer(serve);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { port, close };
}

const ECHOES = planning(
  [step('far', ['echo'])],
  inTurns(calls([{ name: 'echo', arguments: { message: 'hello' } }]), ([said]) => says(`It said: ${said}`)),
);

/** Asks with one app, `far`, at this address. */
async function ask(
  app: object,
  more: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
  script: FakeScript = ECHOES,
): Promise<Run> {
  const fake = await startFakeOpenAi({ script });
  try {
    place.write('cordon.json', { apps: { far: app } });
    const args = ['ask', 'Say hello.', '--model', 'openai/x', '--base-url', fake.baseUrl];
    return await place.cordon([...args, '--allow-rest', '--deny-warned', ...more], {
      environment: { OPENAI_API_KEY: KEY, ...environment },
    });
  } finally {
    await fake.close();
  }
}

function plain(text: string): string {
  return text.replace(/\s+/g, ' ');
}

test('an app at an address serves, and each of its requests was decided on before', async () => {
  const run = await ask({ url: everything.url }, ['--json']);
  assert.equal(run.code, 0);
  assert.deepEqual(fieldOf(run.events, 'answer.proposed', 'text'), ['It said: Echo: hello']);
  const { port } = new URL(everything.url);
  const requests = eventsOf(run.events, 'egress.proposed');
  for (const request of requests) {
    assert.deepEqual(
      [request.app, request.host, request.port, request.path],
      ['far', '127.0.0.1', Number(port), '/mcp'],
    );
  }
  // The handshake, its confirmation, the list of tools and the call; the stream of notifications is a GET.
  assert.equal(requests.filter(({ method }) => method === 'POST').length, 4);
  const verdicts = fieldOf(run.events, 'egress.decided', 'verdict');
  assert.equal(verdicts.length, requests.length);
  assert.ok(verdicts.every((verdict) => verdict === 'allow'));
  // The four, the tool's call and its output, three model calls (one is the planner's), and the answer.
  assert.ok(assertMediated(run.events) >= 10);
});

test('what a policy says of every request holds from the first one on: nothing leaves the machine', async (t) => {
  if (isLeftOut(t)) return;
  const asked: string[] = [];
  const server = await listen((request, response) => {
    asked.push(String(request.url));
    response.writeHead(404).end();
  });
  try {
    place.write('quiet.gr', 'raise "no egress" if:\n    (e: Egress)\n');
    const url = `http://127.0.0.1:${server.port}/mcp`;
    const run = await ask({ url }, ['--policy', 'quiet.gr']);
    assert.equal(run.code, 1);
    assert.ok(
      plain(run.stderr).endsWith(
        `refused: the request of \`far\` to \`127.0.0.1:${server.port}\` was refused: no egress `,
      ),
      run.stderr,
    );
    assert.deepEqual(asked, []);
    // The twin: without the policy the request is made.
    const open = await ask({ url });
    assert.equal(open.code, 2);
    assert.notDeepEqual(asked, []);
  } finally {
    await server.close();
  }
});

test('a policy can let an app start and stop what leaves with a call', async (t) => {
  if (isLeftOut(t)) return;
  place.write('late.gr', 'raise "nothing leaves with a call" if:\n    (c: ToolCall) -> (e: Egress)\n');
  const run = await ask({ url: everything.url }, ['--policy', 'late.gr', '--json']);
  assert.equal(run.code, 1);
  assert.deepEqual(fieldOf(run.events, 'query.ended', 'outcome'), ['refused']);
  assert.equal(eventsOf(run.events, 'tool-call.executed').length, 0);
  assert.equal(fieldOf(run.events, 'egress.decided', 'verdict').at(-1), 'deny');
  assertMediated(run.events);
});

test('a policy can have the user asked, who says yes or no', async (t) => {
  if (isLeftOut(t)) return;
  place.write('asking.gr', 'ask "the app connects" if:\n    (e: Egress)\n');
  const policy = ['--policy', 'asking.gr', '--json'];
  const refused = await ask({ url: everything.url }, [...policy, '--deny-all']);
  assert.equal(refused.code, 1);
  assert.equal(eventsOf(refused.events, 'egress.executed').length, 0);
  const allowed = await ask({ url: everything.url }, policy);
  assert.equal(allowed.code, 0);
  assert.deepEqual(new Set(fieldOf(allowed.events, 'egress.decided', 'permission')), new Set(['user']));
});

for (const status of [302, 307, 308]) {
  test(`a redirect to another host is not followed, and takes no header along: ${status}`, async (t) => {
    if (isLeftOut(t)) return;
    const elsewhere: IncomingMessage[] = [];
    const other = await listen((request, response) => {
      elsewhere.push(request);
      response.end('{}');
    });
    const server = await listen((_, response) => {
      response.writeHead(status, { location: `http://localhost:${other.port}/mcp?take=\`it\`` }).end();
    });
    try {
      const url = `http://127.0.0.1:${server.port}/mcp`;
      const app = { url, headers: { Authorization: 'Bearer ${env:FAR_TOKEN}' } };
      const run = await ask(app, [], { FAR_TOKEN: 'far-t0ken-5ecret' });
      assert.equal(run.code, 2);
      assert.equal(elsewhere.length, 0);
      const told = plain(run.stderr);
      assert.ok(
        told.includes(
          `failed: \`far\` redirects to another address, \`localhost:${other.port}\`, which Cordon does not follow help: if you trust that address, write it as the \`url\` of the app`,
        ),
        told,
      );
      assert.ok(!run.stderr.includes('far-t0ken-5ecret'));
    } finally {
      await server.close();
      await other.close();
    }
  });
}

test('a redirect on the same host is reported in full, and not followed either', async (t) => {
  if (isLeftOut(t)) return;
  const paths: (string | undefined)[] = [];
  const server = await listen((request, response) => {
    paths.push(request.url);
    response.writeHead(307, { location: '/mcp/' }).end();
  });
  try {
    const run = await ask({ url: `http://127.0.0.1:${server.port}/mcp` });
    assert.equal(run.code, 2);
    assert.ok(
      plain(run.stderr).includes(
        `failed: \`far\` redirects to another address, \`127.0.0.1:${server.port}/mcp/\`, which Cordon does not follow`,
      ),
      run.stderr,
    );
    assert.deepEqual(paths, ['/mcp']);
  } finally {
    await server.close();
  }
});

test('the headers of the configuration are sent, the key of the model provider is not', async () => {
  const seen: IncomingMessage['headers'][] = [];
  const server = await listen((request, response) => {
    seen.push(request.headers);
    response.writeHead(401).end('who are you?');
  });
  try {
    const url = `http://127.0.0.1:${server.port}/mcp`;
    const app = { url, headers: { Authorization: 'Bearer ${env:FAR_TOKEN}' } };
    const run = await ask(app, [], { FAR_TOKEN: 'far-t0ken-5ecret' });
    assert.equal(run.code, 2);
    assert.ok(
      plain(run.stderr).endsWith(
        `failed: \`far\` answered 401 at \`127.0.0.1:${server.port}\` help: add the credentials it needs to \`headers\`, for example \`"Authorization": "Bearer \${env:NAME}"\` `,
      ),
      run.stderr,
    );
    assert.equal(seen[0]?.authorization, 'Bearer far-t0ken-5ecret');
    assert.ok(!JSON.stringify(seen).includes(KEY));
    assert.ok(!run.stderr.includes('far-t0ken-5ecret'));
  } finally {
    await server.close();
  }
});

test('a server that is down, one that says nothing and one that is no MCP server are told apart', async (t) => {
  if (isLeftOut(t)) return;
  const port = await freePort();
  const down = await ask({ url: `http://127.0.0.1:${port}/mcp` });
  assert.equal(down.code, 2);
  assert.ok(
    plain(down.stderr).endsWith(
      `failed: \`far\` cannot be reached at \`127.0.0.1:${port}\`: ECONNREFUSED help: check its \`url\`, the network, and that the server is running `,
    ),
    down.stderr,
  );

  const silent = await listen(() => undefined);
  const page = await listen((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Welcome</h1>');
  });
  try {
    const limits = { manifest: { limits: { startSeconds: 1 } } };
    const late = await ask({ url: `http://127.0.0.1:${silent.port}/mcp`, ...limits });
    assert.equal(late.code, 2);
    assert.match(
      plain(late.stderr),
      /failed: `far` did not answer within 1 s of its start help: check that its server is up, or raise/,
    );
    const wrong = await ask({ url: `http://127.0.0.1:${page.port}/mcp` });
    assert.equal(wrong.code, 2);
    assert.match(plain(wrong.stderr), /failed: `far` could not be started: .*text\/html/);
  } finally {
    await silent.close();
    await page.close();
  }
});

test('when its server ends between two queries, one query fails and the next that finds it serves', async (t) => {
  if (isLeftOut(t)) return;
  const fake = await startFakeOpenAi({ script: ECHOES });
  const port = await freePort();
  const start = async () => {
    const server = spawn(process.execPath, [EVERYTHING, 'streamableHttp'], {
      env: { PATH: process.env.PATH ?? '', PORT: String(port) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await once(server.stderr, 'data');
    return server;
  };
  let server = await start();
  try {
    place.write('cordon.json', { apps: { far: { url: `http://127.0.0.1:${port}/mcp` } } });
    const args = ['chat', '--model', 'openai/x', '--base-url', fake.baseUrl, '--allow-rest', '--deny-warned'];
    let stage = 0;
    let told = '';
    const run = await place.cordon([...args, '--json'], {
      input: 'Say hello.\n',
      onOutput: async (text, child) => {
        told += text;
        const ended = told.match(/"kind":"query\.ended"/g)?.length ?? 0;
        if (ended <= stage) return;
        stage = ended;
        if (stage === 1) {
          server.kill('SIGKILL');
          await once(server, 'exit');
        }
        if (stage === 2) server = await start();
        child.stdin?.write(stage === 3 ? '/exit\n' : 'Say hello.\n');
        if (stage === 3) child.stdin?.end();
      },
    });
    assert.equal(run.code, 0);
    assert.deepEqual(fieldOf(run.events, 'query.ended', 'outcome'), ['answered', 'failed', 'answered']);
    assert.match(
      String(fieldOf(run.events, 'query.ended', 'reason')[1]),
      /cannot be reached at .*ECONNREFUSED/,
    );
    assertMediated(run.events);
  } finally {
    server.kill('SIGKILL');
    await fake.close();
  }
});

test('without isolation the requests of such an app are decided on all the same, by an empty policy', async (t) => {
  if (isLeftOut(t)) return;
  place.write('quiet.gr', 'raise "no egress" if:\n    (e: Egress)\n');
  const more = ['--isolation', 'none', '--policy', 'quiet.gr', '--json'];
  const run = await ask({ url: everything.url }, more);
  assert.equal(run.code, 0);
  assert.deepEqual(fieldOf(run.events, 'answer.proposed', 'text'), ['It said: Echo: hello']);
  assertMediated(run.events);
});
