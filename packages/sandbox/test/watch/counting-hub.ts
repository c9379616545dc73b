/** A hub for tests: `CACHE_FILE FOLDER`. Its app has two processes, each of which appends to a file of the folder, for a minute. */
import { checkPath, openSandbox } from '../../src/index.ts';
import { script } from '../specs.ts';

const [cacheFile = '', path = ''] = process.argv.slice(2);
const host = checkPath(path);
if (!host.ok) throw new Error(host.fault.message);
const count = (
  which: number,
) => `setInterval(() => require('node:fs').appendFileSync('/counts/${which}', '.'), 20);
  setTimeout(() => process.exit(), 60_000);`;
const wanted = script(
  `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(count(2))}], { detached: true });
  ${count(1)}`,
  { mounts: [{ host: host.value, inside: '/counts', access: 'write' }] },
);
const started = await openSandbox({ node: process.execPath, cacheFile }).spawn(
  wanted,
  new AbortController().signal,
);
if (!started.ok) throw new Error(started.fault.message);
