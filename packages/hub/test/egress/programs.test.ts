/**
 * Programs that know nothing of Cordon, in the real sandbox, against real servers: each reaches the names and ports of its manifest and
 * nothing else. Names lead to servers on loopback here; whatever else the way out does is the real thing.
 */
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { DEFAULT_APP_LIMITS, type EventBody, failed, ok } from '@cordon/core';
import { HERE } from '@cordon/dialler';
import { isPublicAddress } from '@cordon/egress';
import { emptyPolicy, loadPolicy } from '@cordon/policy';
import { type AppCommand, type ConfinedProcess, commandSpec, openSandbox } from '@cordon/sandbox';
import { CERTIFICATE } from '@cordon/testkit/certificate.ts';
import {
  isLacking,
  postgresProgram,
  startMail,
  startPostgres,
  startRedis,
  startSsh,
} from '@cordon/testkit/debian-servers.ts';
import { EMAIL_ACCOUNT, EMAIL_COMMAND, LIST_MAILS, NEWEST_MAIL, REPLY } from '@cordon/testkit/email-app.ts';
import { app } from '@cordon/testkit/hub/app.ts';
import { lentSelfTest } from '@cordon/testkit/lent-results.ts';
import { openStore } from '@cordon/trace';
import { isLeftOut } from '../../../../tools/cases.ts';
import { openStandaloneNetwork } from '../../src/standalone-app.ts';

const ROOT = join(import.meta.dirname, '../../../..');
/** The certificate of the tests is for this name. */
const NAME = 'api.good.com';

const sandbox = openSandbox({ node: process.execPath, cacheFile: lentSelfTest() });

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

interface Foreign {
  /** For files that programs read. */
  readonly folder: string;
  readonly start: (command: Partial<AppCommand>) => Promise<ConfinedProcess>;
  readonly run: (command: Partial<AppCommand>) => Promise<Ran>;
  readonly events: () => readonly EventBody[];
  /** Ends the way out, as the end of a session does. */
  readonly close: () => Promise<void>;
  /** What the user is told. */
  readonly denied: readonly string[];
}

interface Surroundings {
  readonly network: readonly string[];
  /** Where the port of a name leads to on this machine. */
  readonly real?: ReadonlyMap<number, number>;
  readonly policy?: string;
  /** To which every name leads. */
  readonly address?: string;
}

/** Programs of an app that nobody is asked about: its manifest and the policy decide. */
async function foreign(
  context: TestContext,
  { network, real = new Map(), policy = '', address: everywhere = '93.184.215.14' }: Surroundings,
): Promise<Foreign> {
  const folder = mkdtempSync(join(tmpdir(), 'cordon-programs-'));
  chmodSync(folder, 0o755);
  const store = openStore(join(folder, 'data'), Date.now);
  assert.ok(store.ok);
  const { journal, sessions, close } = store.value;
  const session = sessions.create();
  const denied: string[] = [];
  const rules = policy === '' ? ok(emptyPolicy()) : loadPolicy(policy);
  assert.ok(rules.ok);
  const ways = await openStandaloneNetwork({
    app: app('foreign', {}, { network }).installed,
    policy: rules.value,
    journal: journal.of(session),
    clock: Date.now,
    onDenied: (host, reason) => denied.push(`${host}: ${reason}`),
    dialler: {
      ...HERE,
      lookup: async () => [everywhere],
      dial: async (address, port) => {
        const at = real.get(port);
        if (address !== '93.184.215.14') return HERE.dial(address, port);
        return at === undefined ? failed({ code: null, message: 'nobody' }) : ok(connect(at, '127.0.0.1'));
      },
    },
  });
  context.after(async () => {
    await ways.close();
    close();
    rmSync(folder, { recursive: true, force: true });
  });
  const start = async (command: Partial<AppCommand>): Promise<ConfinedProcess> => {
    const spec = await commandSpec(
      {
        command: 'python3',
        args: [],
        env: {},
        cwd: null,
        files: { read: [], write: [] },
        stateFolder: null,
        limits: DEFAULT_APP_LIMITS,
        node: [],
        ...command,
      },
      { configFolder: ROOT, dataFolder: join(folder, 'data'), home: null },
    );
    assert.ok(spec.ok, spec.ok ? '' : spec.fault.message);
    const started = await ways.spawn(sandbox, spec.value, context.signal);
    assert.ok(started.ok, started.ok ? '' : started.fault.message);
    return started.value;
  };
  const run = async (command: Partial<AppCommand>): Promise<Ran> => {
    const { stdin, stdout, stderr, exited } = await start(command);
    stdin?.end();
    const said = { out: '', err: '' };
    stdout?.on('data', (text) => {
      said.out += text;
    });
    stderr?.on('data', (text) => {
      said.err += text;
    });
    return { code: (await exited).code, ...said };
  };
  return { folder, start, run, events: () => journal.events(session), close: ways.close, denied };
}

/** Calls tools one after the other over MCP, and returns what each said; then the server ends. */
async function toolsOf(
  { stdin, stdout, kill, exited }: ConfinedProcess,
  calls: readonly (readonly [string, object])[],
): Promise<readonly string[]> {
  const said: string[] = [];
  let [text, id] = ['', 0];
  const answered = () => {
    const lines = text.split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line)).find((message) => message.id === id);
  };
  const ask = async (method: string, params: object) => {
    stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    for (let answer = answered(); ; answer = answered()) {
      if (answer !== undefined) return answer.result?.content?.[0]?.text ?? JSON.stringify(answer);
      await new Promise((resolve) => stdout?.once('data', resolve));
    }
  };
  stdout?.on('data', (data) => {
    text += data;
  });
  const clientInfo = { name: 'test', version: '0' };
  await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  for (const [name, args] of calls) {
    id++;
    said.push(await ask('tools/call', { name, arguments: args }));
  }
  kill();
  await exited;
  return said;
}

const python = (code: string): Partial<AppCommand> => ({ command: 'python3', args: ['-c', code] });

/** What a server says first to whoever connects, or why nobody does. */
const GREETED = `
import socket
def greeted(host, port):
    try:
        with socket.create_connection((host, port), timeout=60) as client:
            return client.recv(300).decode('latin1').strip() or 'closed'
    except OSError as error:
        return type(error).__name__
`;

/** Mail over MCP, from npm and as it is. */
function mailApp(folder: string): Partial<AppCommand> {
  const certificate = join(folder, 'certificate.pem');
  writeFileSync(certificate, CERTIFICATE);
  return {
    ...EMAIL_COMMAND,
    files: { read: [certificate], write: [] },
    env: {
      ...EMAIL_ACCOUNT,
      MCP_EMAIL_IMAP_HOST: NAME,
      MCP_EMAIL_SMTP_HOST: NAME,
      NODE_EXTRA_CA_CERTS: certificate,
    },
  };
}

test('a mail app of others reads over IMAPS and sends over SMTPS', async (context) => {
  if (isLacking(context, 'mail')) return;
  const mail = await startMail(context);
  mail.deliver(NEWEST_MAIL);
  const real = new Map([
    [993, mail.imaps],
    [465, mail.smtps],
  ]);
  const app = await foreign(context, { network: [`${NAME}:993`, `${NAME}:465`], real });
  const [listed, sent] = await toolsOf(await app.start(mailApp(app.folder)), [
    ['list_emails', LIST_MAILS],
    ['send_email', REPLY],
  ]);
  assert.match(listed ?? '', /1 emails.*Friday\n {2}From: Ada .*blue heron/s);
  assert.match(sent ?? '', /sent successfully/);
  assert.equal(
    mail.inbox().filter((text) => /^Subject: Re: Friday\r?$.*^Friday works\./ms.test(text)).length,
    1,
  );
  const proposed = app.events().flatMap((event) => (event.kind === 'egress.proposed' ? [event] : []));
  assert.deepEqual(
    [...new Set(proposed.map(({ host, port, method, path }) => `${method} ${host}:${port} ${path}`))].sort(),
    [`CONNECT ${NAME}:465 null`, `CONNECT ${NAME}:993 null`],
  );
  assert.deepEqual(app.denied, []);
});

test('the same app without the port of SMTP reads and does not send, and the user learns what to add', async (context) => {
  if (isLacking(context, 'mail') || isLeftOut(context)) return;
  const mail = await startMail(context);
  mail.deliver(NEWEST_MAIL);
  const app = await foreign(context, { network: [`${NAME}:993`], real: new Map([[993, mail.imaps]]) });
  const [listed, sent] = await toolsOf(await app.start(mailApp(app.folder)), [
    ['list_emails', LIST_MAILS],
    ['send_email', REPLY],
  ]);
  assert.match(listed ?? '', /1 emails/);
  assert.match(sent ?? '', /Failed to send.*alert access denied/s);
  assert.deepEqual(app.denied, [
    `${NAME}: the app may not reach this host and port; add "${NAME}:465" to \`network\``,
  ]);
});

test('STARTTLS is negotiated with the server itself', async (context) => {
  if (isLacking(context, 'mail') || isLeftOut(context)) return;
  const mail = await startMail(context);
  mail.deliver(NEWEST_MAIL);
  const app = await foreign(context, { network: [`${NAME}:143`], real: new Map([[143, mail.imap]]) });
  const certificate = join(app.folder, 'certificate.pem');
  writeFileSync(certificate, CERTIFICATE);
  const code = `import imaplib, ssl
client = imaplib.IMAP4('${NAME}')
client.starttls(ssl.create_default_context(cafile='${certificate}'))
client.login('me', 'secret')
client.select('INBOX', readonly=True)
print(client.sock.version(), client.fetch('1', '(BODY[TEXT])')[1][0][1].decode().strip())`;
  const ran = await app.run({ ...python(code), files: { read: [certificate], write: [] } });
  assert.deepEqual(ran, { code: 0, out: 'TLSv1.3 Shall we meet on Friday at the blue heron?\n', err: '' });
});

test('a database client reaches its server by name', async (context) => {
  if (isLacking(context, 'database') || isLeftOut(context)) return;
  const real = new Map([[5432, await startPostgres(context)]]);
  const app = await foreign(context, { network: [`${NAME}:5432`], real });
  const select = ['-U', 'me', 'postgres', '-Atc', 'select 6 * 7'];
  const psql = (host: string) =>
    app.run({ command: postgresProgram('psql') ?? '', args: ['-h', host, ...select] });
  assert.deepEqual(await psql(NAME), { code: 0, out: '42\n', err: '' });
  const elsewhere = await psql('db.elsewhere.org');
  assert.equal(elsewhere.code, 2);
  assert.match(elsewhere.err, /could not translate host name/);
  assert.deepEqual(app.denied, [
    'db.elsewhere.org: no entry of `network` in its manifest has this name; add the name with its port',
  ]);
});

test('SSH reaches a server by name, and runs a command there', async (context) => {
  if (isLacking(context, 'ssh') || isLeftOut(context)) return;
  const { port, user, keys } = await startSsh(context, NAME);
  const app = await foreign(context, { network: [`${NAME}:22`], real: new Map([[22, port]]) });
  const options = [
    '-i',
    `${keys}/key`,
    '-o',
    `UserKnownHostsFile=${keys}/known_hosts`,
    '-o',
    'BatchMode=yes',
  ];
  const args = [...options, `${user}@${NAME}`, 'echo hello from afar'];
  const ran = await app.run({ command: 'ssh', args, files: { read: [keys], write: [] } });
  assert.deepEqual(ran, { code: 0, out: 'hello from afar\n', err: '' });
});

/** A server of the machine, or of the hub, that greets everybody. */
async function greeter(context: TestContext, address = '127.0.0.1'): Promise<number> {
  const server = createServer((client) => client.on('error', () => undefined).end('welcome\r\n'));
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  context.after(() => server.close());
  const at = server.address();
  return typeof at === 'object' && at !== null ? at.port : 0;
}

test('a program reaches a service of this machine only where its address is listed, and no other way leads there', async (context) => {
  const [listed, other] = [await greeter(context), await greeter(context)];
  const app = await foreign(context, { network: [`127.0.0.1:${listed}`, `mail.org:${other}`] });
  const places = `('127.0.0.1', ${listed}), ('localhost', ${listed}), ('127.0.0.1', ${other}), ('127.0.0.2', ${listed}),
    ('127.64.0.1', ${listed}), ('10.0.0.1', ${listed}), ('169.254.169.254', 80), ('elsewhere.org', ${listed})`;
  const ran = await app.run(
    python(`${GREETED}\nfor place in [${places}]: print(greeted(*place).splitlines()[0])`),
  );
  const [yes, alsoYes, ...refused] = ran.out.trim().split('\n');
  assert.deepEqual([yes, alsoYes], ['welcome', 'welcome']);
  const lacks = (entry: string) =>
    `cordon: the app may not reach this host and port; \`network\` in its manifest lacks "${entry}"`;
  assert.deepEqual(refused, [
    lacks(`127.0.0.1:${other}`),
    lacks(`127.0.0.2:${listed}`),
    'cordon: the address stands for no name',
    lacks(`10.0.0.1:${listed}`),
    'HTTP/1.1 403 Forbidden',
    'gaierror',
  ]);
});

/** An address of this machine at its network, as a server of the user's network has one. */
const OUTER = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

test('a program reaches a server of the network by its address where the manifest lists that, decided like every other', async (context) => {
  if (OUTER === undefined) return context.skip('this machine has no network');
  const port = await greeter(context, OUTER);
  const code = python(`${GREETED}\nprint(greeted('${OUTER}', ${port}).splitlines()[0])`);
  const listed = await foreign(context, { network: [`${OUTER}:${port}`] });
  assert.equal((await listed.run(code)).out, 'welcome\n');
  const proposed = listed.events().flatMap((event) => (event.kind === 'egress.proposed' ? [event] : []));
  assert.deepEqual(
    proposed.map(({ host, port, method }) => `${method} ${host}:${port}`),
    [`CONNECT ${OUTER}:${port}`],
  );
  const policy = `rule no-way:\nraise "no way" if:\n    (request: Egress)\n    request.host == "${OUTER}"\n`;
  const forbidden = await foreign(context, { network: [`${OUTER}:${port}`], policy });
  assert.equal((await forbidden.run(code)).out, 'cordon: the request was denied\n');
  // Attack: the port is granted for a name, and the app uses it to look around in the network.
  const other = await foreign(context, { network: [`mail.org:${port}`] });
  assert.equal(
    (await other.run(code)).out,
    `cordon: the app may not reach this host and port; \`network\` in its manifest lacks "${OUTER}:${port}"\n`,
  );
  assert.deepEqual(other.denied, [
    `${OUTER}: the app may not reach this host and port; add "${OUTER}:${port}" to \`network\``,
  ]);
});

test('a program reaches a server of the network by the name that lists its address, and by no other name', async (context) => {
  if (OUTER === undefined || isPublicAddress(OUTER))
    return context.skip('this machine has no private network');
  const port = await greeter(context, OUTER);
  const network = [`db.corp.example:${port}@${OUTER}`, `evil.org:${port}`];
  const app = await foreign(context, { network, address: OUTER });
  // Attack: a site of the attacker that was granted leads to the same server.
  const names = ['db.corp.example', 'evil.org'].map((name) => `print(greeted('${name}', ${port}))`);
  const ran = await app.run(python([GREETED, ...names].join('\n')));
  const reason = 'the name leads to an address that is not public';
  assert.deepEqual(ran, { code: 0, out: `welcome\ncordon: ${reason}\n`, err: '' });
  const caution =
    ', but only if the server is yours: the name leads into your own network, perhaps to this machine';
  const added = `add "=evil.org:${port}@${OUTER}" to \`network\`${caution}`;
  assert.deepEqual(app.denied, [`evil.org: ${reason}; ${added}`]);
});

test('a Redis client reaches its server by name, and at its address in the network', async (context) => {
  if (isLacking(context, 'redis') || isLeftOut(context)) return;
  const address = OUTER ?? '127.0.0.1';
  const local = await startRedis(context, '127.0.0.1');
  const outer = await startRedis(context, address);
  const app = await foreign(context, {
    network: [`${NAME}:6379`, `${address}:${outer}`],
    real: new Map([[6379, local]]),
  });
  const redis = (...args: readonly string[]) => app.run({ command: 'redis-cli', args });
  assert.equal((await redis('-h', NAME, 'set', 'bird', 'blue heron')).out, 'OK\n');
  assert.equal((await redis('-h', NAME, 'get', 'bird')).out, 'blue heron\n');
  assert.equal((await redis('-h', address, '-p', String(outer), 'ping')).out, 'PONG\n');
  // Subscribed, the server speaks whenever it likes.
  const heard = await app.start({ command: 'redis-cli', args: ['-h', NAME, 'subscribe', 'birds'] });
  let text = '';
  const said = Promise.withResolvers<void>();
  heard.stdout?.on('data', (data) => {
    text += data;
    if (text.includes('subscribe\nbirds\n1\n') && !text.includes('message'))
      void redis('-h', NAME, 'publish', 'birds', 'wren');
    if (text.includes('message\nbirds\nwren\n')) said.resolve();
  });
  await said.promise;
  heard.kill();
  await heard.exited;
  const unlisted = await redis('-h', '10.0.0.5', 'ping');
  assert.match(unlisted.err + unlisted.out, /lacks "10\.0\.0\.5:6379"/);
  assert.deepEqual(app.denied, [
    '10.0.0.5: the app may not reach this host and port; add "10.0.0.5:6379" to `network`',
  ]);
});

test('a port at which nobody listens is refused, and the user learns what to add; of UDP that nothing leaves', async (context) => {
  const app = await foreign(context, { network: ['mail.org:993'] });
  const places = "('mail.org', 4321), ('127.0.0.1', 4322), ('10.0.0.5', 6379), ('mail.org', 3128)";
  const code = `${GREETED}
for place in [${places}]: print(greeted(*place))
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.connect(('192.0.2.7', 123))
sender.send(b'x')
try: sender.recv(1)
except OSError as error: print(type(error).__name__)`;
  const ran = await app.run(python(code));
  assert.equal(ran.out, 'ConnectionRefusedError\n'.repeat(5));
  const lacks = (entry: string) => `the app may not reach this host and port; add "${entry}" to \`network\``;
  assert.deepEqual(app.denied, [
    `mail.org: ${lacks('=mail.org:4321')}`,
    '127.0.0.1: no program in its sandbox listens there, nor may it reach this machine; add "127.0.0.1:4322" to `network`',
    `10.0.0.5: ${lacks('10.0.0.5:6379')}`,
    `mail.org: ${lacks('=mail.org:3128')}`,
    '192.0.2.7: it sent a datagram (UDP); only TCP leaves the sandbox',
  ]);
  const refused = app.events().flatMap((event) => (event.kind === 'egress.refused' ? [event] : []));
  assert.deepEqual(
    refused.map(({ host, port }) => `${host}:${port}`),
    ['mail.org:4321', '127.0.0.1:4322', '10.0.0.5:6379', 'mail.org:3128', '192.0.2.7:123'],
  );
});

test('the first datagram to a port of the hub is lost, reported without its address, and the next is refused', async (context) => {
  const app = await foreign(context, { network: ['mail.org:993'] });
  const code = `import socket
def sent(port):
  sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
  sender.settimeout(2)
  sender.connect(('192.0.2.7', port))
  sender.send(b'x')
  try: sender.recv(1)
  except OSError as error: return type(error).__name__
print(sent(993), sent(993), sent(465), sent(465))`;
  const ran = await app.run(python(code));
  assert.equal(ran.out, 'TimeoutError ConnectionRefusedError TimeoutError ConnectionRefusedError\n');
  const refused = app.events().flatMap((event) => (event.kind === 'egress.refused' ? [event] : []));
  // Two listeners report, in no order.
  assert.deepEqual(refused.map(({ host, port }) => `${host}:${port}`).sort(), [
    '192.0.2.7:465',
    '192.0.2.7:993',
    'mail.org:993',
    'null:465',
  ]);
});

test('what one app was given leads another nowhere', async (context) => {
  const port = await greeter(context);
  const real = new Map([[4321, port]]);
  const [one, two] = [
    await foreign(context, { network: ['one.org:4321'], real }),
    await foreign(context, { network: ['two.org:4321'], real }),
  ];
  const waits = await one.start(
    python(
      `${GREETED}\nprint(socket.gethostbyname('one.org'), greeted('one.org', 4321), flush=True)\ninput()`,
    ),
  );
  const said = await new Promise((resolve) => waits.stdout?.once('data', (data) => resolve(String(data))));
  assert.equal(said, '127.64.0.1 welcome\n');
  // Attack: the address that stands for a name in the sandbox of another app, and the name itself.
  const ran = await two.run(
    python(`${GREETED}\nprint(greeted('127.64.0.1', 4321), greeted('one.org', 4321))`),
  );
  assert.equal(ran.out, 'cordon: the address stands for no name gaierror\n');
  waits.kill();
  await waits.exited;
});

test('a policy forbids a connection that the manifest allows, and the program reads that', async (context) => {
  const real = new Map([[25, await greeter(context)]]);
  const policy = 'rule no-mail:\nraise "no mail leaves" if:\n    (request: Egress)\n    request.port == 25\n';
  const code = python(`${GREETED}\nprint(greeted('mail.org', 25))`);
  const forbidden = await foreign(context, { network: ['mail.org:25'], real, policy });
  assert.equal((await forbidden.run(code)).out, '554 cordon: the request was denied\n');
  const allowed = await foreign(context, { network: ['mail.org:25'], real });
  assert.equal((await allowed.run(code)).out, 'welcome\n');
});

test('when the hub closes the way out, a program gets an error and cannot connect any more', async (context) => {
  const server = createServer((client) => void client.on('error', () => undefined).write('welcome\r\n'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => server.close());
  const address = server.address();
  const real = new Map([[4321, typeof address === 'object' && address !== null ? address.port : 0]]);
  const app = await foreign(context, { network: ['one.org:4321'], real });
  const code = `${GREETED}
client = socket.create_connection(('one.org', 4321))
print(client.recv(100), flush=True)
print(client.recv(100), greeted('127.64.0.1', 4321), greeted('one.org', 4321), flush=True)`;
  const waits = await app.start(python(code));
  const lines: string[] = [];
  waits.stdout?.on('data', (data) => lines.push(String(data).trim()));
  await new Promise((resolve) => waits.stdout?.once('data', resolve));
  await app.close();
  await waits.exited;
  assert.deepEqual(lines, ["b'welcome\\r\\n'", "b'' ConnectionRefusedError gaierror"]);
});
