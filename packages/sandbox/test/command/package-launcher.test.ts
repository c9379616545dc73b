import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePackageLauncher, requestOf } from '../../src/index.ts';

/** `request bin args`, `no launcher`, or the refusal. */
function meant(line: string): string {
  const [command = '', ...args] = line.split(' ');
  const call = parsePackageLauncher(command, args);
  if (!call.ok) return call.fault.message;
  if (call.value === null) return 'no launcher';
  return [requestOf(call.value), call.value.bin ?? '-', ...call.value.args].join(' | ');
}

const MEANT: Readonly<Record<string, string>> = {
  'npx pkg': 'npm:pkg | -',
  'npx -y pkg a --b': 'npm:pkg | - | a | --b',
  'npx --yes --quiet @s/pkg@1.2.3 -y': 'npm:@s/pkg@1.2.3 | - | -y',
  'npx -p pkg tool x': 'npm:pkg | tool | x',
  'npx --package=pkg@latest -- tool': 'npm:pkg@latest | tool',
  'npx -p a -p b tool': 'npm:a b | tool',
  'npx pkg@^1.2.0': 'npm:pkg@^1.2.0 | -',
  'bunx pkg': 'npm:pkg | -',
  'bun x pkg a': 'npm:pkg | - | a',
  'pnpx pkg': 'npm:pkg | -',
  'pnpm dlx --package pkg tool': 'npm:pkg | tool',
  'yarn dlx -p pkg tool': 'npm:pkg | tool',
  'npm exec -y pkg -- --flag': 'npm:pkg | - | --flag',
  'npm x -- pkg a': 'npm:pkg | - | a',
  'uvx tool': 'python:tool | -',
  'uvx Tool_Name@1.2.3 -x': 'python:tool-name==1.2.3 | - | -x',
  'uvx tool@latest': 'python:tool | -',
  'uvx --from pkg[extra]>=1.0,<2 tool a': 'python:pkg[extra]>=1.0,<2 | tool | a',
  'uvx --with more tool': 'python:tool more | -',
  'uv tool run tool a': 'python:tool | - | a',
  'pipx run --spec pkg==1.0 tool': 'python:pkg==1.0 | tool',
  'node app.js': 'no launcher',
};

for (const [line, expected] of Object.entries(MEANT))
  test(`\`${line}\` is understood`, () => assert.equal(meant(line), expected));

const REFUSED: Readonly<Record<string, RegExp>> = {
  npx: /names no package/,
  'npx -c ls': /not understood/,
  'npx --registry=https://evil.example pkg': /not understood/,
  'npx --node-options=--require=/tmp/x pkg': /not understood/,
  'npx ../evil': /not the name of a package/,
  'npx ./evil': /not the name of a package/,
  'npx /etc/passwd': /not the name of a package/,
  'npx @scope/../../evil': /not the name of a package/,
  'npx pkg@../evil': /not the name of a package/,
  'npx pkg@file:../evil': /not the name of a package/,
  'npx alias@npm:evil': /not the name of a package/,
  'npx git+https://evil.example/x.git': /not the name of a package/,
  'npx https://evil.example/x.tgz': /not the name of a package/,
  'npx user/repository': /not the name of a package/,
  'npx pkg;reboot': /not the name of a package/,
  'npx pkg$(reboot)': /not the name of a package/,
  'npx pkg@1`reboot`': /not the name of a package/,
  'npx -p --prefix=/ tool': /not the name of a package/,
  'npx -p pkg ../tool': /not the name of a program/,
  'npx -p pkg -- -x': /not the name of a program/,
  'npm install pkg': /only `npm exec`/,
  'npm run start': /only `npm exec`/,
  'npm exec pkg --flag': /keeps `--flag` for itself/,
  'yarn start': /only `yarn dlx`/,
  'bun run x': /only `bun x`/,
  'bunx --bun pkg': /not understood/,
  'uv run server.py': /only `uv tool run`/,
  'uvx --index-url https://evil.example pkg': /not understood/,
  'uvx --from git+https://evil.example/x tool': /not the name of a package/,
  'uvx ./evil': /not the name of a package/,
  'uvx pkg;reboot': /not the name of a package/,
  'uvx --from -r/etc/passwd tool': /not the name of a package/,
  'uvx --from pkg ../../bin/sh': /not the name of a program/,
  'docker run image': /outside of the sandbox/,
  'podman run image': /outside of the sandbox/,
};

for (const [line, why] of Object.entries(REFUSED))
  test(`\`${line}\` is refused`, () => assert.match(meant(line), why));

test('an argument that holds spaces is no second package', () => {
  const call = parsePackageLauncher('npx', ['-p', 'a --prefix=/', 'tool']);
  assert.equal(call.ok, false);
  const python = parsePackageLauncher('uvx', ['--from', 'a >= 1', 'tool']);
  assert.equal(python.ok && python.value !== null && requestOf(python.value), 'python:a>=1');
});
