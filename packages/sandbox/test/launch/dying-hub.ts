/** A hub that is killed in the middle of starts: `MARKER CACHE_FILE [CLOSED_FOLDER]`. Begins when it is told to. */
import { checkPath, type Mount, openSandbox } from '../../src/index.ts';
import { script } from '../specs.ts';

const [marker = '', cacheFile = '', closed] = process.argv.slice(2);
const sandbox = openSandbox({ node: process.execPath, cacheFile });
await sandbox.probe();

function mountsOf(folder: string): readonly Mount[] {
  const host = checkPath(folder);
  if (!host.ok) throw new Error(host.fault.message);
  return [{ host: host.value, inside: '/closed', access: 'read' }];
}

const mounts = closed === undefined ? [] : mountsOf(closed);
const wanted = script(`setInterval(() => {}, 1000) // ${marker}`, { mounts });
process.stdout.write('ready\n');
process.stdin.once('data', () => {
  for (let start = 0; start < 3; start++) void sandbox.spawn(wanted, new AbortController().signal);
});
