import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_APP_LIMITS } from '@cordon/core';
import { checkPath, checkSpec, type SandboxSpec } from '../../src/index.ts';
import { folder, spec } from '../confined.ts';

function problem(changes: Partial<SandboxSpec>): string {
  const checked = checkSpec(spec(changes));
  return checked.ok ? 'none' : checked.fault.message;
}

test('the strictest specification passes', () => {
  assert.equal(problem({}), 'none');
});

test('unknown and missing fields are refused', () => {
  const more = checkSpec(Object.assign(spec({}), { network2: 'all' }));
  assert.equal(
    more.ok ? '' : more.fault.message,
    'the sandbox specification has an unknown field `network2`',
  );
  const less = spec({});
  Reflect.deleteProperty(less, 'usr');
  const checked = checkSpec(less);
  assert.equal(checked.ok ? '' : checked.fault.message, 'the sandbox specification lacks `usr`');
});

test('paths must be absolute and in normal form', () => {
  for (const cwd of ['', 'a', '/a/../b', '/a/', '//a', '/a\0'])
    assert.match(problem({ cwd }), /not an absolute path/, cwd);
  assert.equal(problem({ cwd: '/a/b' }), 'none');
});

test("nothing can be mounted over the launcher's own places", (context) => {
  const host = checkPath(folder(context));
  assert.equal(host.ok, true);
  if (!host.ok) return;
  const at = (inside: string) => problem({ mounts: [{ host: host.value, inside, access: 'read' }] });
  for (const inside of ['/', '/proc', '/proc/1', '/dev/shm', '/etc', '/opt/node/bin', '/usr', '/tmp', '/run'])
    assert.match(at(inside), /nothing can be mounted/, inside);
  for (const inside of ['/data', '/tmp/data', '/opt/app', '/etc/app'])
    assert.equal(at(inside), 'none', inside);
});

test('limits have a range', () => {
  assert.match(problem({ limits: { ...DEFAULT_APP_LIMITS, processes: 0 } }), /limits\.processes/);
  assert.match(problem({ limits: { ...DEFAULT_APP_LIMITS, memoryMiB: 1e9 } }), /limits\.memoryMiB/);
  assert.match(problem({ limits: { ...DEFAULT_APP_LIMITS, openFiles: 1.5 } }), /limits\.openFiles/);
  assert.equal(problem({ limits: { ...DEFAULT_APP_LIMITS, fileMiB: 0 } }), 'none');
});

test('environment names are plain and values end where they end', () => {
  assert.match(problem({ env: { 'A=B': 'x' } }), /no valid name/);
  assert.match(problem({ env: { A: 'x\0B=y' } }), /NUL/);
  assert.equal(problem({ env: { A: 'x\ny' } }), 'none');
});

test('a path that is missing, relative or a device is refused', () => {
  assert.deepEqual(
    ['/no/such/path', 'relative', '/dev/null'].map((path) => checkPath(path).ok),
    [false, false, false],
  );
  assert.equal(checkPath('/usr').ok, true);
});

test('ports of direct connections are numbers of ports, each once, and none of ours', () => {
  const ports = (...ports: readonly number[]) => problem({ network: { kind: 'direct', ports } });
  assert.equal(ports(993, 5432), 'none');
  assert.equal(ports(), 'none');
  assert.match(ports(993, 993), /a port twice/);
  assert.match(ports(...Array.from({ length: 257 }, (_, index) => index + 1_000)), /more than 256/);
  for (const port of [0, 65_536, 1.5]) assert.match(ports(port), /network\.ports/);
  for (const port of [53, 3128]) assert.match(ports(port), /the sandbox's own/);
});
