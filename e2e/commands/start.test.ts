/**
 * What stands before the prompt of `cordon chat` and what is loaded behind it: whatever a user can get wrong is told
 * before, and where the rest cannot be put together, nothing is served.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isLeftOut } from '../../tools/cases.ts';
import { EXAMPLES, Home, object, ofKind, type Printed, REPOSITORY } from '../harness/cordon.ts';

const PROMPT = 'cordon> ';
const QUERY = 'Summarize the newest email for me.\n';
const CHAT = ['chat', '--config', EXAMPLES];

for (const [what, args, told] of [
  ['a policy of the user', ['--policy', 'mine.gr'], /mine\.gr:\d+/],
  ['a model', ['--model', 'nobody/nothing'], /nobody/],
  ['a session to resume', ['--resume', 'nobody'], /there is no session `nobody`/],
] as const) {
  test(`${what} that cannot be used is told, and there is no prompt`, async () => {
    using home = new Home();
    home.write('mine.gr', 'raise "keys" if:\n    call is tool:send\n');
    const { code, stderr } = await home.run([...CHAT, ...args], { input: QUERY });
    assert.equal(code, 2);
    assert.match(stderr, told);
    assert.ok(!stderr.includes(PROMPT), stderr);
  });
}

/** The program as it was unpacked elsewhere, with this text instead of a ready-made policy. */
function programWith(home: Home, secrets: string): string {
  const folder = join(home.root, 'program');
  for (const part of ['packages', 'policies'])
    cpSync(join(REPOSITORY, part), join(folder, part), { recursive: true });
  const modules = join(REPOSITORY, 'node_modules');
  // The links to our own packages are relative, so that copies of them lead to the copied packages.
  cpSync(join(modules, '@cordon'), join(folder, 'node_modules/@cordon'), {
    recursive: true,
    verbatimSymlinks: true,
  });
  for (const name of readdirSync(modules).filter((name) => name !== '@cordon'))
    symlinkSync(join(modules, name), join(folder, 'node_modules', name));
  writeFileSync(join(folder, 'policies/secrets.gr'), secrets);
  return join(folder, 'packages/cli/bin/cordon');
}

for (const [what, secrets, status, heard] of [
  ['does not load, as after half an update', 'raise "secrets" if:\n', 2, 0],
  ['loads', 'raise "secrets" if:\n    (call: ToolCall)\n    call is tool:frobnicate\n', 0, 1],
] as const) {
  test(`where a ready-made policy ${what}, a query that was typed already is ${heard === 0 ? 'not ' : ''}served`, (t) => {
    if (isLeftOut(t)) return;
    using home = new Home();
    const options = { env: home.environment(), input: QUERY, encoding: 'utf8', timeout: 300_000 } as const;
    const run = spawnSync(programWith(home, secrets), [...CHAT, '--pin-unseen', '--json'], options);
    assert.equal(run.status, status, run.stderr);
    const printed = run.stdout
      .trim()
      .split('\n')
      .map((line): Printed => object(JSON.parse(line)));
    assert.equal(ofKind(printed, 'session.ended').length, 1);
    assert.equal(ofKind(printed, 'user.message').length, heard);
    assert.equal(/secrets\.gr/.test(run.stderr), heard === 0, run.stderr);
  });
}
