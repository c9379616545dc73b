/** Programs of the source repository that commands start: what they are handed, and what comes back. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, test } from 'node:test';
import { CODE_ROOT } from '@cordon/config/reading';
import { isLeftOut } from '../../../tools/cases.ts';
import { startedWith } from '../src/commands/source-program.ts';

const folder = mkdtempSync(join(tmpdir(), 'cordon-program-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** A command that starts the program `name` of the folder, as `cordon bench` starts the benchmarks. */
function command(name: string, ...words: readonly string[]): readonly string[] {
  const source = (file: string) => JSON.stringify(join(import.meta.dirname, '../src/commands', file));
  const program = JSON.stringify({ file: relative(CODE_ROOT, join(folder, name)), what: 'the trials' });
  const code = `
    import { runCommand } from ${source('run-command.ts')};
    import { runSourceProgram } from ${source('source-program.ts')};
    await runCommand({}, (around) => runSourceProgram(around, ${program}, ${JSON.stringify(words)}));
  `;
  return ['--no-warnings', '--input-type=module', '-e', code];
}

function started(name: string, ...words: readonly string[]) {
  return spawnSync(process.execPath, command(name, ...words), { encoding: 'utf8', timeout: 300_000 });
}

test('where the sources are absent the command fails, and says where they are', () => {
  const { status, stderr } = started('absent.ts');
  assert.equal(status, 2);
  assert.match(stderr, /the trials are not installed: only the source repository contains them/);
  assert.match(stderr, /help: clone the repository, and run the command there/);
});

test('the program has the streams and the words, options of its own included', () => {
  writeFileSync(join(folder, 'words.ts'), 'console.log(JSON.stringify(process.argv.slice(2)));');
  const { status, stdout } = started('words.ts', 'all', '--quick', '--out', 'a b');
  assert.deepEqual([status, stdout], [0, '["all","--quick","--out","a b"]\n']);
});

for (const [how, code, expected] of [
  ['refuses', 'process.exit(1)', 1],
  ['fails', 'process.exit(2)', 2],
  ['ends with a code that no command has', 'process.exit(7)', 2],
  ['is killed', "process.kill(process.pid, 'SIGKILL')", 2],
] as const)
  test(`a program that ${how} ends the command with ${expected}`, (t) => {
    if (isLeftOut(t, how === 'refuses' || how === 'is killed')) return;
    writeFileSync(join(folder, 'ends.ts'), code);
    assert.equal(started('ends.ts').status, expected);
  });

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  test(`${signal} reaches the program, and the command waits for its end`, async (t) => {
    if (isLeftOut(t, signal === 'SIGTERM')) return;
    const program = `
      process.on('${signal}', () => { console.log('tidied up'); process.exit(1); });
      console.log('ready');
      setInterval(() => undefined, 1_000);
    `;
    writeFileSync(join(folder, 'waits.ts'), program);
    const child = spawn(process.execPath, command('waits.ts'), { stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    child.stdout.on('data', (bytes: Buffer) => {
      said += bytes.toString('utf8');
      if (said === 'ready\n') child.kill(signal);
    });
    const [code] = await once(child, 'close');
    assert.deepEqual([code, said], [1, 'ready\ntidied up\n']);
  });

test('options that `cordon` has read come first, and are none where somebody starts the program by hand', () => {
  assert.deepEqual(startedWith(['{"json":true}', '4']), { options: { json: true }, words: ['4'] });
  assert.deepEqual(startedWith(['4']), { options: {}, words: ['4'] });
  assert.deepEqual(startedWith([]), { options: {}, words: [] });
});
