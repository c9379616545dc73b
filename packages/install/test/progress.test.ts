import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type InstallProgress, ProgressReader } from '../src/progress.ts';

function reader() {
  const told: InstallProgress[] = [];
  let now = 0;
  const progress = new ProgressReader({ now: () => now, onProgress: (next) => told.push(next) });
  const asks = (name: string) =>
    progress.take(`npm http fetch GET 200 https://r.example/${name} 12ms (cache miss)\n`);
  const fetches = (name: string) => asks(`${name}/-/${name}-1.0.0.tgz`);
  return { progress, told, asks, fetches, wait: (milliseconds: number) => (now += milliseconds) };
}

test('packages are counted while they are found, and then while they come, with the time left', () => {
  const { told, asks, fetches, wait } = reader();
  const names = Array.from({ length: 10 }, (_, number) => `p${number}`);
  for (const name of [...names, 'p0']) asks(name);
  assert.deepEqual(told.at(-1), { kind: 'resolving', packages: 10 });
  fetches('p0');
  assert.deepEqual(told.at(-1), { kind: 'fetching', done: 1, total: 10, secondsLeft: null });
  wait(10_000);
  for (const name of names.slice(0, 5)) fetches(name);
  assert.deepEqual(told.at(-1), { kind: 'fetching', done: 5, total: 10, secondsLeft: 10 });
});

test('what npm says of requests and warnings is not passed on, and errors are, however the text is cut', () => {
  const { progress } = reader();
  const said =
    'npm http fetch GET 404 https://r.example/x 2ms\nnpm warn deprecated y\nnpm error code E404\nnpm notice z\nError: last';
  let rest = '';
  for (const character of said) rest += progress.take(character);
  assert.equal(rest + progress.end(), 'npm error code E404\nError: last');
});

// Attack: a line without an end, and lines about packages without number, fill the memory of the hub.
test('a line without an end is cut, and packages are counted up to a limit', () => {
  const { progress, told, asks } = reader();
  for (let times = 0; times < 100; times++) progress.take('x'.repeat(1_000));
  assert.ok(progress.end().length < 10_000);
  progress.take('\n');
  asks('x'.repeat(1_000));
  assert.deepEqual(told, []);
  for (let number = 0; number < 10_010; number++) asks(`p${number}`);
  assert.deepEqual(told.at(-1), { kind: 'resolving', packages: 10_000 });
});
