import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encode } from '../../src/kernel/bpf.ts';
import { type Architecture, type Profile, seccompFilter } from '../../src/kernel/seccomp.ts';
import { simulate } from './bpf-simulator.ts';

const X64 = 0xc000003e;
const ARM64 = 0xc00000b7;
const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const EPERM = 0x00050001;
const ENOTTY = 0x00050019;
const ENOSYS = 0x00050026;
const EAFNOSUPPORT = 0x00050061;

const on =
  (profile: Profile) =>
  (nr: number, ...args: number[]) =>
    simulate(seccompFilter(profile, 'x64'), { nr, arch: X64, args: args.map(BigInt) });
const tight = on('tight');
const spawn = on('spawn');
const unix = on('unix');

test('reading, writing and mapping memory are allowed', () => {
  assert.deepEqual([tight(0), tight(1), tight(9), tight(257), tight(202), tight(186)], Array(6).fill(ALLOW));
});

test('a list without gettid crashes Node in a tenth of the runs, so it is there', () => {
  assert.equal(tight(186), ALLOW);
  assert.equal(simulate(seccompFilter('tight', 'arm64'), { nr: 178, arch: ARM64 }), ALLOW);
});

test('calls of another architecture, and x32 calls, end the process', () => {
  const filter = seccompFilter('spawn', 'x64');
  assert.equal(simulate(filter, { nr: 1, arch: 0x40000003 }), KILL);
  assert.equal(simulate(filter, { nr: 0x40000001, arch: X64 }), KILL);
  assert.equal(simulate(filter, { nr: 1, arch: X64 }), ALLOW);
});

test('calls newer than the table do not exist, unknown ones inside it are not permitted', () => {
  assert.equal(tight(470), ENOSYS);
  assert.equal(tight(1000), ENOSYS);
  assert.equal(tight(400), EPERM);
});

test('a tight process may start threads and nothing else', () => {
  const THREAD = 0x3d0f00;
  assert.equal(tight(56, THREAD), ALLOW);
  assert.equal(tight(56, 17), EPERM); // SIGCHLD: a process
  assert.deepEqual([tight(57), tight(58)], [EPERM, EPERM]);
  assert.equal(tight(435), ENOSYS);
});

test('an app may start processes, but no namespaces by clone', () => {
  assert.deepEqual([spawn(56, 17), spawn(57), spawn(58)], [ALLOW, ALLOW, ALLOW]);
  for (const flag of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000])
    assert.equal(spawn(56, flag | 17), EPERM, flag.toString(16));
  assert.equal(spawn(56, 0x3d0f00 | 0x10000000), EPERM);
});

test('no thread has open files of its own: they would be in the list of nobody', () => {
  const THREAD = 0x3d0f00;
  for (const profile of [tight, spawn]) {
    assert.deepEqual([profile(56, THREAD), profile(56, THREAD & ~0x400)], [ALLOW, EPERM]);
    assert.deepEqual([profile(436, 3, 9, 0), profile(436, 3, 9, 4)], [ALLOW, ALLOW]); // close_range: CLOEXEC
    assert.deepEqual([profile(436, 3, 9, 2), profile(436, 3, 9, 6)], [0x00050016, 0x00050016]); // UNSHARE
  }
  assert.equal(spawn(56, 17), ALLOW); // a process, which has a list
});

test('sockets: TCP for a tight process, UDP for apps, Unix where the manifest says so, the rest for nobody', () => {
  assert.deepEqual([tight(41, 2, 1, 0), tight(41, 10, 0x80801, 6)], [ALLOW, ALLOW]);
  assert.deepEqual([tight(41, 1, 1, 0), tight(41, 2, 2, 0)], [EAFNOSUPPORT, EAFNOSUPPORT]);
  assert.deepEqual(
    [spawn(41, 1, 1, 0), spawn(41, 2, 2, 17), spawn(41, 10, 0x80802, 0)],
    [EAFNOSUPPORT, ALLOW, ALLOW],
  );
  assert.deepEqual([unix(41, 1, 1, 0), unix(41, 1, 0x80802, 0), unix(41, 2, 2, 17)], [ALLOW, ALLOW, ALLOW]);
  for (const profile of [spawn, unix]) {
    for (const domain of [16, 17, 38, 40]) assert.equal(profile(41, domain, 1, 0), EAFNOSUPPORT);
    assert.equal(profile(41, 2, 3, 0), EAFNOSUPPORT); // SOCK_RAW
    assert.equal(profile(41, 2, 1, 132), EAFNOSUPPORT); // SCTP
  }
  assert.equal(unix(56, 17), ALLOW); // starts processes, as `spawn`
});

test('pairs of sockets stay pairs: no end of one can be connected to a socket in a folder', () => {
  for (const profile of [tight, spawn]) {
    assert.deepEqual([profile(53, 1, 1), profile(53, 1, 0x80801), profile(53, 1, 5)], [ALLOW, ALLOW, ALLOW]);
    // SOCK_DGRAM, and SOCK_RAW, which the kernel takes for it
    assert.deepEqual([profile(53, 1, 2), profile(53, 1, 0x80802)], [EAFNOSUPPORT, EAFNOSUPPORT]);
    assert.deepEqual([profile(53, 1, 3), profile(53, 2, 1)], [EAFNOSUPPORT, EAFNOSUPPORT]);
  }
  assert.deepEqual([unix(53, 1, 2), unix(53, 2, 1)], [ALLOW, EAFNOSUPPORT]);
});

test('ioctl cannot type into a terminal, also not with high bits set', () => {
  assert.equal(tight(16, 0, 0x5421), ALLOW);
  assert.equal(spawn(16, 0, 0x5412), ENOTTY); // TIOCSTI
  assert.equal(spawn(16, 0, 0x541c), ENOTTY); // TIOCLINUX
  const filter = seccompFilter('spawn', 'x64');
  assert.equal(simulate(filter, { nr: 16, arch: X64, args: [0n, 0xf_0000_5412n] }), ENOTTY);
});

test('prctl and prlimit64 are for the harmless cases', () => {
  assert.deepEqual([tight(157, 15), tight(157, 38)], [ALLOW, ALLOW]);
  assert.deepEqual([tight(157, 22), tight(157, 4), tight(157, 28)], [EPERM, EPERM, EPERM]);
  assert.deepEqual([tight(302, 0), tight(302, 1)], [ALLOW, EPERM]);
});

test('memory is private, or of a file', () => {
  const map = (flags: number) => spawn(9, 0, 4096, 3, flags);
  assert.deepEqual([map(0x22), map(0x02), map(0x01), map(0x4022)], [ALLOW, ALLOW, ALLOW, ALLOW]);
  assert.deepEqual([map(0x21), map(0x23), map(0x8021)], [EPERM, EPERM, EPERM]);
});

test('sizes of buffers of sockets stay what they are, and nobody is told', () => {
  const DONE = 0x00050000;
  for (const option of [7, 8, 32, 33]) assert.equal(tight(54, 3, 1, option), DONE);
  assert.deepEqual([tight(54, 3, 1, 2), tight(54, 3, 6, 1), tight(54, 3, 0, 8)], [ALLOW, ALLOW, ALLOW]);
});

test('no option of a socket brings a program of BPF or another protocol into the kernel', () => {
  const ENOPROTOOPT = 0x0005005c;
  for (const option of [26, 50, 51, 52]) assert.equal(spawn(54, 3, 1, option), ENOPROTOOPT, String(option));
  assert.deepEqual([spawn(54, 3, 6, 31), tight(54, 3, 6, 31)], [ENOPROTOOPT, ENOPROTOOPT]); // TCP_ULP
  // SO_REUSEADDR, SO_LINGER, TCP_NODELAY, TCP_KEEPIDLE, IPV6_V6ONLY, and 26 and 31 of other levels
  for (const [level, option] of [
    [1, 2],
    [1, 13],
    [6, 1],
    [6, 4],
    [41, 26],
    [41, 31],
    [6, 26],
  ] as const)
    assert.equal(spawn(54, 3, level, option), ALLOW, `${level} ${option}`);
});

test('files are locked and duplicated, and none is leased or locked by nobody: others would wait for it', () => {
  const EINVAL = 0x00050016;
  for (const profile of [tight, spawn]) {
    assert.deepEqual(
      [1024, 1040, 2000, 36, 37, 38].map((command) => profile(72, 3, command)),
      Array(6).fill(EINVAL),
    );
    for (const command of [0, 2, 4, 6, 7, 1030, 1031]) assert.equal(profile(72, 3, command), ALLOW);
  }
  const filter = seccompFilter('spawn', 'x64');
  assert.equal(simulate(filter, { nr: 72, arch: X64, args: [3n, 0x1_0000_0400n] }), EINVAL);
});

test('room is allocated up to the limit of a file and given back, and nothing else of fallocate', () => {
  const EOPNOTSUPP = 0x0005005f;
  for (const profile of [tight, spawn]) {
    assert.deepEqual([profile(285, 3, 0), profile(285, 3, 3)], [ALLOW, ALLOW]);
    for (const mode of [1, 2, 8, 16, 17, 32, 64]) assert.equal(profile(285, 3, mode), EOPNOTSUPP);
  }
});

test('what has no honest use ends the process', () => {
  for (const nr of [101, 310, 438, 165, 272, 308, 155, 161, 321, 298, 323, 248, 250, 246, 175, 304, 317])
    assert.equal(spawn(nr), KILL, String(nr));
  assert.deepEqual([spawn(425), spawn(319)], [ENOSYS, ENOSYS]); // io_uring_setup, memfd_create
});

test('arm64 has its own numbers', () => {
  const arm = (nr: number, ...args: number[]) =>
    simulate(seccompFilter('tight', 'arm64'), { nr, arch: ARM64, args: args.map(BigInt) });
  assert.deepEqual([arm(63), arm(56), arm(98)], [ALLOW, ALLOW, ALLOW]); // read, openat, futex
  assert.deepEqual([arm(220, 0x3d0f00), arm(220, 17)], [ALLOW, EPERM]);
  assert.deepEqual([arm(117), arm(97)], [KILL, KILL]); // ptrace, unshare
  assert.equal(simulate(seccompFilter('tight', 'arm64'), { nr: 63, arch: X64 }), KILL);
});

test('every filter ends for every call and fits the kernel', () => {
  for (const profile of ['tight', 'spawn'] satisfies Profile[])
    for (const architecture of ['x64', 'arm64'] satisfies Architecture[]) {
      const filter = seccompFilter(profile, architecture);
      const arch = architecture === 'x64' ? X64 : ARM64;
      for (let nr = 0; nr < 512; nr++) simulate(filter, { nr, arch });
      assert.ok(filter.length < 700, `${profile} ${architecture}: ${filter.length}`);
      assert.equal(encode(filter).length, filter.length * 8);
    }
});

test('an instruction is encoded as the kernel reads it', () => {
  assert.deepEqual(
    [...encode([{ code: 0x15, jt: 1, jf: 2, k: 0xc000003e }])],
    [0x15, 0, 1, 2, 0x3e, 0, 0, 0xc0],
  );
});
