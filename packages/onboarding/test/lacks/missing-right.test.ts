/** What an app says that it lacks becomes a right that can be offered: what it named, and nothing wider. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders as the file writes them
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type AppSource, type InstalledApp, id, type Manifest, SILENT_MANIFEST } from '@cordon/core';
import { lacksInWords, missingRight, withRight } from '../../src/lacks/index.ts';

const ROOT = mkdtempSync(join(tmpdir(), 'cordon-lacks-'));
after(() => rmSync(ROOT, { recursive: true }));
const HOME = join(ROOT, 'home');
const NOTES = join(HOME, 'notes');
const DATA = join(HOME, 'data');
for (const folder of [NOTES, DATA]) mkdirSync(folder, { recursive: true });
writeFileSync(join(NOTES, 'a b.txt'), '');

function app(
  manifest: Partial<Manifest> = {},
  source: Partial<Extract<AppSource, { kind: 'command' }>> = {},
): InstalledApp {
  return {
    id: id<'app'>('it'),
    source: { kind: 'command', command: 'x', args: [], env: {}, cwd: null, ...source },
    manifest: { ...SILENT_MANIFEST, ...manifest },
    model: null,
  };
}

const place = {
  home: HOME,
  isClosed: (path: string) => path.startsWith(DATA),
  isOwnVariable: (name: string) => name === 'OPENAI_API_KEY',
};

function offered(text: string, to = app()): readonly string[] {
  return lacksInWords(text).flatMap((named) => {
    const right = missingRight(named, to, place);
    return right === null ? [] : [`${right.kind} ${right.value}`];
  });
}

test('a path that Node, Python or a shell cannot use is offered for reading', () => {
  assert.deepEqual(offered(`ENOENT: no such file or directory, open '${NOTES}/a b.txt'`), [
    `read ${NOTES}/a b.txt`,
  ]);
  assert.deepEqual(offered(`[Errno 2] No such file or directory: '${NOTES}'`), [`read ${NOTES}`]);
  assert.deepEqual(offered(`ls: cannot access ${NOTES}: Permission denied`), [`read ${NOTES}`]);
});

test('what an app refuses by a rule of its own is no lack', () => {
  assert.deepEqual(offered(`Access denied - path outside allowed directories: ${NOTES} not in /x`), []);
});

test('for writing where the words say so, or where it may read already', () => {
  assert.deepEqual(offered(`EROFS: read-only file system, open '${NOTES}'`), [`write ${NOTES}`]);
  assert.deepEqual(offered(`EACCES: permission denied, mkdir '${NOTES}'`), [`write ${NOTES}`]);
  const reads = app({ files: { read: [HOME], write: [] } });
  assert.deepEqual(offered(`EACCES: permission denied, open '${NOTES}'`, reads), [`write ${NOTES}`]);
  const writes = app({ files: { read: [], write: [NOTES] } });
  assert.deepEqual(offered(`EACCES: permission denied, open '${NOTES}'`, writes), []);
});

// Attack: an app names what would give it everything, and hopes for a quick yes.
test('nobody is asked for the home folder, Cordon, the system, or what is not there', () => {
  for (const path of [
    HOME,
    ROOT,
    '/',
    DATA,
    `${DATA}/store.db`,
    '/etc/shadow',
    '/proc/1/environ',
    `${NOTES}/none`,
  ])
    assert.deepEqual(offered(`ENOENT: no such file or directory, open '${path}'`), [], path);
  assert.deepEqual(offered(`ENOENT: no such file or directory, open '${NOTES}/../../..'`), []);
});

// Attack: a link in a folder of the app leads to what it wants.
test('what a link leads to is what is offered, or not', () => {
  symlinkSync(DATA, join(NOTES, 'to-data'));
  symlinkSync(NOTES, join(HOME, 'to-notes'));
  assert.deepEqual(offered(`EACCES: permission denied, open '${NOTES}/to-data'`), []);
  assert.deepEqual(offered(`EACCES: permission denied, open '${HOME}/to-notes'`), [`read ${NOTES}`]);
});

test('a host that was not found is offered alone, with the port that the app was told', () => {
  assert.deepEqual(offered('getaddrinfo ENOTFOUND api.example.org'), ['network api.example.org']);
  const mail = app({}, { env: { MCP_EMAIL_IMAP_HOST: 'imap.example.org' } });
  assert.deepEqual(offered('getaddrinfo EAI_AGAIN imap.example.org', mail), ['network imap.example.org:993']);
  assert.deepEqual(
    offered('getaddrinfo ENOTFOUND imap.example.org', app({ network: ['imap.example.org'] })),
    [],
  );
  assert.deepEqual(offered('see https://docs.example.org/help'), []);
});

test('a host that the manifest lists, alone or by its site, was refused for another reason', () => {
  const refused = (network: readonly string[]) =>
    missingRight({ kind: 'host', host: 'imap.example.org', port: 993 }, app({ network }), place);
  assert.equal(refused(['imap.example.org:993']), null);
  assert.equal(refused(['example.org:993']), null);
  assert.deepEqual(refused(['example.org']), { kind: 'network', value: 'imap.example.org:993' });
});

test('a host that leads into the network of the user is offered with the addresses that were refused', () => {
  const lacks = 'wiki.corp.example@10.1.2.3';
  const refused = (network: readonly string[]) =>
    missingRight({ kind: 'host', host: 'wiki.corp.example', port: 443, lacks }, app({ network }), place);
  assert.deepEqual(refused(['wiki.corp.example']), { kind: 'network', value: lacks });
  assert.deepEqual(refused(['wiki.corp.example@10.1.2.4']), { kind: 'network', value: lacks });
  assert.equal(refused(['wiki.corp.example', 'corp.example@10.1.2.3']), null);
});

test('a host that the manifest lists with addresses alone is offered without them', () => {
  const refused = (network: readonly string[]) =>
    missingRight({ kind: 'host', host: 'wiki.corp.example', port: 443 }, app({ network }), place);
  const lacks = { kind: 'network', value: 'wiki.corp.example' };
  assert.deepEqual(refused(['wiki.corp.example@10.1.2.3']), lacks);
  assert.equal(refused(['wiki.corp.example@10.1.2.3', 'corp.example']), null);
});

test('a variable that is missing is offered by its name, but no key of Cordon or of a provider', () => {
  assert.deepEqual(offered('Error: BRAVE_API_KEY environment variable is required'), [
    'variable BRAVE_API_KEY',
  ]);
  assert.deepEqual(offered('OPENAI_API_KEY is not set'), []);
  assert.deepEqual(offered('Error: API_KEY is required', app({}, { env: { API_KEY: 'x' } })), []);
  assert.deepEqual(offered('ERR_MODULE_NOT_FOUND is missing'), []);
});

test('a long hostile text is read in time that grows with its length', () => {
  const hostile = `ENOENT ${"'/".repeat(200_000)} ENOTFOUND ${'a.'.repeat(200_000)} required ${'A_'.repeat(200_000)}`;
  assert.deepEqual(offered(`${hostile}\n`.repeat(3)), []);
});

const FILE = `{
  // Mine.
  "apps": {
    "it": { "command": "x", "manifest": { "files": { "read": ["/a"] } } }
  },
  "labels": { "tools": { "it/look": { "readOnly": true, "outward": false }, "other/look": { "outward": false } } }
}
`;

test('a right is added to what is there, and all other text stays', () => {
  const granted = withRight(FILE, 'it', { kind: 'read', value: '/b' }, '');
  assert.equal(granted.ok && granted.value.text, FILE.replace('["/a"]', '["/a", "/b"]'));
  const variable = withRight(FILE, 'it', { kind: 'variable', value: 'KEY' }, '${env:KEY}');
  assert.match(variable.ok ? variable.value.text : '', /\} \}, "env": \{ "KEY": "\$\{env:KEY\}" \} \}/);
  assert.equal(withRight(FILE, 'stranger', { kind: 'read', value: '/b' }, '').ok, false);
});

// Attack: a tool that was labelled as sending nothing out sends what it gets to the host that is granted.
test('a host takes back that the tools of this app send nothing out, and of no other', () => {
  const granted = withRight(FILE, 'it', { kind: 'network', value: 'example.org' }, '');
  assert.ok(granted.ok);
  assert.deepEqual(granted.value.noLongerStay, ['look']);
  assert.match(
    granted.value.text,
    /"it\/look": \{ "readOnly": true \}, "other\/look": \{ "outward": false \}/,
  );
});

// Attack: an app fails a hundred times with a thousand paths each, and each of them is looked for on the disk.
test('of many words only the first few are looked at', () => {
  const many = Array.from({ length: 400 }, (_, at) => `ENOENT /p${at} /q${at}`).join('\n');
  const named = lacksInWords(many);
  assert.equal(named.length, 20);
  assert.deepEqual(named[0], { kind: 'path', path: '/p0', access: 'read' });
});

test('nor for a folder that directly holds what is closed, where one without it is offered', () => {
  const around = join(HOME, 'around');
  mkdirSync(join(around, 'inner'), { recursive: true });
  writeFileSync(join(around, 'key'), '');
  const isClosed = (path: string) => path.endsWith('/key');
  const ofFolder = (path: string) =>
    missingRight({ kind: 'path', path, access: 'read' }, app(), { ...place, isClosed });
  assert.equal(ofFolder(around), null);
  assert.deepEqual(ofFolder(join(around, 'inner')), { kind: 'read', value: join(around, 'inner') });
});

test('a host that the site of an entry covers is not offered again, and one beside it is', () => {
  const sites = app({ network: ['example.org'] });
  assert.deepEqual(offered('getaddrinfo ENOTFOUND api.example.org', sites), []);
  assert.deepEqual(offered('getaddrinfo ENOTFOUND api.example.com', sites), ['network api.example.com']);
});

// Attack: an app tries the metadata service of a cloud, which hands out keys, and hopes for a quick yes.
test('an address at which no server of the user can be is not offered', () => {
  const at = (host: string) => missingRight({ kind: 'host', host, port: 80 }, app(), place);
  assert.equal(at('169.254.169.254'), null);
  assert.equal(at('[fd00:ec2::23]'), null);
  assert.equal(at('[fe80::1]'), null);
  assert.deepEqual(at('10.0.0.7'), { kind: 'network', value: '10.0.0.7:80' });
});

test('labels that speak of the tools of all apps stay with a host, and are named', () => {
  const tools = { 'read_*': { outward: false }, '*/list': { outward: false }, 'other/x': { outward: false } };
  const text = JSON.stringify({ apps: { it: { manifest: {} } }, labels: { tools } });
  const granted = withRight(text, 'it', { kind: 'network', value: 'example.org' }, '');
  assert.deepEqual(granted.ok && granted.value.stillStay, ['read_*', '*/list']);
  const file = withRight(text, 'it', { kind: 'read', value: '/x' }, '');
  assert.deepEqual(file.ok && file.value.stillStay, []);
});
