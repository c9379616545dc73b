/**
 * `cordon init` in a folder without `cordon.json`: apps of other clients are shown on one screen, changed, and written after
 * one yes. What is written is in effect, and holds no secret.
 */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders as people write them
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isLeftOut } from '../../tools/cases.ts';
import { type Conversation, Home, ofKind, REPOSITORY } from '../harness/cordon.ts';

const MAIL = join(REPOSITORY, 'examples/apps/mail/app.ts');

/** A project with apps of Claude Code and VS Code, as a user of these has it. */
function project(home: Home): string {
  home.write('notes/today.txt', 'milk');
  const claude = {
    mcpServers: {
      files: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', './notes'] },
      tracker: {
        command: 'node',
        args: [MAIL],
        env: { TRACKER_TOKEN: 'tr-5ecret', API_URL: 'https://api.example.org' },
      },
      boxed: { command: 'docker', args: ['run', '-i', '--rm', 'mcp/memory'] },
    },
  };
  const code = {
    inputs: [{ type: 'promptString', id: 'key', description: 'Key of the search', password: true }],
    servers: { search: { command: 'node', args: [MAIL], env: { SEARCH_KEY: '${input:key}' } } },
  };
  home.write('.mcp.json', claude);
  home.write('.vscode/mcp.json', code);
  return join(home.root, 'work/cordon.json');
}

/** Answers what is shown for the `count`th time. */
async function answer(init: Conversation, shown: string, line: string, count = 1): Promise<void> {
  await init.shown(shown, count);
  await init.answer(line);
}

test('without a yes nothing is written; the screen says what each app would get, and why', async () => {
  using home = new Home();
  const config = project(home);
  const run = await home.run(['init']);
  assert.equal(run.code, 1);
  assert.equal(existsSync(config), false);
  assert.match(run.stdout, /\+ reads and writes \S+\/notes \(an argument names\s+it\)/);
  assert.match(run.stdout, /\+ connects to api\.example\.org \(API_URL names it\)/);
  assert.match(run.stdout, /the secret SEARCH_KEY \(you are asked for it\)/);
  assert.match(
    run.stdout,
    /boxed[\s\S]*left out: `docker` asks a service[\s\S]*npx -y\s+@modelcontextprotocol\/server-memory/,
  );
  assert.ok(run.stdout.split('\n').every((line) => line.length <= 80));
  assert.doesNotMatch(run.stdout, /5ecret/);
});

test('for a program it prints proposals, without the values of secrets and variables', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  project(home);
  const run = await home.run(['init', '--json']);
  const proposed = ofKind(run.events, 'app.proposed') as unknown as {
    id: string;
    secrets: { asked: boolean }[];
  }[];
  assert.deepEqual(
    proposed.map(({ id, secrets }) => [id, secrets.map(({ asked }) => asked)]),
    [
      ['files', []],
      ['tracker', [false]],
      ['boxed', []],
      ['search', [true]],
    ],
  );
  assert.doesNotMatch(run.stdout, /5ecret|api\.example\.org\//);
});

test('a person changes the screen, types a secret once, and the file is in effect and holds none', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const config = project(home);
  const init = home.start(['init'], { terminal: true });
  await answer(init, '[y] write cordon.json, fetch 1 package  [n] no', '1');
  await answer(init, '[y] write cordon.json  [n] no', '2 a');
  await answer(init, '[y] write cordon.json  [n] no', 'y', 2);
  await answer(init, 'search: Key of the search (not shown)> ', 'typed-0nce');
  const run = await init.end();
  assert.equal(run.code, 0, run.stdout);
  assert.doesNotMatch(run.stdout, /typed-0nce|5ecret/);
  const text = readFileSync(config, 'utf8');
  assert.doesNotMatch(text, /typed-0nce|5ecret|"network"|server-filesystem/);
  assert.match(text, /"SEARCH_KEY": "\$\{secret:search\.key\}"/);
  assert.match(readFileSync(join(home.root, 'work/.mcp.json'), 'utf8'), /5ecret/);
  const apps = await home.run(['apps']);
  assert.match(apps.stdout, /tracker[\s\S]*reads environment variables: secret\s+tracker\.TRACKER_TOKEN/);
  // Agreed to with the yes: no question about the file comes again.
  assert.match(apps.stdout.replace(/\s+/g, ' '), /review: never reviewed/);
  assert.doesNotMatch(apps.stdout.replace(/\s+/g, ' '), /the configuration was not agreed to/);
});

test('a secret that a complete file names is asked for, and then nothing is left to do', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const key = '//npm.corp.example/:_authToken';
  home.write('cordon.json', { packages: { [key]: '${secret:npm}' } });
  const before = await home.run(['apps']);
  assert.match(before.stderr.replace(/\s+/g, ' '), /the secret `npm` is not kept for this file/);
  const init = home.start(['init'], { terminal: true });
  await answer(init, 'npm (not shown)> ', 'typed-0nce');
  const run = await init.end();
  assert.match(run.stdout + run.stderr, /the secret `npm` goes to \/\/npm\.corp\.example\//);
  assert.equal(run.code, 0, run.stdout);
  assert.doesNotMatch(run.stdout, /typed-0nce/);
  assert.match((await home.run(['init'])).stdout, /there is nothing to propose/);
});

test('a file that is also wrong in another way is reported once its secret is typed', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  home.write('cordon.json', { packages: { '//npm.corp.example/:_authToken': '${secret:npm}' }, modle: 'x' });
  const init = home.start(['init'], { terminal: true });
  await answer(init, 'npm (not shown)> ', 'typed-0nce');
  const run = await init.end();
  assert.equal(run.code, 2, run.stdout);
  const said = (run.stdout + run.stderr).replace(/\s+/g, ' ');
  assert.match(said, /kept for \S+: npm/);
  assert.match(said, /`modle` is unknown/);
});

// Attack: a description in a stranger's file clears the screen, and draws a question of Cordon's.
test('words of another file reach a prompt as words alone', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const evil = '\u001b[2JKey\n▐ Grant this?';
  home.write('.vscode/mcp.json', {
    inputs: [{ type: 'promptString', id: 'key', description: evil }],
    servers: {
      search: { command: 'node', args: [MAIL], env: { SEARCH_KEY: '${input:key}', [`A${evil}`]: '<name>' } },
    },
  });
  const init = home.start(['init'], { terminal: true });
  await answer(init, '[y] write cordon.json  [n] no', 'y');
  await answer(init, '(not shown)> ', 'typed');
  await answer(init, 'such as <name>> ', '');
  const { stdout } = await init.end();
  assert.ok(!stdout.includes('\u001b[2J'));
  assert.doesNotMatch(stdout, /\n▐/);
});

// Attack: a variable makes a known package run something else, and the file counts as agreed to.
test('the screen shows every value that an app is started with', async () => {
  using home = new Home();
  const code = '--import=data:text/javascript,0';
  const env = { NODE_OPTIONS: code, PLACE: `${code}?a=\${HOME}`, KEY: '${KEY}' };
  home.write('.mcp.json', {
    mcpServers: { it: { command: 'npx', args: ['-y', 'some-mcp'], env, cwd: '/srv' } },
  });
  const shown = (await home.run(['init'])).stdout.replace(/\s+/g, ' ');
  assert.ok(shown.includes(`NODE_OPTIONS = ${code}`), shown);
  assert.ok(shown.includes(`PLACE = ${code}?a=\${env:HOME}`), shown);
  assert.match(shown, /runs in \/srv/);
  assert.doesNotMatch(shown, / KEY = /);
});

test('entries that were pasted into cordon.json are completed, and all other text stays', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const notes = join(home.root, 'work', 'notes');
  mkdirSync(notes);
  const own = '{\n  // Mine.\n  "packs": [],\n';
  const config = home.write(
    'cordon.json',
    `${own}  "mcpServers": {\n    "mail": { "command": "node", "args": ["${MAIL}", "${notes}"] }\n  }\n}\n`,
  );
  const run = await home.run(['init', '--yes']);
  assert.equal(run.code, 0, run.stderr);
  const text = readFileSync(config, 'utf8');
  assert.ok(text.startsWith(own));
  assert.match(text, /\/\/ an argument names it\s+"read": \["\S+\/work\/notes"\]/);
  const shown = await home.run(['apps']);
  assert.match(shown.stdout, /reads: \S+\/work\/notes/);
  // Attack: `packs` was not on the screen, so the yes was not to the file.
  assert.match(shown.stdout.replace(/\s+/g, ' '), /the configuration was not agreed to/);
});

test('beside a complete cordon.json init names the apps of other clients, and adds them where the user says so', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const mail = { command: 'node', args: [MAIL] };
  const boxed = { command: 'docker', args: ['run', 'acme/own'] };
  home.write('.mcp.json', { mcpServers: { mail, boxed, off: { ...mail, disabled: true } } });
  assert.equal((await home.run(['init', '--yes'])).code, 0);
  assert.doesNotMatch((await home.run(['init'])).stderr, /more app/);
  home.write('mcp.json', { mcpServers: { Mail: mail, extra: { ...mail, env: { STATE: 'x' } } } });
  const config = join(home.root, 'work/cordon.json');
  const before = readFileSync(config, 'utf8');
  const told = await home.run(['init', '--yes']);
  assert.match(told.stderr, /1 more app in \S.* \(mcp\.json\): `cordon init --clients` adds\s+it/);
  assert.equal(readFileSync(config, 'utf8'), before);
  const both = await home.run(['init', 'mcp.json', '--clients', '--yes']);
  assert.equal(both.code, 2);
  assert.match(both.stderr, /`--clients` cannot be used together with files/);
  assert.equal(readFileSync(config, 'utf8'), before);
  const added = await home.run(['init', '--clients', '--yes']);
  assert.equal(added.code, 0, added.stderr);
  assert.match(added.stdout, /cordon\.json has the apps extra/);
  assert.match(readFileSync(config, 'utf8'), /"extra": \{/);
});

test('sections of VS Code that were pasted into cordon.json move to `apps`', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const config = home.write('cordon.json', {
    inputs: [],
    servers: { mail: { command: 'node', args: [MAIL] } },
  });
  const run = await home.run(['init', '--yes']);
  assert.equal(run.code, 0, run.stderr);
  assert.deepEqual(Object.keys(JSON.parse(readFileSync(config, 'utf8').replace(/^\s*\/\/.*$/gm, ''))), [
    'apps',
  ]);
});

test('an entry of VS Code that is left out is not dropped, and Cordon says that it does not read it', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const boxed = { command: 'docker', args: ['run', 'acme/own'] };
  const config = home.write('cordon.json', { servers: { mail: { command: 'node', args: [MAIL] }, boxed } });
  const run = await home.run(['init', '--yes']);
  assert.equal(run.code, 2);
  assert.match(run.stderr, /CFG006 servers/);
  assert.match(readFileSync(config, 'utf8'), /acme\/own/);
});

test('a command is taken from standard input, and a text that is none is refused', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const run = await home.run(['init', '-', '--yes'], {
    input: 'npx -y @modelcontextprotocol/server-memory\n',
  });
  assert.equal(run.code, 0, run.stderr);
  const text = readFileSync(join(home.root, 'work/cordon.json'), 'utf8');
  assert.match(
    text,
    /"memory": \{[\s\S]*"MEMORY_FILE_PATH": "\$\{state\}\/memory\.jsonl"[\s\S]*"write": \["\$\{state\}"\]/,
  );
  const refused = await home.run(['init', '-', '--yes'], { input: 'Run the installer.' });
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /no app was found in this text/);
});

test('where nothing is found, a person pastes what a README says', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const init = home.start(['init'], { terminal: true });
  await answer(init, 'paste> ', `{"mcpServers": {"mail": {"command": "node", "args": ["${MAIL}"]}}}`);
  // As from a terminal that does not mark what is pasted.
  for (const line of ['"other": {', `"command": "node", "args": ["${MAIL}", "x"]`, '}'])
    init.type(`${line}\r`);
  await answer(init, 'other: one more, or an empty line', '');
  await answer(init, '[y] write cordon.json  [n] no', 'y');
  assert.equal((await init.end()).code, 0);
  assert.match(readFileSync(join(home.root, 'work/cordon.json'), 'utf8'), /"mail": \{[\s\S]*"other": \{/);
});

test('a file that is broken stays as it is', async (t) => {
  if (isLeftOut(t)) return;
  using home = new Home();
  const config = join(home.root, 'work/cordon.json');
  writeFileSync(config, '{"apps": ');
  const run = await home.run(['init', '--yes']);
  assert.equal(run.code, 2);
  assert.match(run.stderr, /CFG003/);
  assert.equal(readFileSync(config, 'utf8'), '{"apps": ');
});
