/**
 * Real servers from Debian's packages, on loopback and in a folder of a test: mail, databases, SSH. `npm run setup:servers` installs
 * them; where one is missing, a test says so and is skipped. Root starts them as `nobody`, except SSH, which logs root in.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { CERTIFICATE, CERTIFICATE_KEY } from './certificate.ts';

const DOVECOT = '/usr/sbin/dovecot';
const SSHD = '/usr/sbin/sshd';
const REDIS = '/usr/bin/redis-server';
const PYTHON = '/usr/bin/python3';
const POSTGRES_FOLDER = '/usr/lib/postgresql';

/** `psql` itself; the one in /usr/bin is a script that looks for a cluster of the machine. Null: there is none. */
export function postgresProgram(name: 'initdb' | 'postgres' | 'psql'): string | null {
  if (!existsSync(POSTGRES_FOLDER)) return null;
  const found = readdirSync(POSTGRES_FOLDER).map((version) => join(POSTGRES_FOLDER, version, 'bin', name));
  return found.find((path) => existsSync(path)) ?? null;
}

export type ServerKind = 'mail' | 'database' | 'redis' | 'ssh';

/** Whether this machine has no such server. The test is reported as skipped then, with the reason. */
export function isLacking(t: TestContext, kind: ServerKind): boolean {
  const lack = lackOf(kind);
  if (lack !== null) t.skip(lack);
  return lack !== null;
}

/** Why there is no such server on this machine; null: there is one. */
function lackOf(kind: ServerKind): string | null {
  switch (kind) {
    case 'mail':
      if (!existsSync(DOVECOT)) return 'dovecot-imapd is not installed';
      return spawnSync(PYTHON, ['-c', 'import aiosmtpd']).status === 0
        ? null
        : 'python3-aiosmtpd is not installed';
    case 'database':
      return postgresProgram('postgres') === null ? 'postgresql is not installed' : null;
    case 'redis':
      return existsSync(REDIS) ? null : 'redis-server is not installed';
    case 'ssh':
      return existsSync(SSHD) ? null : 'openssh-server is not installed';
  }
}

export interface MailServer {
  /** In the clear, with STARTTLS. */
  readonly imap: number;
  readonly imaps: number;
  readonly smtps: number;
  /** Puts a mail into the inbox. */
  readonly deliver: (mail: string) => void;
  /** All mails in the inbox. */
  readonly inbox: () => readonly string[];
}

/** Any user, with the password `secret`, has the one mailbox; what is sent arrives there, too. */
export async function startMail(context: TestContext): Promise<MailServer> {
  const home = new Home(context);
  const { folder } = home;
  const [imap, imaps, smtps] = [await freePort(), await freePort(), await freePort()];
  const mail = join(folder, 'mail');
  for (const name of ['run', 'state', 'mail', 'mail/cur', 'mail/new', 'mail/tmp'])
    mkdirSync(join(folder, name));
  const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')];
  writeFileSync(certificate, CERTIFICATE);
  writeFileSync(key, CERTIFICATE_KEY);
  const configuration = join(folder, 'dovecot.conf');
  writeFileSync(configuration, dovecot(folder, certificate, key, imap, imaps));
  own(folder);
  home.run(DOVECOT, ['-F', '-c', configuration]);
  const listens = ['-n', '-l', `127.0.0.1:${smtps}`, '--smtpscert', certificate, '--smtpskey', key];
  home.run(PYTHON, ['-m', 'aiosmtpd', ...listens, '-c', 'aiosmtpd.handlers.Mailbox', mail]);
  for (const port of [imap, imaps, smtps]) await listening(port);
  let count = 0;
  const deliver = (text: string) => {
    const name = `1000000000.${++count}.test`;
    writeFileSync(join(mail, 'tmp', name), text.replaceAll(/\r?\n/g, '\r\n'));
    cpSync(join(mail, 'tmp', name), join(mail, 'new', name));
    own(join(mail, 'new'));
  };
  const inbox = () =>
    ['new', 'cur'].flatMap((name) =>
      readdirSync(join(mail, name)).map((file) => readFileSync(join(mail, name, file), 'utf8')),
    );
  return { imap, imaps, smtps, deliver, inbox };
}

function dovecot(folder: string, certificate: string, key: string, imap: number, imaps: number): string {
  const { name, uid, gid } = identity();
  return `protocols = imap
listen = 127.0.0.1
base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = ${folder}/log
default_login_user = ${name}
default_internal_user = ${name}
default_internal_group = ${groupOf(gid)}
first_valid_uid = 1
first_valid_gid = 1
mail_location = maildir:${folder}/mail
mailbox_list_index = no
ssl = yes
ssl_cert = <${certificate}
ssl_key = <${key}
disable_plaintext_auth = no
passdb {
  driver = static
  args = password=secret
}
userdb {
  driver = static
  args = uid=${uid} gid=${gid} home=${folder}/mail
}
service anvil {
  chroot =
}
service imap-login {
  chroot =
  inet_listener imap {
    port = ${imap}
  }
  inet_listener imaps {
    port = ${imaps}
    ssl = yes
  }
}
`;
}

/** A database cluster whose user `me` needs no password. The port. */
export async function startPostgres(context: TestContext): Promise<number> {
  const home = new Home(context);
  const { folder } = home;
  own(folder);
  const data = join(folder, 'data');
  const [initdb, postgres] = [postgresProgram('initdb') ?? '', postgresProgram('postgres') ?? ''];
  const made = spawnSync(
    initdb,
    ['-D', data, '-U', 'me', '-A', 'trust', '--no-sync', '-E', 'UTF8', '--locale=C'],
    {
      cwd: folder,
      ...credentials(),
    },
  );
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  const port = await freePort();
  const settings = { listen_addresses: '127.0.0.1', unix_socket_directories: '', fsync: 'off' };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  home.run(postgres, ['-D', data, '-p', String(port), ...options]);
  await listening(port);
  return port;
}

/** A server for the one who starts it: without a password, and at one address of the machine. */
export async function startRedis(context: TestContext, address: string): Promise<number> {
  const home = new Home(context);
  own(home.folder);
  const port = await freePort();
  const options = { port: String(port), bind: address, 'protected-mode': 'no', save: '', dir: home.folder };
  home.run(
    REDIS,
    Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]),
  );
  await listening(port, address);
  return port;
}

export interface SshServer {
  readonly port: number;
  readonly user: string;
  /** A folder that everybody can read, with `key` and `known_hosts` for the name. */
  readonly keys: string;
}

/** Whoever has `key` may log in as the user of the test. `name`: how the client calls the server. */
export async function startSsh(context: TestContext, name: string): Promise<SshServer> {
  const home = new Home(context);
  const { folder } = home;
  const port = await freePort();
  const keys = join(folder, 'keys');
  mkdirSync(keys);
  for (const path of [join(folder, 'host'), join(keys, 'key')])
    spawnSync('/usr/bin/ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', path]);
  chmodSync(join(keys, 'key'), 0o644); // whoever is not its owner may read it
  cpSync(join(keys, 'key.pub'), join(folder, 'authorized'));
  const [, kind, key] = /^(\S+) (\S+)/.exec(readFileSync(join(folder, 'host.pub'), 'utf8')) ?? [];
  writeFileSync(join(keys, 'known_hosts'), `${name} ${kind} ${key}\n`);
  const options = {
    HostKey: join(folder, 'host'),
    AuthorizedKeysFile: join(folder, 'authorized'),
    ListenAddress: `127.0.0.1:${port}`,
    PidFile: 'none',
    UsePAM: 'no',
    StrictModes: 'no',
    PermitRootLogin: 'yes',
  };
  if (isRoot()) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
  const given = Object.entries(options).flatMap(([option, value]) => ['-o', `${option}=${value}`]);
  home.run(SSHD, ['-D', '-e', '-f', '/dev/null', ...given], {});
  await listening(port);
  return { port, user: userInfo().username, keys };
}

const NOBODY = { name: 'nobody', uid: 65_534, gid: 65_534 } as const;

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

function identity(): { readonly name: string; readonly uid: number; readonly gid: number } {
  const { username: name, uid, gid } = userInfo();
  return isRoot() ? NOBODY : { name, uid, gid };
}

function groupOf(gid: number): string {
  const [, name = 'nogroup'] =
    new RegExp(`^([^:]+):[^:]*:${gid}:`, 'm').exec(readFileSync('/etc/group', 'utf8')) ?? [];
  return name;
}

function credentials(): { readonly uid?: number; readonly gid?: number } {
  return isRoot() ? { uid: NOBODY.uid, gid: NOBODY.gid } : {};
}

/** A folder and the servers in it, which are gone after the test. */
class Home {
  readonly folder = mkdtempSync(join(tmpdir(), 'cordon-server-'));
  readonly #servers: ChildProcess[] = [];

  constructor(context: TestContext) {
    chmodSync(this.folder, 0o755);
    context.after(async () => {
      await Promise.all(this.#servers.map(ended));
      rmSync(this.folder, { recursive: true, force: true, maxRetries: 10 });
    });
  }

  run(program: string, args: readonly string[], who = credentials()): void {
    this.#servers.push(spawn(program, args, { stdio: 'ignore', cwd: '/', ...who }));
  }
}

function own(folder: string): void {
  const { uid, gid } = identity();
  if (!isRoot()) return;
  chownSync(folder, uid, gid);
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    chownSync(join(folder, name), uid, gid);
}

function ended(child: ChildProcess): Promise<unknown> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), 5_000);
  return exited.finally(() => clearTimeout(late));
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Waits until somebody listens; the test runner ends a test for which nobody does. */
async function listening(port: number, address = '127.0.0.1'): Promise<void> {
  for (;;) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, address, () => resolve(true)).on('error', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
