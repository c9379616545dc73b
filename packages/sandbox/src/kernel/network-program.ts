/**
 * Sets up the network of a sandbox from outside, before any code of the app runs. Its argument is `/proc/PID/ns/net` of a process
 * inside. Every address becomes one of loopback, so that a program that connects to any of them comes to the listeners of the
 * sandbox. Then it writes each packet that tells of a refused connection to its standard output, `RECORD_BYTES` each,
 * until it is killed.
 *
 * bubblewrap cannot do this, and whoever runs inside may not: the network belongs to the user namespace that bubblewrap leaves.
 * This program enters that namespace, which it may since the same user made it, or root. It can never change the network of the machine: to
 * enter the user namespace in which a process already is fails.
 */
import { encode } from './bpf.ts';
import { DATA_ADDRESS, program, type Step } from './machine-code.ts';
import { RECORD_BYTES, refusedPackets } from './refused-packets.ts';
import type { Architecture } from './seccomp.ts';

const AT_FDCWD = -100;
const O_CLOEXEC = 0o2_000_000;
const NS_GET_USERNS = 0xb701;
const [CLONE_NEWUSER, CLONE_NEWNET] = [0x1000_0000, 0x4000_0000];
const [AF_INET, AF_INET6, AF_NETLINK, AF_PACKET] = [2, 10, 16, 17];
const [SOCK_DGRAM, SOCK_RAW] = [2, 3];
const [SOL_SOCKET, SO_ATTACH_FILTER] = [1, 26];
const ETH_P_ALL = 3;
/** Of every network namespace. */
const LOOPBACK_INDEX = 1;
const [PR_SET_PDEATHSIG, SIGKILL, PR_SET_SECCOMP, SECCOMP_MODE_STRICT] = [1, 9, 22, 1];
const STANDARD_OUTPUT = 1;

/** What it writes first, once everything is set up. */
export const READY = '+';
const FAILED = 1;

const AT = { network: 0, user: 8, netlink: 16, packets: 24, answer: 64, record: 512 };
/** Of the error in the kernel's answer, behind the header of the message; one byte tells 0 from every errno. */
const ERROR = 16;
const ANSWER_BYTES = 256;

export function networkProgram(architecture: Architecture): Buffer {
  const filter = encode(refusedPackets());
  const [route, route6, socket] = [localRoute(AF_INET), localRoute(AF_INET6), loopback()];
  const at = { ready: 0, filter: 8, route: 24, route6: 64, loopback: 104, instructions: 128 };
  const data = Buffer.alloc(at.instructions + filter.length);
  data.write(READY, at.ready);
  // `struct sock_fprog`
  data.writeUInt16LE(filter.length / 8, at.filter);
  data.writeBigUInt64LE(BigInt(DATA_ADDRESS + at.instructions), at.filter + 8);
  data.set(route, at.route);
  data.set(route6, at.route6);
  data.set(socket, at.loopback);
  data.set(filter, at.instructions);
  const add = (message: number, bytes: number): readonly Step[] => [
    { do: 'call', name: 'sendto', args: [{ at: AT.netlink }, { data: message }, bytes, 0, 0, 0] },
    { do: 'go', to: 'failed', when: 'negative' },
    { do: 'call', name: 'read', args: [{ at: AT.netlink }, { memory: AT.answer }, ANSWER_BYTES] },
    { do: 'go', to: 'failed', when: 'negative' },
    { do: 'load-byte', at: AT.answer + ERROR, mask: 0xff },
  ];
  const steps: readonly Step[] = [
    ...enterNetwork(),
    // A wish of before would be forgotten with the change of the namespace.
    { do: 'call', name: 'prctl', args: [PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0] },
    { do: 'go', to: 'failed', when: 'not-zero' },

    // It gets packets only when it is bound, and then it has its filter.
    ...opened(AF_PACKET, SOCK_DGRAM, AT.packets),
    {
      do: 'call',
      name: 'setsockopt',
      args: [{ at: AT.packets }, SOL_SOCKET, SO_ATTACH_FILTER, { data: at.filter }, 16],
    },
    { do: 'go', to: 'failed', when: 'not-zero' },
    { do: 'call', name: 'bind', args: [{ at: AT.packets }, { data: at.loopback }, socket.length] },
    { do: 'go', to: 'failed', when: 'not-zero' },

    // Last, so that a network of which nothing can be told has no routes either.
    ...opened(AF_NETLINK, SOCK_RAW, AT.netlink),
    ...add(at.route, route.length),
    { do: 'go', to: 'failed', when: 'not-zero' },
    ...add(at.route6, route6.length), // fails where the machine has no IPv6, and then nobody needs it

    // From here on it can read, write and end.
    { do: 'call', name: 'prctl', args: [PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0] },
    { do: 'go', to: 'failed', when: 'not-zero' },
    { do: 'call', name: 'write', args: [STANDARD_OUTPUT, { data: at.ready }, 1] },
    { do: 'label', name: 'next' },
    { do: 'call', name: 'read', args: [{ at: AT.packets }, { memory: AT.record }, RECORD_BYTES] },
    { do: 'go', to: 'failed', when: 'negative' },
    { do: 'call', name: 'write', args: [STANDARD_OUTPUT, { memory: AT.record }, RECORD_BYTES] },
    { do: 'go', to: 'failed', when: 'negative' },
    { do: 'go', to: 'next', when: 'always' },

    { do: 'label', name: 'failed' },
    { do: 'call', name: 'exit', args: [FAILED] },
  ];
  return program(steps, architecture, data);
}

function enterNetwork(): readonly Step[] {
  const enter = (at: number, kind: number): readonly Step[] => [
    { do: 'call', name: 'setns', args: [{ at }, kind] },
    { do: 'go', to: 'failed', when: 'not-zero' },
  ];
  return [
    { do: 'call', name: 'openat', args: [AT_FDCWD, 'first-argument', O_CLOEXEC, 0] },
    { do: 'go', to: 'failed', when: 'negative' },
    { do: 'store', at: AT.network },
    { do: 'call', name: 'ioctl', args: [{ at: AT.network }, NS_GET_USERNS, 0] },
    { do: 'go', to: 'failed', when: 'negative' },
    { do: 'store', at: AT.user },
    ...enter(AT.user, CLONE_NEWUSER),
    ...enter(AT.network, CLONE_NEWNET),
  ];
}

function opened(domain: number, type: number, at: number): readonly Step[] {
  return [
    { do: 'call', name: 'socket', args: [domain, type, 0] },
    { do: 'go', to: 'failed', when: 'negative' },
    { do: 'store', at },
  ];
}

/** `ip route add local default dev lo`, as rtnetlink(7) wants it. */
function localRoute(family: number): Buffer {
  const [RTM_NEWROUTE, REQUEST, ACK, CREATE] = [24, 0x1, 0x4, 0x400];
  const [RT_TABLE_LOCAL, RTPROT_BOOT, RT_SCOPE_HOST, RTN_LOCAL, RTA_OIF] = [255, 3, 254, 2, 4];
  const message = Buffer.alloc(36);
  message.writeUInt32LE(message.length, 0);
  message.writeUInt16LE(RTM_NEWROUTE, 4);
  message.writeUInt16LE(REQUEST | ACK | CREATE, 6);
  message.set([family, 0, 0, 0, RT_TABLE_LOCAL, RTPROT_BOOT, RT_SCOPE_HOST, RTN_LOCAL], 16);
  message.writeUInt16LE(8, 28);
  message.writeUInt16LE(RTA_OIF, 30);
  message.writeUInt32LE(LOOPBACK_INDEX, 32);
  return message;
}

/** `struct sockaddr_ll` (packet(7)). */
function loopback(): Buffer {
  const address = Buffer.alloc(20);
  address.writeUInt16LE(AF_PACKET, 0);
  address.writeUInt16BE(ETH_P_ALL, 2);
  address.writeInt32LE(LOOPBACK_INDEX, 4);
  return address;
}
