import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { availableMiB } from '../../src/watch/watchdog.ts';

/** What other programs may take or give back between two looks. */
const SLACK_MIB = 256;

function inMeminfo(name: string): number {
  const found = new RegExp(`^${name}:\\s*(\\d+) kB$`, 'm').exec(readFileSync('/proc/meminfo', 'latin1'));
  return Number(found?.[1]) / 1024;
}

test('what is available is what programs could still get, and not what nobody uses at the moment', (t) => {
  if (process.platform !== 'linux') return t.skip('only Linux tells the two apart');
  const difference = Math.abs(availableMiB() - inMeminfo('MemAvailable'));
  assert.ok(difference < SLACK_MIB, `${difference} MiB apart`);
});
