/** What `l` on the screen of `cordon init` starts: the program that the screen shows, without what it would be granted. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders as the file writes them
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type InstalledApp, SILENT_MANIFEST } from '@cordon/core';
import { propose, readPasted } from '@cordon/onboarding';
import { commandSpec } from '@cordon/sandbox';
import { withoutRights } from '../../src/commands/init/without-rights.ts';

const ROOT = mkdtempSync('/tmp/cordon-without-rights-');
after(() => rmSync(ROOT, { recursive: true }));
const folder = join(ROOT, 'stranger');
const home = join(ROOT, 'home');
const place = { folder, home, environment: {} };

/** A folder with a program, and its name, which nothing else has. */
function program(at: string, ending: string): { readonly app: string; readonly file: string } {
  const app = join(ROOT, at);
  const name = `${ROOT.slice('/tmp/'.length)}-${at.replaceAll('/', '-')}${ending}`;
  mkdirSync(app, { recursive: true });
  writeFileSync(join(app, name), '');
  return { app, file: join(app, name) };
}

function started(entry: object): Extract<InstalledApp['source'], { kind: 'command' }> | null {
  const read = readPasted(JSON.stringify({ mcpServers: { it: entry } }), 'here', place);
  const [server] = read.ok ? read.value : assert.fail(read.fault);
  const source = withoutRights(propose('it', server ?? assert.fail(), place), place)?.source ?? null;
  return source === null || source.kind === 'command' ? source : assert.fail();
}

/** What is executed, as the host has it. */
async function executed(entry: object): Promise<readonly string[]> {
  const source = started(entry) ?? assert.fail('it is not started');
  const { limits } = SILENT_MANIFEST;
  const files = { read: [], write: [] };
  const spec = await commandSpec(
    { ...source, files, stateFolder: null, limits, node: [] },
    { configFolder: folder, dataFolder: join(ROOT, 'data'), home },
  );
  return spec.ok ? [spec.value.executable, ...spec.value.args] : assert.fail(spec.fault.message);
}

// Attack: another account of the machine puts a program into /tmp, with the name of a script whose folder is also an argument.
for (const ending of ['.mjs', '.py', ''])
  test(`a script${ending === '' ? ' without ending' : ending} is the one on the screen, also where its folder is granted`, async () => {
    const { app, file } = program(`app${ending.replace('.', '-')}`, ending);
    const planted = join('/tmp', file.slice(app.length));
    writeFileSync(planted, '');
    after(() => rmSync(planted));
    const command = ending === '.mjs' ? 'node' : 'python3';
    const argument = await executed({ command, args: [file, app] });
    assert.deepEqual(argument.slice(-2), [file, '/tmp']);
    const variable = { command, args: [file, `--root=${app}`], env: { DATA_DIR: app } };
    assert.deepEqual((await executed(variable)).slice(-2), [file, '--root=/tmp']);
    assert.deepEqual(started(variable)?.env, { DATA_DIR: '/tmp' });
  });

test('only a whole argument or value names a folder, and placeholders are replaced within one', () => {
  const { app } = program('data', '');
  const args = ['-y', 'some-mcp', app, `${app}-old.txt`, `see ${app}`, '${state}/notes.db'];
  assert.deepEqual(started({ command: 'npx', args })?.args, [
    ...['-y', 'some-mcp', '/tmp', `${app}-old.txt`, `see ${app}`, '/tmp/notes.db'],
  ]);
});

// Attack: a program that is only looked at is handed the password that stands in its arguments.
test('an address with a password becomes the word for a secret, and one without stays', () => {
  const addresses = (address: string) => {
    const args = ['-y', '@modelcontextprotocol/server-postgres', address, `--dsn=${address}`];
    const source = started({ command: 'npx', args, env: { FALLBACK: address } });
    return [...(source?.args.slice(2) ?? []), source?.env.FALLBACK];
  };
  assert.deepEqual(addresses('postgresql://me:pw4711@db/crm'), ['none', '--dsn=none', 'none']);
  const DSN = 'postgresql://me:pw4711@${env:HOST}/crm';
  assert.deepEqual(started({ command: 'npx', args: ['-y', 'some-mcp'], env: { DSN } })?.env, { DSN: 'none' });
  const open = 'postgresql://me@db/crm';
  assert.deepEqual(addresses(open), [open, `--dsn=${open}`, open]);
});

// Attack: the user's own client starts `server.mjs` in its folder, and a stranger's folder has a `server.mjs`.
test('what runs in a folder of its own is not started, and the same program without one is', async () => {
  const { app, file } = program('mail', '.mjs');
  const name = file.slice(app.length + 1);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), '');
  const entry = { command: 'node', args: [name] };
  assert.equal(started({ ...entry, cwd: app }), null);
  assert.equal((await executed(entry)).at(-1), join(folder, name));
});

// Attack: a stranger's folder holds a folder `~` or `${config}` with a program in it.
test('a program of the home is taken from there, and one behind a placeholder is not started', async () => {
  const { file } = program('home/bin', '');
  const own = file.replace(home, '~');
  const planted = join(folder, own);
  mkdirSync(join(folder, '~/bin'), { recursive: true });
  writeFileSync(planted, '');
  assert.deepEqual(await executed({ command: own, args: [] }), [file]);
  assert.equal(started({ command: '${config}/bin/server', args: [] }), null);
  assert.equal(started({ command: 'node', args: ['${config}/server.mjs'] }), null);
  assert.equal(started({ command: 'node', args: ['-e', '1', '${state}/x'] })?.args.at(-1), '/tmp/x');
});
