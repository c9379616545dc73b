/**
 * `npm run attacks:kernel [-- --kernel VMLINUZ --modules DIR] [--only WORDS]`: boots a Linux kernel in QEMU and runs the escape suite
 * and the tests of the sandbox in it, as root and as an ordinary user, with and without the restrictions of Yama and
 * a control group of its own. The guest sees the files of this machine, read-only, below a layer in its memory. Needs
 * what it names when it is missing, and installs nothing.
 */
import { spawn, spawnSync } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

const QEMU = '/usr/bin/qemu-system-x86_64';
const BUSYBOX = ['/usr/bin/busybox', '/bin/busybox'];
/** What a guest needs to see this machine's files; a kernel may have some of them built in. */
const MODULES =
  /^(?:virtio|virtio_ring|virtio_pci|virtio_pci_modern_dev|virtio_pci_legacy_dev|fscache|netfs|9pnet|9pnet_virtio|9p|overlay)\.ko(?:\.\w+)?$/;
const ROOT = resolve(import.meta.dirname, '../..');
/** From the start of QEMU to the first line of `guest.sh`; where KVM does not work, some kernels hang. */
const BOOT_MS = 300_000;
/** For all of it. Without KVM one run of the suite takes ten minutes and more. */
const WHOLE_MS = 4 * 3_600_000;

type Accelerator = 'kvm' | 'tcg';

interface Kernel {
  readonly image: string;
  /** Such as /lib/modules/6.1.0-13-amd64. */
  readonly modules: string;
}

interface Guest {
  readonly kernel: Kernel;
  readonly initramfs: string;
  readonly console: string;
}

async function main(): Promise<number> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({ options: { kernel: text, modules: text, only: text } });
  const { kernel: image, modules } = values;
  if ((image === undefined) !== (modules === undefined))
    throw new Error('--kernel and --modules go together');
  const kernel = image === undefined || modules === undefined ? installedKernel() : { image, modules };
  const busybox = BUSYBOX.find((path) => existsSync(path) && isStatic(path));
  const missing = [
    ...(process.arch === 'x64' ? [] : ['a processor of x86-64']),
    ...(existsSync(QEMU) ? [] : [`${QEMU} (Debian: qemu-system-x86)`]),
    ...(busybox === undefined ? ['a static busybox (Debian: busybox-static)'] : []),
    ...(kernel === null
      ? ['a kernel in /boot with its modules (Debian: linux-image-amd64), or both --kernel and --modules']
      : [kernel.image, kernel.modules].filter((path) => !existsSync(path))),
  ];
  if (missing.length > 0 || busybox === undefined || kernel === null) {
    console.error(`attacks: not run, this is missing: ${missing.join('; ')}`);
    return 2;
  }
  const folder = mkdtempSync(join(tmpdir(), 'cordon-kernel-'));
  try {
    const initramfs = makeInitramfs(folder, busybox, kernel, values.only ?? '');
    const guest = { kernel, initramfs, console: join(folder, 'console') };
    const accelerators: readonly Accelerator[] = hasKvm() ? ['kvm', 'tcg'] : ['tcg'];
    for (const accelerator of accelerators) {
      const failures = await run(guest, accelerator);
      if (failures !== null) return failures === 0 ? 0 : 1;
      console.error(`attacks: with ${accelerator} the guest did not start\n${lastWords(guest.console)}`);
    }
    return 2;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The newest one, by name. */
function installedKernel(): Kernel | null {
  const [newest] = (existsSync('/boot') ? readdirSync('/boot') : [])
    .flatMap((name) => (name.startsWith('vmlinuz-') ? [name.slice('vmlinuz-'.length)] : []))
    .filter((version) => existsSync(`/lib/modules/${version}/kernel`))
    .sort((one, other) => other.localeCompare(one, 'en', { numeric: true }));
  return newest === undefined
    ? null
    : { image: `/boot/vmlinuz-${newest}`, modules: `/lib/modules/${newest}` };
}

function isStatic(program: string): boolean {
  return !readFileSync(program).includes('/lib64/ld-linux');
}

function hasKvm(): boolean {
  try {
    accessSync('/dev/kvm', constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** @param only the settings of `guest.sh` that are wanted, or '' for all. */
function makeInitramfs(folder: string, busybox: string, { modules }: Kernel, only: string): string {
  const root = join(folder, 'root');
  for (const name of ['bin', 'modules', 'told']) mkdirSync(join(root, name), { recursive: true });
  copyFileSync(busybox, join(root, 'bin/busybox'));
  copyFileSync(join(import.meta.dirname, 'boot.sh'), join(root, 'init'));
  chmodSync(join(root, 'init'), 0o755);
  for (const entry of readdirSync(modules, { recursive: true, encoding: 'utf8' }))
    if (MODULES.test(basename(entry)))
      copyFileSync(join(modules, entry), join(root, 'modules', basename(entry)));
  const told = { repository: ROOT, node: process.execPath, only };
  for (const [name, text] of Object.entries(told)) writeFileSync(join(root, 'told', name), text);
  const { status, stdout, stderr } = spawnSync(
    '/bin/sh',
    ['-c', 'find . | "$0" cpio -o -H newc | gzip -1', busybox],
    { cwd: root, maxBuffer: 1 << 28 },
  );
  if (status !== 0) throw new Error(`the initramfs could not be packed: ${stderr}`);
  const file = join(folder, 'initramfs');
  writeFileSync(file, stdout);
  return file;
}

/** How many settings failed; null when the guest never came up. */
async function run(
  { kernel, initramfs, console: log }: Guest,
  accelerator: Accelerator,
): Promise<number | null> {
  const share = 'local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap';
  const child = spawn(
    QEMU,
    [
      ...['-accel', accelerator, '-cpu', 'max', '-smp', '2', '-m', '6G', '-no-reboot'],
      ...['-display', 'none', '-monitor', 'none', '-nic', 'none', '-virtfs', share],
      ...['-serial', `file:${log}`, '-serial', 'stdio'],
      ...[
        '-kernel',
        kernel.image,
        '-initrd',
        initramfs,
        '-append',
        'console=ttyS0 panic=-1 quiet mitigations=off',
      ],
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const end = () => child.kill('SIGKILL');
  const boot = setTimeout(end, BOOT_MS);
  const whole = setTimeout(end, WHOLE_MS);
  process.once('exit', end);
  let isUp = false;
  let isDone = false;
  let settings = 0;
  let failures = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    isUp = true;
    clearTimeout(boot);
    console.log(line);
    const [, code] = /^== .* ended with (\d+)$/.exec(line) ?? [];
    if (code !== undefined) settings++;
    if (code !== undefined && code !== '0') failures++;
    isDone = line === '== done';
  }
  clearTimeout(boot);
  clearTimeout(whole);
  if (!isUp) return null;
  if (!isDone) console.error(`attacks: the guest broke off\n${lastWords(log)}`);
  return isDone && settings > 0 ? failures : failures + 1;
}

function lastWords(log: string): string {
  return existsSync(log) ? readFileSync(log, 'latin1').split('\n').slice(-30).join('\n') : '';
}

process.exitCode = await main();
