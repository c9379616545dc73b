/** A registry of a private network, reached by its name: to the addresses that the user lists, and to no other. */

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { CERTIFICATE } from '@cordon/testkit/certificate.ts';
import { Machine, PROGRAM } from '@cordon/testkit/installing.ts';
import { TestRegistry } from '@cordon/testkit/registry.ts';
import { isLeftOut } from '../../../tools/cases.ts';

const LISTED = '10.20.0.15';

/** A user whose registry is in a private network, with a package in it. */
async function behindMirror(context: TestContext): Promise<Machine> {
  const machine = await Machine.make(context);
  const { registry } = machine;
  machine.environment = {};
  machine.registries = new Map([['registry', registry.url]]);
  machine.privateAddresses = new Map([[TestRegistry.host, [LISTED]]]);
  registry.lookup = async () => [LISTED];
  registry.publish('demo-app', '1.0.0', { 'cli.js': PROGRAM }, { bin: { 'demo-app': 'cli.js' } });
  return machine;
}

const dialledIn = ({ registry }: Machine) => [...new Set(registry.dialled)];

test('a package comes from a registry whose name leads to a listed address', async (context) => {
  const machine = await behindMirror(context);
  assert.equal(await machine.refusal('npx demo-app'), 'installed');
  assert.deepEqual(dialledIn(machine), [`${LISTED}:${machine.registry.port}`]);
});

for (const [what, listed, why] of [
  ['lists no address', [], 'not public'],
  ['lists another address', [[TestRegistry.host, ['10.20.0.16']]], 'not listed for it'],
  ['lists the address for another host', [['other.example.com', [LISTED]]], 'not public'],
] as const) {
  test(`a registry at a private address is not reached where the user ${what}, and is told how it would be`, async (context) => {
    if (isLeftOut(context, listed.length === 0)) return;
    const machine = await behindMirror(context);
    machine.privateAddresses = new Map(listed);
    const fetched = await machine.fetch('npx demo-app');
    assert.ok(!fetched.ok);
    assert.match(
      fetched.fault.message,
      new RegExp(`was not reached: the name leads to an address that is ${why}`),
    );
    assert.match(fetched.fault.help ?? '', /"packages": \{"privateAddresses": \{"packages\.example\.com"/);
    assert.deepEqual(machine.registry.dialled, []);
  });
}

test('a registry whose name is one word is reached where its address is listed, and the remedy is named where it is not', async (context) => {
  if (isLeftOut(context)) return;
  const machine = await behindMirror(context);
  machine.registries = new Map([['registry', `http://nexus:${machine.registry.port}/`]]);
  const fetched = await machine.fetch('npx demo-app');
  assert.ok(!fetched.ok);
  assert.match(fetched.fault.help ?? '', /"packages": \{"privateAddresses": \{"nexus": \["ADDRESS"\]\}\}/);
  assert.deepEqual(machine.registry.dialled, []);
  machine.privateAddresses = new Map([['nexus', [LISTED]]]);
  assert.equal(await machine.refusal('npx demo-app'), 'installed');
  assert.deepEqual(dialledIn(machine), [`${LISTED}:${machine.registry.port}`]);
});

// Attack: the name leads to the listed address when it is first looked up, and to the metadata service of the cloud then.
test('a name that leads elsewhere at its second look-up is not followed there', async (context) => {
  const machine = await behindMirror(context);
  let times = 0;
  machine.registry.lookup = async () => [times++ === 0 ? LISTED : '169.254.169.254'];
  assert.match(await machine.refusal('npx demo-app'), /an address that is not listed for it/);
  assert.ok(times > 1);
  assert.deepEqual(dialledIn(machine), [`${LISTED}:${machine.registry.port}`]);
});

// Attack: the DNS of another network answers the name, and the credentials would go to the internet in the clear.
for (const [what, answer, dials] of [
  ['a public address', ['93.184.215.14'], false],
  ['a listed and a public address', [LISTED, '93.184.215.14'], false],
  ['the listed address', [LISTED], true],
] as const) {
  test(`credentials go over http ${dials ? '' : 'to nobody '}where a listed name leads to ${what}`, async (context) => {
    if (isLeftOut(context, what !== 'a public address')) return;
    const machine = await behindMirror(context);
    const { registry } = machine;
    const at = `nexus:${registry.port}`;
    registry.wants = 'Bearer npm-secret-token';
    machine.registries = new Map([['registry', `http://${at}/`]]);
    machine.privateAddresses = new Map([['nexus', [LISTED]]]);
    machine.credentials = new Map([[`//${at}/:_authToken`, 'npm-secret-token']]);
    registry.lookup = async () => answer;
    const fetched = await machine.refusal('npx demo-app');
    assert.match(fetched, dials ? /^installed$/ : /leads to an address that is not listed for it/);
    assert.deepEqual(dialledIn(machine), dials ? [`${LISTED}:${registry.port}`] : []);
  });
}

// Attack: the registry, or somebody on the way to it, sends the installer to other machines of the network.
for (const [what, host] of [
  ['another machine', '10.20.0.99'],
  ['its own address without its name', LISTED],
] as const) {
  test(`a redirect to ${what} is not followed`, async (context) => {
    if (isLeftOut(context, host !== LISTED)) return;
    const machine = await behindMirror(context);
    machine.registry.trouble = { redirectsTo: `http://${host}:${machine.registry.port}` };
    assert.match(
      await machine.refusal('npx demo-app'),
      new RegExp(`would be fetched from \`${host}\`, which is not the registry`),
    );
    assert.deepEqual(dialledIn(machine), [`${LISTED}:${machine.registry.port}`]);
  });
}

test('a registry with an authority of its own is believed where the user names the authority', async (context) => {
  const machine = await Machine.make(context, true);
  machine.registry.publish('demo-app', '1.0.0', { 'cli.js': PROGRAM }, { bin: { 'demo-app': 'cli.js' } });
  assert.match(await machine.refusal('npx demo-app'), /comes from an authority that is not known/);
  const file = join(machine.root, 'authority.pem');
  writeFileSync(file, CERTIFICATE);
  machine.environment.NODE_EXTRA_CA_CERTS = file;
  assert.equal(await machine.refusal('npx demo-app'), 'installed');
});

for (const [what, key, typed, wants] of [
  ['a token', '_authToken', 'npm-secret-token', 'Bearer npm-secret-token'],
  ['a user and a password', '_auth', 'me:npm-secret-token', `Basic ${btoa('me:npm-secret-token')}`],
] as const) {
  test(`npm shows ${what} to the registry that wants it, and nothing that is kept holds it`, async (context) => {
    if (isLeftOut(context, what === 'a token')) return;
    const machine = await behindMirror(context);
    machine.registry.wants = wants;
    const without = await machine.fetch('npx demo-app');
    assert.ok(!without.ok);
    assert.match(without.fault.message, /wants credentials, and `cordon\.json` names none/);
    assert.match(
      without.fault.help ?? '',
      /"\/\/packages\.example\.com:\d+\/:_authToken": "\$\{secret:registry\}"/,
    );
    machine.credentials = new Map([[`//${TestRegistry.host}:${machine.registry.port}/:${key}`, typed]]);
    await machine.install('npx demo-app');
    assert.deepEqual(filesWith(machine.root, ['npm-secret-token', btoa('me:npm-secret-token')]), []);
    machine.registry.wants = 'Bearer another';
    assert.match(await machine.refusal('npx demo-app'), /does not accept the credentials/);
  });
}

test('pip shows a user and a password to the index that wants them', async (context) => {
  if (isLeftOut(context)) return;
  if (!existsSync('/usr/bin/python3')) return context.skip('there is no Python');
  const machine = await behindMirror(context);
  const { registry } = machine;
  machine.environment = { PIP_INDEX_URL: `${registry.url}simple/` };
  registry.publishWheel(
    'demo-tool',
    '1.0.0',
    { 'demo_tool.py': 'def main(): pass\n' },
    'demo-tool = demo_tool:main',
  );
  registry.wants = `Basic ${btoa('me@corp:pip/secret')}`;
  const without = await machine.fetch('uvx demo-tool');
  assert.ok(!without.ok);
  assert.match(without.fault.message, /wants credentials, and `cordon\.json` names none/);
  assert.match(without.fault.help ?? '', /write "packages": \{"\/\/packages/);
  machine.credentials = new Map([
    [`//${TestRegistry.host}:${registry.port}/simple/:_auth`, 'me@corp:pip/secret'],
  ]);
  await machine.install('uvx demo-tool');
  registry.wants = 'Basic another';
  assert.match(await machine.refusal('uvx demo-tool'), /does not accept the credentials/);
  assert.deepEqual(filesWith(machine.root, ['pip/secret', 'pip%2Fsecret', btoa('me@corp:pip/secret')]), []);
});

/** Files below a folder that hold one of the texts. */
function filesWith(folder: string, texts: readonly string[]): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => texts.some((text) => readFileSync(path).includes(text)));
}
