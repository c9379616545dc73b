/** `cordon doctor`: what it shows of this machine, and of machines that lack something. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isJsonObject, toJson } from '@cordon/core';
import { Workplace } from '@cordon/testkit/cordon-program.ts';
import { isLeftOut } from '../../../tools/cases.ts';
import { mountRunsPrograms } from '../src/commands/mounts.ts';

const MOUNTS = [
  '22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda1 rw',
  '30 22 0:25 / /home rw,nosuid,nodev,noexec,relatime shared:2 - ext4 /dev/vdb1 rw',
  '31 30 0:26 / /home/me/my\\040tools rw,relatime - tmpfs tmpfs rw',
  '32 22 0:27 / /tmp rw,noexec - tmpfs tmpfs rw',
  '33 22 0:28 / /tmp rw - tmpfs tmpfs rw',
].join('\n');

for (const [folder, runs] of [
  ['/var/lib/cordon', true],
  ['/home/me/.local/share/cordon', false],
  ['/home/me/my tools/cordon', true],
  ['/homestead', true],
  ['/tmp/cordon', true],
] as const) {
  test(`programs can${runs ? '' : 'not'} be started from ${folder}`, () => {
    assert.equal(mountRunsPrograms(folder, MOUNTS), runs);
  });
}

test('each layer has a line in JSON, and the model comes last', (t) => {
  if (isLeftOut(t)) return;
  using place = new Workplace();
  const { code, lines, err } = place.run(['doctor', '--json']);
  assert.equal(err, '');
  assert.equal(code, 0);
  const names = JSON.parse(`[${lines.map((line) => JSON.stringify(line)).join()}]`).map(
    ({ name, kind }: { readonly name?: string; readonly kind: string }) => name ?? kind,
  );
  assert.deepEqual(names.slice(0, 4), ['versions', 'user', 'data folder', 'bubblewrap']);
  for (const layer of ['user-namespace', 'network-namespace', 'seccomp', 'watchdog', 'node-permission'])
    assert.ok(names.includes(layer), `${layer} is missing`);
  assert.deepEqual(names.slice(-5), [
    'detectors',
    'model providers',
    'network of the hub',
    'model',
    'doctor.result',
  ]);
  assert.match(JSON.stringify(lines), /third-party parsers run confined, without network and files/);
});

test('a hub that was started without the launcher shares the network of the machine, and doctor says so', (t) => {
  if (isLeftOut(t)) return;
  using place = new Workplace();
  const { code, lines } = place.run(['doctor', '--json']);
  assert.equal(code, 0);
  const network = lines.map(toJson).find((line) => isJsonObject(line) && line.name === 'network of the hub');
  const why = 'shared with this machine: Cordon was started without its launcher';
  assert.deepEqual(network, {
    kind: 'doctor.check',
    name: 'network of the hub',
    ok: true,
    why,
    remedy: null,
  });
});

test('where the dialling process cannot be started, nothing is dialled, and the machine is not ready', () => {
  using place = new Workplace();
  const { code, lines } = place.run(['doctor', '--json'], { env: { CORDON_DIAL: '/nonexistent' } });
  assert.equal(code, 2);
  const network = lines.map(toJson).find((line) => isJsonObject(line) && line.name === 'network of the hub');
  assert.ok(isJsonObject(network ?? null));
  assert.match(JSON.stringify(network), /"ok":false,"why":"nothing can be dialled: /);
});

/** The user names the file: one that is found in the folder would have to be agreed to. */
const NAMED = ['--config', 'cordon.json'];

test('a layer that an unagreed file leaves out is looked at all the same, in lines that fit and have no colours', (t) => {
  if (isLeftOut(t)) return;
  using place = new Workplace({ 'cordon.json': { sandbox: { weaker: ['seccomp'] } } });
  const { code, out, err } = place.run(['doctor']);
  assert.equal(code, 0);
  assert.match(out, /yes +seccomp/);
  assert.match(err.replace(/\s+/g, ' '), /cordon\.json is left out: you have not agreed to it/);
  assert.ok(out.split('\n').every((line) => line.length <= 80));
  assert.ok(!out.includes('\u001b'));
});

test('a layer that the user left out is shown as such, with what that gives up', (t) => {
  if (isLeftOut(t)) return;
  using place = new Workplace({ 'cordon.json': { sandbox: { weaker: ['seccomp'] } } });
  const { code, out } = place.run(['doctor', ...NAMED, '--sandbox', 'weaker=watchdog']);
  assert.equal(code, 0);
  const told = out.replace(/\s+/g, ' ');
  assert.match(told, /but seccomp disabled, because you asked for it: apps reach every part of the kernel/);
  assert.match(told, /but watchdog disabled, because you asked for it:/);
  assert.match(told, /yes network-namespace/);
  assert.match(told, /Cordon can run apps on this machine $/);
});

test('a layer that there is not is an error with the layers that there are', (t) => {
  if (isLeftOut(t)) return;
  using place = new Workplace({ 'cordon.json': '{\n  "sandbox": { "weaker": ["secomp"] }\n}' });
  const { code, err } = place.run(['doctor', ...NAMED]);
  assert.equal(code, 2);
  assert.match(err, /cordon\.json:2:27: error CFG039 sandbox\.weaker\[0\]/);
  assert.match(err.replace(/\s+/g, ' '), /did you mean `seccomp`\? layers that can be left out: file-view,/);
});

test('attempts to get out follow the layers, each told with how it ended', (t) => {
  if (isLeftOut(t)) return;
  using place = new Workplace();
  const { code, lines, err } = place.run(['doctor', '--attack', 'javascript', '--json']);
  assert.deepEqual([err, code], ['', 0]);
  const told: readonly Record<string, unknown>[] = lines.map(toJson).filter(isJsonObject);
  const attempts = told.filter(({ kind }) => kind === 'doctor.attempt');
  assert.ok(attempts.length >= 5);
  assert.deepEqual(
    attempts.filter(({ verdict, allowed }) => verdict !== 'stopped' || allowed !== 'through'),
    [],
  );
  const { length } = attempts;
  assert.deepEqual(told.at(-1), { kind: 'doctor.attacked', tried: length, stopped: length });
});

test('an attempt that gets through, because a layer was left out, is a failure that is shown', (t) => {
  if (isLeftOut(t)) return;
  using place = new Workplace();
  const { code, out } = place.run([
    'doctor',
    '--attack',
    'javascript',
    '--sandbox',
    'weaker=node-permission',
  ]);
  assert.equal(code, 2);
  assert.match(out, /NO +starts a thread +through/);
  assert.match(out.replace(/\s+/g, ' '), /attempts to escape: \d+ did not end as expected/);
});

test('a group of attempts that there is not is refused, with the names of those that there are', (t) => {
  if (isLeftOut(t)) return;
  using place = new Workplace();
  const { code, err } = place.run(['doctor', '--attack', 'everything']);
  assert.equal(code, 2);
  assert.match(err.replace(/\s+/g, ' '), /unknown group of attempts; help: use one of reading, writing,/);
});
