/**
 * `cordon init` for apps that nobody has reviewed: after a yes it starts each of them once, lists its tools, and proposes labels on
 * one screen. Nothing of an app runs before the yes, and listing its tools agrees to nothing.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { text as whole } from 'node:stream/consumers';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { isLeftOut } from '../../tools/cases.ts';
import { type Conversation, descendantsOf, Home, REPOSITORY } from '../harness/cordon.ts';

const MEMORY = join(REPOSITORY, 'node_modules/@modelcontextprotocol/server-memory/dist/index.js');

/** The memory app, and one that does not start. */
function project(home: Home): string {
  home.write('.mcp.json', {
    mcpServers: {
      memory: { command: 'node', args: [MEMORY] },
      broken: { command: 'node', args: ['-e', 'process.exit(3)'] },
    },
  });
  return join(home.root, 'work/cordon.json');
}

async function answer(init: Conversation, shown: string, line: string): Promise<void> {
  await init.shown(shown);
  await init.answer(line);
}

const WRITES = '[y] write cordon.json  [n] no';
const LABELS = '[y] add these labels  [n] no';
const LISTS = '[y] list the tools of 2 apps  [n] no';

// Attack: a configuration that a stranger left in the folder starts its program as soon as somebody looks at it.
test('nothing runs before the yes that says so; after it, labels of what was listed are one more yes', async () => {
  using home = new Home();
  const config = project(home);
  const looks = home.start(['init'], { terminal: true });
  await looks.shown('After your yes Cordon lists the tools of each app');
  await answer(looks, WRITES, 'n');
  assert.equal((await looks.end()).code, 1);
  assert.equal(existsSync(join(home.data, 'cordon.db')), false, 'no session began');

  const init = home.start(['init'], { terminal: true });
  await answer(init, WRITES, 'y');
  await answer(init, LABELS, 'y');
  const { code, stdout } = await init.end();
  assert.equal(code, 0, stdout);
  const screen = stripVTControlCharacters(stdout).replace(/\s+/g, ' ');
  assert.match(
    screen,
    /\+ looser: can be undone, because it only adds what `delete_entities` removes: create_entities/,
  );
  assert.match(screen, /broken: no labels are proposed: .*exit code 3/);
  const text = readFileSync(config, 'utf8');
  assert.match(text, /"memory\/create_entities": \{ "irreversible": false, "outward": false \}/);
  assert.match(text, /"memory\/delete_entities": \{ "irreversible": true \}/);
  const apps = (await home.run(['apps'])).stdout.replace(/\s+/g, ' ');
  assert.match(apps, /memory .*asks before.* review: never reviewed/);
  assert.doesNotMatch(apps, /the configuration was not agreed to/);
});

test('without a yes to the labels none are written; a later `cordon init` asks whether to list the tools again', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const config = project(home);
  const init = home.start(['init'], { terminal: true });
  await answer(init, WRITES, 'y');
  await answer(init, LABELS, 'n');
  const { code, stdout } = await init.end();
  assert.equal(code, 0, stdout);
  assert.match(stdout, /no labels were added/);
  assert.doesNotMatch(readFileSync(config, 'utf8'), /"labels"/);

  const refused = home.start(['init'], { terminal: true });
  await answer(refused, LISTS, 'n');
  const without = await refused.end();
  assert.equal(without.code, 0);
  assert.doesNotMatch(without.stdout, /starting it once/);
  assert.match(without.stdout, /memory: was not reviewed yet/);

  const again = home.start(['init'], { terminal: true });
  await answer(again, LISTS, 'y');
  await answer(again, LABELS, 'y');
  assert.equal((await again.end()).code, 0);
  assert.match(
    readFileSync(config, 'utf8'),
    /"memory\/read_graph": \{ "readOnly": true, "outward": false \}/,
  );
});

test('the first review of an app says once where labels come from, and none where it has some', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const memory = { command: 'node', args: [MEMORY] };
  const labels = { tools: { 'labelled/read_graph': { readOnly: true } } };
  home.write('cordon.json', { apps: { memory, labelled: memory }, labels });
  const review = home.start(['apps', 'review', '--config', 'cordon.json'], { terminal: true, reviews: true });
  await review.shown('Agree to this?');
  await review.answer('y');
  await review.shown('memory: agreed to');
  await review.shown('Agree to this?', 2);
  await review.answer('y');
  const { stdout, code } = await review.end();
  assert.equal(code, 0, stdout);
  assert.equal(stdout.split('`cordon init` proposes').length, 2, stdout);
  assert.match(stdout, /memory: has no labels/);
});

const ONLOOKER = join(REPOSITORY, 'e2e/apps/onlooker.mjs');

/** An app that says what it sees of the user and of a server on this machine, and one that does not start. */
function watched(
  home: Home,
  port: number,
): { readonly config: string; readonly env: Record<string, string> } {
  const folder = dirname(home.write('notes/today.txt', 'milk'));
  const where = Buffer.from(JSON.stringify({ folder, port })).toString('base64url');
  const env = { TRACKER_TOKEN: 'tr-5ecret', LOOKS_AT: where };
  const onlooker = { command: 'node', args: [ONLOOKER, './notes'], env };
  const broken = { command: 'node', args: ['-e', 'process.exit(3)'] };
  home.write('.mcp.json', { mcpServers: { onlooker, broken } });
  return { config: join(home.root, 'work/cordon.json'), env };
}

/** The tools that the onlooker lists where nothing confines it. */
function toolsOutside(env: Record<string, string>): Promise<string> {
  const child = spawn(process.execPath, [ONLOOKER], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })}\n`);
  return whole(child.stdout);
}

// Attack: a program that is only looked at reads the folder and the secret that the screen proposes for it, or asks a server.
test('[l] lists the tools of apps that are given nothing; then rights and labels are one screen with one yes', async () => {
  using home = new Home();
  await using machine = await silentServer();
  const { config, env } = watched(home, machine.port);
  const init = home.start(['init'], { terminal: true });
  await answer(init, `${WRITES} (default)  [l] list`, 'l');
  await init.shown(WRITES, 2);
  assert.equal(existsSync(config), false, 'nothing is written before the yes');
  assert.equal(machine.isAsked(), false);
  // Attack: a host is added to an app whose tools were labelled as staying here because it had none.
  await init.answer('1 +host example.com');
  await init.shown(WRITES, 3);
  await init.answer('1 c');
  await init.shown(WRITES, 4);
  await init.answer('1 reset');
  await init.shown(WRITES, 5);
  await init.answer('y');
  const { code, stdout } = await init.end();
  assert.equal(code, 0, stdout);
  const screen = stripVTControlCharacters(stdout).replace(/\s+/g, ' ');
  const [, , withHost, without, again] = screen.split('2 apps from Claude Code').slice(1);
  assert.match(withHost ?? '', /less is asked: readOnly/);
  assert.doesNotMatch(withHost ?? '', /no network/);
  assert.doesNotMatch(without ?? '', /less is asked/);
  assert.match(again ?? '', /not outward, because the app has no network \(get_nothing\)/);
  assert.match(screen, /b \+ less is asked: readOnly, because its name begins with `get` \(get_nothing\)/);
  assert.match(
    screen,
    /broken: did not start without its rights, so its tools are listed after your yes: .*exit code 3/,
  );
  assert.match(screen, /broken: no labels are proposed: .*exit code 3/);
  assert.doesNotMatch(screen, /get_file|get_secret|get_server|add these labels|onlooker: starting it once/);
  assert.match(
    readFileSync(config, 'utf8'),
    /"onlooker\/get_nothing": \{ "readOnly": true, "outward": false \}/,
  );
  assert.match(await toolsOutside(env), /get_file_and_secret_and_server/);
});

/** Listed while it is only looked at, under a name that says which program it is. */
function server(home: Home, path: string, tool: string): string {
  const lines = readFileSync(join(REPOSITORY, 'e2e/apps/lines.mjs'), 'utf8').replaceAll('export ', '');
  return home.write(path, `${lines}\nspeak({ ${tool}: () => 'that' });`);
}

// Attack: a stranger's folder holds a program of the name that the user's own app has in another folder.
test('[l] is not for an app with a folder of its own: it is listed after the yes', async () => {
  using home = new Home();
  server(home, 'server.mjs', 'get_planted');
  const cwd = dirname(server(home, '../mail/server.mjs', 'get_mail'));
  const own = server(home, 'own.mjs', 'get_own');
  const mail = { command: 'node', args: ['server.mjs'], cwd };
  home.write('../home/.cursor/mcp.json', { mcpServers: { mail } });
  const alone = home.start(['init'], { terminal: true });
  await answer(alone, WRITES, 'n');
  assert.doesNotMatch((await alone.end()).stdout, /\[l\]/);
  assert.equal(existsSync(join(home.data, 'cordon.db')), false, 'no session began');

  home.write('.mcp.json', { mcpServers: { own: { command: 'node', args: [own] } } });
  const init = home.start(['init'], { terminal: true });
  await answer(init, `${WRITES} (default)  [l] list`, 'l');
  await answer(init, WRITES, 'y');
  await answer(init, LABELS, 'y');
  const { code, stdout } = await init.end();
  assert.equal(code, 0, stdout);
  const screen = stripVTControlCharacters(stdout).replace(/\s+/g, ' ');
  assert.match(
    screen,
    /mail: its tools are listed after your yes: it has a `cwd` or a placeholder in its command/,
  );
  assert.match(screen, /readOnly, because its name begins with `get` \(get_own\)/);
  assert.doesNotMatch(screen, /get_planted/);
  const text = readFileSync(join(home.root, 'work/cordon.json'), 'utf8');
  assert.match(text, /"mail\/get_mail": \{ "readOnly": true/);
});

// Attack: the package of the user's own app cannot be fetched, and a stranger's folder holds one of its name.
test('[l] starts no package that lies in the folder in place of one that was not fetched', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  home.write('../home/.npmrc', 'registry=http://127.0.0.1:9/\n');
  server(home, 'node_modules/mail-app/server.mjs', 'get_planted');
  home.write('node_modules/mail-app/package.json', { name: 'mail-app', version: '1.0.0', bin: 'server.mjs' });
  const own = { command: 'node', args: [server(home, 'own.mjs', 'get_own')] };
  home.write('.mcp.json', { mcpServers: { mail: { command: 'npx', args: ['-y', 'mail-app'] }, own } });
  const init = home.start(['init'], { terminal: true });
  const writes = WRITES.replace('json', 'json, fetch 1 package');
  await answer(init, `${writes} (default)  [l] list`, 'l');
  await init.shown(writes, 2);
  await init.answer('n');
  const { stdout } = await init.end();
  const screen = stripVTControlCharacters(stdout).replace(/\s+/g, ' ');
  assert.match(screen, /mail: its package was not fetched, so its tools are listed after your yes/);
  assert.match(screen, /\(get_own\)/);
  assert.doesNotMatch(screen, /get_planted/);
});

/** An app that never answers, and one that says its tools at once. */
function slow(home: Home, first: object): void {
  const own = { command: 'node', args: [server(home, 'own.mjs', 'get_own')] };
  home.write('.mcp.json', { mcpServers: { first, own } });
}

const CTRL_C = '\x03';

// Attack: the user sees what is about to run, stops it, and it runs all the same.
test('Ctrl-C during [l] ends the app that starts, and starts no other', async () => {
  using home = new Home();
  slow(home, { command: 'node', args: ['-e', 'setInterval(() => {}, 1000)'] });
  const init = home.start(['init'], { terminal: true });
  await answer(init, `${WRITES} (default)  [l] list`, 'l');
  await init.shown('first: starting it with nothing of yours');
  const isRunning = () =>
    descendantsOf(init.pid).some(({ commandLine }) => commandLine.includes('setInterval'));
  await init.until(isRunning, 'the app');
  init.type(CTRL_C);
  await init.shown('stopped: no further app is started');
  await init.shown(WRITES, 2);
  assert.equal(isRunning(), false);
  init.type(CTRL_C);
  const { code, stdout } = await init.end();
  assert.equal(code, 1, stdout);
  assert.doesNotMatch(stdout, /own: starting it|get_own/);
  assert.equal(existsSync(join(home.root, 'work/cordon.json')), false);
  assert.equal(existsSync(join(home.data, 'cordon.db')), true, 'the journal says what was started');
});

test('Ctrl-C while [l] fetches a package starts no app', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  await using registry = await silentServer();
  home.write('../home/.npmrc', `registry=http://127.0.0.1:${registry.port}/\n`);
  slow(home, { command: 'npx', args: ['-y', 'slow-app'] });
  const init = home.start(['init'], { terminal: true });
  await answer(init, `${WRITES.replace('json', 'json, fetch 1 package')} (default)  [l] list`, 'l');
  await init.until(registry.isAsked, 'a request for the package');
  init.type(CTRL_C);
  await init.shown(WRITES.replace('json', 'json, fetch 1 package'), 2);
  init.type(CTRL_C);
  const { code, stdout } = await init.end();
  assert.equal(code, 1, stdout);
  assert.match(stdout, /the installation was stopped/);
  assert.doesNotMatch(stdout, /starting it with nothing|get_own/);
});

/** Takes connections, and never says anything. */
async function silentServer() {
  const sockets: Socket[] = [];
  const listener = createServer((socket) => sockets.push(socket.on('error', () => undefined)));
  await once(listener.listen(0, '127.0.0.1'), 'listening');
  const address = listener.address();
  return {
    port: typeof address === 'object' ? (address?.port ?? 0) : 0,
    isAsked: () => sockets.length > 0,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await once(listener.close(), 'close');
    },
  };
}
