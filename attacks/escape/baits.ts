/**
 * What the suite lays out on the host for the attempts to find: files, servers, sockets, memory. Nothing of it is
 * the user's; all of it goes away with `close`.
 */
import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { homedir, hostname } from 'node:os';
import { join } from 'node:path';
import { BAIT, type Baits } from './attempt.ts';

export interface LaidBaits {
  readonly baits: Baits;
  /** Of the host: what an app's sandbox gets as its own. */
  readonly code: string;
  /** Folders of apps are made in here. */
  readonly states: string;
  readonly tools: string;
  close(): Promise<void>;
}

/** In the home, because that is what sandboxes are told to hide; with a name that shows whose it is. */
export async function layBaits(): Promise<LaidBaits> {
  const base = mkdtempSync(join(realpathSync(homedir()), '.cordon-attack-'));
  const made: (() => unknown)[] = [() => rmSync(base, { recursive: true, force: true, maxRetries: 10 })];
  try {
    return await layIn(base, made);
  } catch (error) {
    await closeAll(made);
    throw error;
  }
}

async function layIn(base: string, made: (() => unknown)[]): Promise<LaidBaits> {
  const home = join(base, 'home');
  const folder = (path: string, mode: number) => {
    mkdirSync(path, { recursive: true });
    chmodSync(path, mode);
    return path;
  };
  const file = (path: string, content: string, mode: number) => {
    folder(join(path, '..'), 0o700);
    writeFileSync(path, content, { mode });
  };
  file(join(home, '.ssh', 'id_ed25519'), BAIT, 0o600);
  file(join(home, 'data', 'journal.sqlite'), BAIT, 0o600);
  file(join(home, 'data', 'apps', 'other', 'state.json'), BAIT, 0o600);
  const code = folder(join(base, 'code'), 0o755);
  writeFileSync(join(code, 'note.txt'), 'a note', { mode: 0o644 });
  const pipe = join(code, 'pipe');
  spawnSync('/usr/bin/mkfifo', [pipe]);
  chmodSync(pipe, 0o666);
  const states = folder(join(base, 'states'), 0o755);
  const tools = folder(join(base, 'tools'), 0o755);

  const answer = (socket: Socket) => socket.on('error', () => {}).end(BAIT);
  const servers = [createServer(answer), createServer(answer), createServer(answer), createServer(answer)];
  const [tcp, byPath, abstract, inCode] = servers;
  made.push(...servers.map((server) => () => server.close()));
  const tcpPort = await listen(tcp, { port: 0, host: '::' }).catch(() =>
    listen(tcp, { port: 0, host: '127.0.0.1' }),
  );
  const socket = join(home, 'agent.sock');
  await listen(byPath, { path: socket });
  chmodSync(socket, 0o600);
  await listen(inCode, { path: join(code, 'agent.sock') });
  chmodSync(join(code, 'agent.sock'), 0o666);
  const abstractSocket = `cordon-attack-${process.pid}`;
  await listen(abstract, { path: `\0${abstractSocket}` });

  const names = createSocket('udp4');
  names.on('message', (_message, from) => names.send(BAIT, from.port, from.address));
  names.on('error', () => {});
  made.push(() => names.close());
  const udpPort = await new Promise<number>((resolve) =>
    names.bind(0, '127.0.0.1', () => resolve(names.address().port)),
  );
  const sharedMemory = makeSharedMemory(made);
  const baits: Baits = {
    home,
    socket,
    abstractSocket,
    tcpPort,
    udpPort,
    hub: process.pid,
    group: groupOf(),
    namespaces: Object.fromEntries(
      ['cgroup', 'net', 'ipc', 'pid', 'user', 'mnt'].map((name) => [
        name,
        readlinkSync(`/proc/self/ns/${name}`),
      ]),
    ),
    hostname: hostname(),
    sharedMemory,
  };
  return { baits, code, states, tools, close: () => closeAll(made) };
}

async function closeAll(made: readonly (() => unknown)[]): Promise<void> {
  for (const undo of [...made].reverse()) await undo();
}

function listen(
  server: Server | undefined,
  where: { path: string } | { port: number; host: string },
): Promise<number> {
  return new Promise((resolve, reject) => {
    if (server === undefined) return reject(new Error('there is no server'));
    server.once('error', reject);
    server.listen(where, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}

/** util-linux makes the segment, readable for everybody, as careless programs do. */
function makeSharedMemory(made: (() => unknown)[]): number | null {
  const { stdout, status } = spawnSync('/usr/bin/ipcmk', ['--shmem', '4096', '--mode', '0666'], {
    encoding: 'utf8',
  });
  const [, id] = /: (\d+)\s*$/.exec(stdout ?? '') ?? [];
  if (status !== 0 || id === undefined) return null;
  made.push(() => spawnSync('/usr/bin/ipcrm', ['--shmem-id', id]));
  const { stdout: list } = spawnSync('/usr/bin/ipcs', ['--shmems'], { encoding: 'utf8' });
  const [, key] = new RegExp(`^(0x[0-9a-f]+)\\s+${id}\\s`, 'm').exec(list ?? '') ?? [];
  return key === undefined ? null : Number(key) | 0;
}

function groupOf(): number {
  const { stdout } = spawnSync('/bin/sh', ['-c', 'cut -d" " -f5 /proc/$PPID/stat'], { encoding: 'utf8' });
  return Number(stdout.trim());
}
