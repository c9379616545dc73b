/**
 * Installs what the machine lacks, and says so: bubblewrap, which builds the sandboxes, for `npm run formal` also SPIN
 * with a C compiler, and for `npm run setup:servers` the servers that some tests need. Runs before `npm start`, `npm test` and
 * `npm run formal`; does nothing when nothing is missing.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const APT = '/usr/bin/apt-get';

/** A program that somebody else packages. */
interface Tool {
  readonly packages: readonly string[];
  readonly isMissing: () => boolean;
  /** What does not work without it. */
  readonly lack: string;
  /** Whether to go on without it. */
  readonly isOptional: boolean;
}

const BUBBLEWRAP: Tool = {
  packages: ['bubblewrap'],
  isMissing: () => !existsSync('/usr/bin/bwrap'),
  lack: 'without it no app is started',
  isOptional: true,
};
const SPIN: Tool = {
  packages: ['spin', 'gcc', 'libc6-dev'],
  isMissing: () => !answers('spin', '-V') || !answers('gcc', '--version'),
  lack: 'without them no model is checked',
  isOptional: false,
};

const SERVERS: Tool = {
  packages: [
    'dovecot-imapd',
    'python3-aiosmtpd',
    'postgresql',
    'redis-server',
    'openssh-server',
    'openssh-client',
  ],
  isMissing: () =>
    [
      '/usr/sbin/dovecot',
      '/usr/lib/python3/dist-packages/aiosmtpd',
      '/usr/lib/postgresql',
      '/usr/bin/redis-server',
      '/usr/sbin/sshd',
    ].some((path) => !existsSync(path)),
  lack: 'without them tests of mail, databases and SSH are skipped',
  isOptional: true,
};
const TOOLS: ReadonlyMap<string | undefined, Tool> = new Map([
  ['spin', SPIN],
  ['servers', SERVERS],
]);

function main(wanted: string | undefined): number {
  if (process.platform !== 'linux' && wanted === undefined) {
    console.error('cordon: apps run only on Linux so far; `cordon doctor` says more.');
    return 0;
  }
  return provide(TOOLS.get(wanted) ?? BUBBLEWRAP);
}

function provide({ packages, isMissing, lack, isOptional }: Tool): number {
  if (!isMissing()) return 0;
  const names = packages.join(' ');
  const isRoot = process.getuid?.() === 0;
  if (!isRoot || !existsSync(APT)) {
    const command = existsSync(APT)
      ? `sudo apt-get install -y ${names}`
      : `your package manager's \`install ${names}\``;
    console.error(`cordon: ${names} missing; ${lack}. Install with: ${command}`);
    return isOptional ? 0 : 2;
  }
  console.error(
    `cordon: ${names} missing, and this is root on a machine with apt: running apt-get install ${names}`,
  );
  return install(packages) ? 0 : 1;
}

function answers(program: string, flag: string): boolean {
  return spawnSync(program, [flag], { stdio: 'ignore' }).error === undefined;
}

/** The package lists of a fresh machine are empty or old, so a failed install is tried again after an update. */
function install(packages: readonly string[]): boolean {
  const apt = (...args: string[]) =>
    spawnSync(APT, ['-q', '-y', ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    }).status === 0;
  const installed =
    apt('install', '--no-install-recommends', ...packages) ||
    (apt('update') && apt('install', '--no-install-recommends', ...packages));
  const names = packages.join(' ');
  console.error(
    installed
      ? `cordon: ${names} installed`
      : `cordon: installing ${names} failed; see above, then try \`apt-get install ${names}\` by hand`,
  );
  return installed;
}

process.exitCode = main(process.argv[2]);
