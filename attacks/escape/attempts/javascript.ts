/** What an app in JavaScript that was granted nothing cannot do, while other programs may. */
import type { Attempt } from '../attempt.ts';
import { node, reads, tries } from './words.ts';

function script(
  id: string,
  title: string,
  code: string,
  twin: Attempt['twin'],
  changes: Pick<Attempt, 'stops' | 'layers'> & Partial<Attempt>,
): Attempt {
  return {
    id: `script-${id}`,
    group: 'javascript',
    title,
    program: () => node(code),
    twin,
    setting: { in: 'javascript' },
    cordonOnly: true,
    ...changes,
  };
}

const DENIED = ['ERR_ACCESS_DENIED'];
const works: Attempt['twin'] = ({ code }) => reads(`${code}/note.txt`);

export const JAVASCRIPT: readonly Attempt[] = [
  script('read', 'reads a file that was not granted', `fs.readFileSync('/etc/passwd'); through()`, works, {
    stops: DENIED,
    layers: ['node-permission'],
  }),
  script(
    'spawn',
    'starts another program',
    `const { error } = require('node:child_process').spawnSync(process.execPath, ['--version']);
      error ? refused(error.code) : through()`,
    works,
    { stops: [...DENIED, 'EPERM'], layers: ['node-permission', 'seccomp'] },
  ),
  script(
    'worker',
    'starts a thread',
    `new (require('node:worker_threads').Worker)('0', { eval: true }).on('exit', () => through()).on('error', (error) => refused(error.code))`,
    works,
    { stops: DENIED, layers: ['node-permission'] },
  ),
  script(
    'addon',
    'loads machine code (dlopen)',
    `try { process.dlopen({ exports: {} }, '/code/note.txt') } catch (error) {
      error.code === 'ERR_DLOPEN_FAILED' ? through() : refused(error.code) }`,
    works,
    { stops: ['ERR_DLOPEN_DISABLED', ...DENIED], layers: ['node-permission'] },
  ),
  script('inspector', 'opens itself to a debugger', `require('node:inspector').open(0); through()`, works, {
    stops: DENIED,
    layers: ['node-permission'],
  }),
  script(
    'unix-socket',
    'opens a Unix socket',
    `require('node:net').createServer().on('error', (error) => refused(error.code)).listen('\\0own', () => through())`,
    () => tries(`require('node:net').createServer().listen(0, '127.0.0.1')`),
    { stops: ['EAFNOSUPPORT'], layers: ['seccomp'] },
  ),
  script(
    'datagrams',
    'opens a UDP socket',
    `require('node:dgram').createSocket('udp4').on('error', (error) => refused(error.code)).bind(0, () => through())`,
    works,
    { stops: ['EAFNOSUPPORT'], layers: ['seccomp'] },
  ),
];
