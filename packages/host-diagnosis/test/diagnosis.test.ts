/**
 * What is told on machines that refuse a sandbox. Facts and words were recorded where that could be done here; the
 * others are those that the systems' own documentation and sources give.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { isLeftOut } from '../../../tools/cases.ts';
import { diagnose, type HostFacts, installCommand, readFacts, unsupportedSystem } from '../src/diagnosis.ts';

/** A machine on which nothing stands in the way. */
const GOOD: HostFacts = {
  release: '6.1.0-28-amd64',
  version: 'Linux version 6.1.0-28-amd64 (debian-kernel@lists.debian.org) (gcc-12) #1 SMP',
  user: 1000,
  settings: {
    'user/max_user_namespaces': '31286',
    'kernel/unprivileged_userns_clone': null,
    'kernel/apparmor_restrict_unprivileged_userns': null,
  },
  userMap: '0 0 4294967295',
  seccomp: '0',
  capabilities: '0000000000000000',
  confinement: 'unconfined',
  selinux: null,
  container: null,
  distribution: 'debian',
  hasUserNamespaces: true,
  isSetuid: false,
};

const setting = (name: keyof HostFacts['settings'], value: string) => ({
  settings: { ...GOOD.settings, [name]: value },
});

const NO_PERMISSION =
  "bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces. On e.g. debian this can be enabled with 'sysctl kernel.unprivileged_userns_clone=1'.";
const NESTING =
  'bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)';

const RECORDED: readonly {
  readonly name: string;
  readonly facts: Partial<HostFacts>;
  readonly said: string;
  readonly why: RegExp;
  readonly remedy: RegExp;
}[] = [
  {
    name: 'Ubuntu 24.04, where the new namespace has no rights',
    facts: {
      ...setting('kernel/apparmor_restrict_unprivileged_userns', '1'),
      release: '6.8.0-45-generic',
      distribution: 'ubuntu debian',
    },
    said: 'bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted',
    why: /^AppArmor lets only programs with a profile use user namespaces/,
    remedy: /profile bwrap \/usr\/bin\/bwrap flags=\(unconfined\) \{ userns, \}.*systemctl reload apparmor/,
  },
  {
    name: 'Ubuntu 24.04, where the map of users is refused',
    facts: { ...setting('kernel/apparmor_restrict_unprivileged_userns', '1'), distribution: 'ubuntu debian' },
    said: 'bwrap: setting up uid map: Permission denied',
    why: /^AppArmor/,
    remedy: /\/etc\/apparmor\.d\/bwrap/,
  },
  {
    name: 'Debian 10 and its switch',
    facts: { ...setting('kernel/unprivileged_userns_clone', '0'), release: '4.19.0-27-amd64' },
    said: NO_PERMISSION,
    why: /^user namespaces are reserved for root \(kernel\.unprivileged_userns_clone is 0\)$/,
    remedy: /`sysctl kernel\.unprivileged_userns_clone=1` as root.*\/etc\/sysctl\.d/,
  },
  {
    name: 'RHEL 7 and hardened systems: none may be made',
    facts: setting('user/max_user_namespaces', '0'),
    said: NESTING,
    why: /^user namespaces are switched off/,
    remedy: /`sysctl user\.max_user_namespaces=10000` as root/,
  },
  {
    name: 'inside another bubblewrap that allows none in it',
    facts: { userMap: '65534 0 1', ...setting('user/max_user_namespaces', '2147483647') },
    said: NESTING,
    why: /^Cordon runs in another sandbox/,
    remedy: /outside of that sandbox/,
  },
  {
    name: 'inside a user namespace of which the limit is 0',
    facts: { userMap: '0 65534 1', ...setting('user/max_user_namespaces', '0') },
    said: NESTING,
    why: /^Cordon runs in another sandbox/,
    remedy: /outside of that sandbox/,
  },
  {
    name: 'Docker with its own filter and profile',
    facts: {
      container: 'docker',
      seccomp: '2',
      user: 0,
      capabilities: '00000000a80425fb',
      confinement: 'docker-default (enforce)',
    },
    said: NO_PERMISSION,
    why: /^this Docker container forbids new namespaces by its system call filter$/,
    remedy:
      /--security-opt seccomp=unconfined --security-opt systempaths=unconfined --security-opt apparmor=unconfined/,
  },
  {
    name: 'Docker without its filter on a host without AppArmor',
    facts: { container: 'docker', user: 0, confinement: null },
    said: "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
    why: /^files of \/proc are covered here/,
    remedy: /`--security-opt systempaths=unconfined` besides/,
  },
  {
    name: 'Docker on Ubuntu: the container is what stands in the way, not the switch of the host',
    facts: {
      container: 'docker',
      seccomp: '2',
      ...setting('kernel/apparmor_restrict_unprivileged_userns', '1'),
    },
    said: NO_PERMISSION,
    why: /^this Docker container/,
    remedy: /seccomp=unconfined/,
  },
  {
    name: 'Podman',
    facts: { container: 'podman', seccomp: '2', userMap: '0 1000 1', selinux: 'enforcing' },
    said: "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
    why: /^files of \/proc are covered here/,
    remedy: /`--security-opt unmask=ALL`/,
  },
  {
    name: 'Podman with SELinux',
    facts: { container: 'podman', selinux: 'enforcing' },
    said: 'bwrap: Failed to make / slave: Permission denied',
    why: /^this Podman container/,
    remedy: /label=disable/,
  },
  {
    name: 'a pod of Kubernetes',
    facts: { container: 'kubernetes', seccomp: '2', confinement: 'cri-containerd.apparmor.d (enforce)' },
    said: NO_PERMISSION,
    why: /^this Kubernetes pod/,
    remedy: /seccompProfile: \{type: Unconfined\}.*appArmorProfile.*procMount: Unmasked/,
  },
  {
    name: 'LXC without nesting',
    facts: { container: 'lxc', userMap: '0 100000 65536' },
    said: 'bwrap: Failed to make / slave: Permission denied',
    why: /^this LXC container/,
    remedy: /security\.nesting=true/,
  },
  {
    name: 'bubblewrap of Ubuntu 22.04',
    facts: { distribution: 'ubuntu debian' },
    said: 'bwrap: Unknown option --disable-userns',
    why: /^the installed bubblewrap is too old: it has no `--disable-userns`$/,
    remedy: /`apt-get install bubblewrap` as root\) to 0\.10 or newer/,
  },
  {
    name: 'bubblewrap of Debian 12 as it was at first',
    facts: {},
    said: 'bwrap: Unknown option --ro-bind-fd',
    why: /no `--ro-bind-fd`$/,
    remedy: /apt-get update && apt-get install bubblewrap.*0\.8\.0-2\+deb12u1/,
  },
  {
    name: 'bubblewrap with the setuid bit',
    facts: { isSetuid: true },
    said: 'bwrap: The --size option is not permitted in setuid mode',
    why: /setuid root/,
    remedy: /`chmod u-s \/usr\/bin\/bwrap` as root/,
  },
  {
    name: 'root of a rootless container with one user',
    facts: { user: 0, userMap: '0 1000 1' },
    said: 'the sandbox could not be started: spawn EINVAL',
    why: /^root has too few users here/,
    remedy: /as an ordinary user.*\/etc\/subuid/,
  },
  {
    name: 'WSL 1',
    facts: { release: '4.4.0-19041-Microsoft', hasUserNamespaces: true },
    said: 'bwrap: Creating new namespace failed: Invalid argument',
    why: /^this is WSL 1/,
    remedy: /wsl --set-version NAME 2/,
  },
  {
    name: 'gVisor',
    facts: {
      release: '4.4.0',
      version: 'Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016',
      container: 'docker',
    },
    said: 'bwrap: prctl(PR_SET_SECCOMP): Invalid argument',
    why: /^this is gVisor/,
    remedy: /--runtime runc/,
  },
  {
    name: 'a kernel of CentOS 7',
    facts: { release: '3.10.0-1160.el7.x86_64', distribution: 'centos rhel fedora' },
    said: NO_PERMISSION,
    why: /^the kernel, 3\.10\.0-1160\.el7\.x86_64, is older than 4\.18/,
    remedy: /newer kernel/,
  },
  {
    name: 'a kernel without user namespaces',
    facts: { hasUserNamespaces: false },
    said: 'bwrap: Creating new namespace failed, likely because the kernel does not support user namespaces. bwrap must be installed setuid on such systems.',
    why: /built without user namespaces/,
    remedy: /CONFIG_USER_NS=y/,
  },
  {
    name: 'a kernel without filters',
    facts: {},
    said: 'bwrap: prctl(PR_SET_SECCOMP): Invalid argument',
    why: /takes no system call filter/,
    remedy: /CONFIG_SECCOMP_FILTER=y/,
  },
  {
    name: 'SELinux on Fedora',
    facts: { selinux: 'enforcing', distribution: 'fedora' },
    said: "bwrap: Can't bind mount /oldroot/usr on /newroot/usr: Permission denied",
    why: /^SELinux is enforcing/,
    remedy: /ausearch -m avc/,
  },
  {
    name: 'a user with as many processes as they may have',
    facts: {},
    said: 'bwrap: Creating new namespace failed: Resource temporarily unavailable',
    why: /no more processes may be started/,
    remedy: /ulimit -u/,
  },
  {
    name: 'a rescue system in memory',
    facts: {},
    said: 'bwrap: pivot_root: Invalid argument',
    why: /RAM disk or a chroot/,
    remedy: /started from a disk/,
  },
  {
    name: 'something that nobody knows',
    facts: {},
    said: NO_PERMISSION,
    why: /^this machine refuses the namespaces/,
    remedy: /as your user, `bwrap --unshare-user .* true` must work/,
  },
];

describe('each situation has its reason and its remedy', () => {
  for (const { name, facts, said, why, remedy } of RECORDED) {
    test(name, () => {
      const diagnosis = diagnose({ ...GOOD, ...facts }, said);
      assert.match(diagnosis?.why ?? 'nothing', why);
      assert.match(diagnosis?.remedy ?? 'nothing', remedy);
    });
  }

  test('WSL 2 and a machine on which something else failed are suspected of nothing', () => {
    const wsl2 = { ...GOOD, release: '5.15.153.1-microsoft-standard-WSL2' };
    for (const facts of [GOOD, wsl2]) {
      assert.equal(diagnose(facts, 'bwrap: execvp /opt/cordon/prlimit: No such file or directory'), null);
      assert.equal(diagnose(facts, ''), null);
    }
  });

  test('root is not told of a switch that does not hold for root', () => {
    const facts = { ...GOOD, user: 0, ...setting('kernel/unprivileged_userns_clone', '0') };
    assert.match(diagnose(facts, NO_PERMISSION)?.why ?? '', /^this machine refuses/);
  });

  test('no sentence breaks the line or the frame it is shown in', () => {
    for (const { facts, said } of RECORDED) {
      const diagnosis = diagnose({ ...GOOD, ...facts }, said);
      assert.match(`${diagnosis?.why}${diagnosis?.remedy}`, /^[\x20-\x7e’]+$/);
    }
  });
});

test('a system without any sandbox is told what would do', () => {
  assert.match(unsupportedSystem('win32', 'x64').remedy, /`wsl --install` \(WSL 2\)/);
  assert.match(unsupportedSystem('linux', 'riscv64').why, /no system call filter for riscv64/);
  assert.match(unsupportedSystem('freebsd', 'x64').why, /no sandbox for freebsd/);
});

test('the package manager is the distribution’s own', () => {
  assert.equal(installCommand('ubuntu debian', 'bubblewrap'), 'apt-get install bubblewrap');
  assert.equal(installCommand('rocky rhel centos fedora', 'bubblewrap'), 'dnf install bubblewrap');
  assert.equal(
    installCommand('opensuse-tumbleweed opensuse suse', 'util-linux'),
    'zypper install util-linux',
  );
  assert.equal(installCommand('arch', 'bubblewrap'), 'pacman -S bubblewrap');
  assert.equal(installCommand('alpine', 'bubblewrap'), 'apk add bubblewrap');
  assert.equal(installCommand('nixos', 'bubblewrap'), 'the package manager’s command for bubblewrap');
});

test('the facts of this machine can be read, and nothing stands in its way', () => {
  const facts = readFacts('/usr/bin/bwrap');
  assert.match(facts.release, /^\d+\.\d+/);
  assert.equal(facts.hasUserNamespaces, true);
  assert.equal(facts.isSetuid, false);
  assert.equal(diagnose(facts, ''), null);
});

/** Machines that lack something, made of this one: the real self-test with a real bubblewrap. */
describe('tried here', () => {
  const isRoot = process.getuid?.() === 0;
  const probe = `
    import { explainHost } from ${JSON.stringify(import.meta.resolve('@cordon/host-diagnosis'))};
    import { openSandbox } from ${JSON.stringify(import.meta.resolve('@cordon/sandbox'))};
    const [bwrap] = process.argv.slice(2);
    const options = { node: process.execPath, bwrap: bwrap ?? null, explain: explainHost };
    const { ready, layers } = await openSandbox(options).probe();
    console.log(JSON.stringify({ ready, bad: layers.filter(({ ok }) => !ok) }));`;
  const asUser = isRoot ? ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'] : [];

  /** What the self-test reports when it is run through these programs. */
  function reported(folder: string, through: readonly string[], bwrap: readonly string[]): string {
    const file = join(folder, 'probe.mts');
    writeFileSync(file, probe);
    const [program = '', ...args] = [...through, process.execPath, '--no-warnings', file, ...bwrap];
    const { stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', env: {}, timeout: 300_000 });
    return stdout === '' ? stderr : stdout;
  }

  function within<T>(use: (folder: string) => T): T {
    const folder = mkdtempSync(join(tmpdir(), 'cordon-diagnosis-'));
    chmodSync(folder, 0o755);
    try {
      return use(folder);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  test('an ordinary user is refused nothing', () => {
    assert.equal(
      within((folder) => reported(folder, asUser, [])),
      '{"ready":true,"bad":[]}\n',
    );
  });

  test('in a sandbox that allows no further one', () => {
    const nested = ['bwrap', '--unshare-user', '--disable-userns', '--dev-bind', '/', '/', '--proc', '/proc'];
    const told = within((folder) => reported(folder, [...asUser, ...nested], []));
    assert.match(told, /"ready":false.*Cordon runs in another sandbox.*ENOSPC.*outside of that sandbox/);
  });

  test('where the number of namespaces is 0', () => {
    const none = 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"';
    const through = [...asUser, 'unshare', '--user', '--map-root-user', 'sh', '-euc', none, 'sh'];
    const told = within((folder) => reported(folder, through, []));
    assert.match(told, /"ready":false.*Cordon runs in another sandbox/);
  });

  test('where files of /proc are covered', (t) => {
    if (isLeftOut(t)) return;
    const drop = 'setpriv --inh-caps=-all --ambient-caps=-all';
    const covered = `mount --bind /dev/null /proc/cpuinfo; exec ${drop} "$@"`;
    const namespaces = [
      'unshare',
      '--user',
      '--map-current-user',
      '--keep-caps',
      '--mount',
      '--pid',
      '--fork',
      '--mount-proc',
    ];
    const told = within((folder) =>
      reported(folder, [...asUser, ...namespaces, 'sh', '-euc', covered, 'sh'], []),
    );
    assert.match(told, /"ready":false.*files of \/proc are covered here/);
  });

  test('with a bubblewrap that is too old', () => {
    const told = within((folder) => {
      const old = join(folder, 'bwrap');
      writeFileSync(old, '#!/bin/sh\necho "bwrap: Unknown option --ro-bind-fd" >&2\nexit 1\n', {
        mode: 0o755,
      });
      return reported(folder, asUser, [old]);
    });
    assert.match(told, /"ready":false.*too old: it has no `--ro-bind-fd`/);
  });

  test('with a bubblewrap that is setuid root', { skip: !isRoot && 'only root makes one' }, () => {
    const told = within((folder) => {
      const bin = join(folder, 'bin');
      mkdirSync(bin);
      const setuid = join(bin, 'bwrap');
      copyFileSync('/usr/bin/bwrap', setuid);
      chmodSync(setuid, 0o4755);
      return reported(folder, asUser, [setuid]);
    });
    assert.match(told, /"ready":false.*bubblewrap is installed setuid root/);
  });
});
