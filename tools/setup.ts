/**
 * Installs what the machine lacks, and says so: today that is bubblewrap, which builds the sandboxes. Runs before
 * `npm start` and `npm test`; does nothing when nothing is missing.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const BUBBLEWRAP = '/usr/bin/bwrap';
const APT = '/usr/bin/apt-get';

function main(): number {
  if (process.platform !== 'linux') {
    console.error('cordon: apps run only on Linux so far; `cordon doctor` says more.');
    return 0;
  }
  if (existsSync(BUBBLEWRAP)) return 0;
  const isRoot = process.getuid?.() === 0;
  if (!isRoot || !existsSync(APT)) {
    const command = existsSync(APT)
      ? 'sudo apt-get install -y bubblewrap'
      : "your package manager's `install bubblewrap`";
    console.error(`cordon: bubblewrap is missing; without it no app is started. Install it with: ${command}`);
    return 0;
  }
  console.error(
    'cordon: bubblewrap is missing, and this is root on a machine with apt: running apt-get install bubblewrap',
  );
  return install() ? 0 : 1;
}

/** The package lists of a fresh machine are empty or old, so a failed install is tried again after an update. */
function install(): boolean {
  const apt = (...args: string[]) =>
    spawnSync(APT, ['-q', '-y', ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    }).status === 0;
  const installed =
    apt('install', '--no-install-recommends', 'bubblewrap') ||
    (apt('update') && apt('install', '--no-install-recommends', 'bubblewrap'));
  console.error(
    installed
      ? 'cordon: bubblewrap is installed'
      : 'cordon: installing bubblewrap failed; see above, then try `apt-get install bubblewrap` by hand',
  );
  return installed;
}

process.exitCode = main();
