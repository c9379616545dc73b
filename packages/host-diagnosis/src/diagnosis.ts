/**
 * Why this machine refuses a sandbox, and what to do about it. `readFacts` looks at the machine; `diagnose` is a pure
 * function of these facts and of what bubblewrap said, so that every situation can be tried from a recording of it.
 *
 * It explains a refusal to a person and decides nothing.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { release } from 'node:os';
import type { Diagnosis, HostProblem } from '@cordon/sandbox';

/** What is read off a machine; null: it does not say. */
export interface HostFacts {
  /** `6.8.0-45-generic` */
  readonly release: string;
  /** `/proc/version` */
  readonly version: string | null;
  readonly user: number;
  /** Files below /proc/sys, without line end. */
  readonly settings: Settings;
  /** `/proc/self/uid_map`, in single spaces: `0 0 4294967295` outside of every user namespace. */
  readonly userMap: string | null;
  /** Of `/proc/self/status`: `2`, a filter is in force already. */
  readonly seccomp: string | null;
  /** Of `/proc/self/status`, in hexadecimal. */
  readonly capabilities: string | null;
  /** What AppArmor or SELinux call this process. */
  readonly confinement: string | null;
  readonly selinux: 'enforcing' | 'permissive' | null;
  readonly container: Container | null;
  /** `ID` and `ID_LIKE` of os-release(5): `ubuntu debian`. */
  readonly distribution: string;
  readonly hasUserNamespaces: boolean;
  /** Whether bubblewrap, where it is, takes root's rights at its start. */
  readonly isSetuid: boolean;
}

const SETTINGS = [
  'user/max_user_namespaces',
  'kernel/unprivileged_userns_clone',
  'kernel/apparmor_restrict_unprivileged_userns',
] as const;
type Settings = Readonly<Record<(typeof SETTINGS)[number], string | null>>;

export type Container = 'docker' | 'podman' | 'kubernetes' | 'lxc' | 'container';

/** What hinders the sandbox here, and the remedy. For `openSandbox`. */
export function explainHost(problem: HostProblem): Diagnosis | null {
  switch (problem.kind) {
    case 'refused':
      return diagnose(readFacts(problem.bwrap), problem.said);
    case 'missing-program': {
      const command = installCommand(readFacts(null).distribution, problem.package);
      return { why: `${problem.package} is not installed`, remedy: `run \`${command}\` as root` };
    }
    case 'unsupported-system':
      return unsupportedSystem(problem.platform, problem.architecture);
  }
}

/** Looks at files only and starts nothing. What cannot be read is null, and then suspected of nothing. */
export function readFacts(bwrap: string | null): HostFacts {
  const status = textOf('/proc/self/status') ?? '';
  const field = (name: string) => new RegExp(`^${name}:\\s*(\\S+)`, 'm').exec(status)?.[1] ?? null;
  const enforces = textOf('/sys/fs/selinux/enforce');
  return {
    release: release(),
    version: textOf('/proc/version'),
    user: process.getuid?.() ?? -1,
    settings: Object.fromEntries(SETTINGS.map((name) => [name, textOf(`/proc/sys/${name}`)])) as Settings,
    userMap: textOf('/proc/self/uid_map')?.replace(/\s+/g, ' ') ?? null,
    seccomp: field('Seccomp'),
    capabilities: field('CapEff'),
    confinement: textOf('/proc/self/attr/apparmor/current') ?? textOf('/proc/self/attr/current'),
    selinux: enforces === null ? null : enforces === '1' ? 'enforcing' : 'permissive',
    container: containerOf(),
    distribution: distributionOf(textOf('/etc/os-release') ?? textOf('/usr/lib/os-release') ?? ''),
    hasUserNamespaces: existsSync('/proc/self/ns/user'),
    isSetuid: bwrap !== null && isSetuid(bwrap),
  };
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'latin1').replaceAll('\0', '').trim();
  } catch {
    return null;
  }
}

function isSetuid(path: string): boolean {
  try {
    return (statSync(path).mode & 0o4000) !== 0;
  } catch {
    return false;
  }
}

/** Marks that the engines leave; `/run/systemd/container` is systemd's name for any other. */
function containerOf(): Container | null {
  if (existsSync('/run/secrets/kubernetes.io')) return 'kubernetes';
  if (existsSync('/run/.containerenv')) return 'podman';
  if (existsSync('/.dockerenv')) return 'docker';
  const named = textOf('/run/systemd/container');
  if (named === null) return null;
  return named === 'lxc' || named === 'podman' || named === 'docker' ? named : 'container';
}

function distributionOf(text: string): string {
  const value = (key: string) => new RegExp(`^${key}="?([^"\\n]*)"?$`, 'm').exec(text)?.[1] ?? '';
  return `${value('ID')} ${value('ID_LIKE')}`.trim().toLowerCase();
}

/** What is wrong, as the facts and what bubblewrap said (in one line) tell. */
interface Situation {
  readonly applies: (facts: HostFacts, said: string) => boolean;
  readonly why: Told;
  readonly remedy: Told;
}

type Told = string | ((facts: HostFacts, said: string) => string);

/** The first that fits counts, so the surest signs come first. `said`: what bubblewrap said, in one line. */
export function diagnose(facts: HostFacts, said: string): Diagnosis | null {
  const found = SITUATIONS.find(({ applies }) => applies(facts, said));
  if (found === undefined) return null;
  const told = (text: Told) => (typeof text === 'string' ? text : text(facts, said));
  return { why: told(found.why), remedy: told(found.remedy) };
}

/** Refused to make a namespace, or to use one that was made. */
const NAMESPACE_REFUSED =
  /namespace|uid map|RTM_NEWADDR|setgroups|Operation not permitted|Permission denied|clone|unshare/i;

const NO_ROOM = /nesting depth|ENOSPC|No space left/i;
const UNKNOWN_OPTION = /Unknown option (--[a-z-]+)/i;
const NEWER_BUBBLEWRAP =
  'build 0.10 or newer from https://github.com/containers/bubblewrap and install it as /usr/bin/bwrap';
const APPARMOR_PROFILE =
  'abi <abi/4.0>, include <tunables/global> profile bwrap /usr/bin/bwrap flags=(unconfined) { userns, }';

const INSIDE_ANOTHER = {
  why: 'Cordon runs in another sandbox, which allows no further one in it',
  remedy:
    'run Cordon outside of that sandbox (bubblewrap: without `--disable-userns`; Flatpak: `flatpak-spawn --host`)',
};

function isInsideNamespace({ userMap }: HostFacts): boolean {
  return userMap !== null && userMap !== '0 0 4294967295';
}

const SITUATIONS: readonly Situation[] = [
  {
    applies: ({ release }) => /-Microsoft$/.test(release),
    why: 'this is WSL 1, which has no namespaces',
    remedy: 'in Windows, run `wsl --set-version NAME 2`, with the name that `wsl -l -v` shows',
  },
  {
    // gVisor's kernel gives every machine the same name and birthday.
    applies: ({ version }) =>
      version !== null && /^Linux version 4\.4\.0 .*(gvisor|Sun Jan 10 15:06:54 PST 2016)/i.test(version),
    why: 'this is gVisor, whose kernel lacks parts that the sandbox is made of',
    remedy: 'start the container with another runtime: `--runtime runc`, or run Cordon outside of it',
  },
  {
    // Node 24 itself wants 4.18; SECCOMP_RET_KILL_PROCESS came with 4.14.
    applies: ({ release }) => {
      const [, major, minor] = /^(\d+)\.(\d+)/.exec(release) ?? [];
      return major !== undefined && Number(major) * 1000 + Number(minor) < 4018;
    },
    why: ({ release }) =>
      `the kernel, ${release}, is older than 4.18 and has not every system call that the sandbox needs`,
    remedy: 'update the system to one with a newer kernel',
  },
  {
    // bubblewrap says `Unknown option --disable-userns`. Which version has what: its NEWS.md.
    applies: (_, said) => UNKNOWN_OPTION.test(said),
    why: (_, said) => `the installed bubblewrap is too old: it has no \`${UNKNOWN_OPTION.exec(said)?.[1]}\``,
    remedy: ({ distribution }) =>
      distribution.startsWith('debian')
        ? `run \`apt-get update && apt-get install bubblewrap\` as root (Debian 12 has 0.8.0-2+deb12u1), or ${NEWER_BUBBLEWRAP}`
        : `update it (\`${installCommand(distribution, 'bubblewrap')}\` as root) to 0.10 or newer; where that is not to be had, ${NEWER_BUBBLEWRAP}`,
  },
  {
    applies: ({ isSetuid }, said) => isSetuid && /setuid|privileged|disable-userns|userns/i.test(said),
    why: 'bubblewrap is installed setuid root, and cannot shut the door to further user namespaces then',
    remedy:
      'run `chmod u-s /usr/bin/bwrap` as root: kernels that let users make namespaces need no setuid bubblewrap',
  },
  {
    applies: ({ hasUserNamespaces }, said) =>
      !hasUserNamespaces || /kernel does not support user namespaces/i.test(said),
    why: 'the kernel was built without user namespaces',
    remedy: 'use a kernel with CONFIG_USER_NS=y, which every large distribution ships',
  },
  {
    applies: (facts, said) =>
      isInsideNamespace(facts) && (facts.settings['user/max_user_namespaces'] === '0' || NO_ROOM.test(said)),
    ...INSIDE_ANOTHER,
  },
  {
    applies: ({ settings }) => settings['user/max_user_namespaces'] === '0',
    why: 'user namespaces are switched off (user.max_user_namespaces is 0)',
    remedy:
      'run `sysctl user.max_user_namespaces=10000` as root, and write it to /etc/sysctl.d/90-cordon.conf to keep it',
  },
  {
    applies: (_, said) => NO_ROOM.test(said),
    why: 'this machine has no room for another namespace',
    remedy:
      'see which program made so many with `lsns`, or raise user.max_user_namespaces with sysctl as root',
  },
  {
    // As root, apps are another user; rootless containers may have too few.
    applies: (facts, said) =>
      facts.user === 0 && isInsideNamespace(facts) && /EINVAL|Invalid argument|setresuid|setpriv/i.test(said),
    why: 'root has too few users here to give apps one of their own',
    remedy:
      'run Cordon as an ordinary user in this container, or give it 65,536 users (/etc/subuid and /etc/subgid)',
  },
  {
    applies: ({ settings, user }) => settings['kernel/unprivileged_userns_clone'] === '0' && user !== 0,
    why: 'user namespaces are reserved for root (kernel.unprivileged_userns_clone is 0)',
    remedy:
      'run `sysctl kernel.unprivileged_userns_clone=1` as root, and write it to /etc/sysctl.d/90-cordon.conf to keep it',
  },
  {
    // Ubuntu since 23.10: namespaces are made, but without rights in them, unless a profile of the program grants it.
    // In a container, the container's profile confines bubblewrap.
    applies: ({ settings, container }, said) =>
      settings['kernel/apparmor_restrict_unprivileged_userns'] === '1' &&
      container === null &&
      NAMESPACE_REFUSED.test(said),
    why: 'AppArmor lets only programs with a profile use user namespaces, and bubblewrap has none',
    remedy: `as root, write \`${APPARMOR_PROFILE}\` to /etc/apparmor.d/bwrap and run \`systemctl reload apparmor\``,
  },
  {
    // An engine covers files of /proc, and the kernel lets nobody mount a /proc that shows more.
    applies: (_, said) => /mount proc/i.test(said),
    why: 'files of /proc are covered here, as container engines do, so no new /proc can be mounted',
    remedy: ({ container }) =>
      `start the container with ${UNMASKED[container ?? 'container']} besides, or run Cordon outside of it`,
  },
  {
    // The filters of Docker and its like refuse `unshare`, `clone` with namespaces, and `mount`.
    applies: ({ container }, said) => container !== null && NAMESPACE_REFUSED.test(said),
    why: ({ container, seccomp }) =>
      `this ${CONTAINER_NAMES[container ?? 'container']} forbids new namespaces${seccomp === '2' ? ' by its system call filter' : ''}`,
    remedy: ({ container, confinement }) => {
      const isAppArmored =
        confinement !== null && /docker-default|containers-default|cri-containerd/.test(confinement);
      return `start it with ${CONTAINER_OPTIONS[container ?? 'container'](isAppArmored)}, or run Cordon outside of it`;
    },
  },
  {
    applies: ({ selinux }, said) => selinux === 'enforcing' && /Permission denied/i.test(said),
    why: 'SELinux is enforcing, and something that bubblewrap needs was refused',
    remedy:
      'see what it was with `ausearch -m avc -c bwrap -ts recent` as root, and allow it with `audit2allow`',
  },
  {
    applies: (_, said) => /PR_SET_SECCOMP|seccomp/i.test(said),
    why: 'the kernel takes no system call filter',
    remedy: 'use a kernel with CONFIG_SECCOMP_FILTER=y, which every large distribution ships',
  },
  {
    applies: (_, said) => /Resource temporarily unavailable|EAGAIN/i.test(said),
    why: 'no more processes may be started: a limit of this user, or of the control group, is reached',
    remedy:
      'see `ulimit -u` and `systemctl status user-$(id -u).slice`, and end what is not needed or raise the limit',
  },
  {
    applies: (_, said) => /pivot_root/i.test(said),
    why: 'the root of this system is a RAM disk or a chroot, which cannot be changed for a process',
    remedy: 'run Cordon in a system that was started from a disk, or in a container',
  },
  { applies: (facts, said) => isInsideNamespace(facts) && NAMESPACE_REFUSED.test(said), ...INSIDE_ANOTHER },
  {
    applies: (_, said) => NAMESPACE_REFUSED.test(said),
    why: 'this machine refuses the namespaces that the sandbox is made of',
    remedy: ({ user }) =>
      `as ${user === 0 ? 'root' : 'your user'}, \`bwrap --unshare-user --unshare-pid --ro-bind / / --proc /proc true\` must work: its message, and \`dmesg\`, say more`,
  },
];

/** What makes an engine leave the files of /proc as they are. */
const UNMASKED: Readonly<Record<Container, string>> = {
  docker: '`--security-opt systempaths=unconfined`',
  podman: '`--security-opt unmask=ALL`',
  kubernetes: '`procMount: Unmasked` in its securityContext',
  lxc: '`--security-opt systempaths=unconfined`',
  container: '`--security-opt systempaths=unconfined`',
};

const CONTAINER_NAMES: Readonly<Record<Container, string>> = {
  docker: 'Docker container',
  podman: 'Podman container',
  kubernetes: 'Kubernetes pod',
  lxc: 'LXC container',
  container: 'container',
};

const CONTAINER_OPTIONS: Readonly<Record<Container, (isAppArmored: boolean) => string>> = {
  docker: (isAppArmored) =>
    `\`--security-opt seccomp=unconfined --security-opt systempaths=unconfined${isAppArmored ? ' --security-opt apparmor=unconfined' : ''}\``,
  podman: () => '`--security-opt seccomp=unconfined --security-opt unmask=ALL --security-opt label=disable`',
  kubernetes: (isAppArmored) =>
    `\`seccompProfile: {type: Unconfined}\`${isAppArmored ? ', `appArmorProfile: {type: Unconfined}`' : ''} and \`procMount: Unmasked\` in its securityContext`,
  lxc: () =>
    '`lxc.apparmor.profile = generated` and `lxc.apparmor.allow_nesting = 1` (Incus, LXD: `security.nesting=true`)',
  container: () => 'nesting allowed and without a system call filter',
};

/** A system on which there is nothing to try. Both as Node names them. */
export function unsupportedSystem(platform: string, architecture: string): Diagnosis {
  if (platform === 'win32')
    return {
      why: 'there is no sandbox for Windows, so no app can run here',
      remedy: 'install Linux in it with `wsl --install` (WSL 2), and run Cordon there',
    };
  if (platform === 'linux')
    return {
      why: `there is no system call filter for ${architecture}, so no app can run here`,
      remedy: 'run Cordon with a 64-bit Node on x86-64 or arm64',
    };
  return {
    why: `there is no sandbox for ${platform}, so no app can run here`,
    remedy: 'run Cordon on Linux (x86-64 or arm64), for instance in a virtual machine',
  };
}

const INSTALLERS: readonly (readonly [distribution: RegExp, command: string])[] = [
  [/\b(debian|ubuntu)\b/, 'apt-get install'],
  [/\b(fedora|rhel|centos)\b/, 'dnf install'],
  [/\b(suse|opensuse)\b/, 'zypper install'],
  [/\barch\b/, 'pacman -S'],
  [/\balpine\b/, 'apk add'],
  [/\bgentoo\b/, 'emerge'],
  [/\bvoid\b/, 'xbps-install'],
];

/** The command that installs a package here, to be run as root. */
export function installCommand(distribution: string, name: string): string {
  const [, command] = INSTALLERS.find(([pattern]) => pattern.test(distribution)) ?? [];
  return command === undefined ? `the package manager’s command for ${name}` : `${command} ${name}`;
}
