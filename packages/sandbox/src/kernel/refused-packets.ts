/**
 * What the network of a sandbox says to a program that wants a port at which nobody listens: TCP is reset, and of UDP the kernel
 * reports that the port cannot be reached. Such packets tell where the program wanted to go.
 */
import { and, answer, type Instruction, load, unless, when } from './bpf.ts';

/** Where a program found nobody. */
export interface RefusedPlace {
  readonly protocol: 'tcp' | 'udp';
  /** As in a URL, without brackets. */
  readonly address: string;
  readonly port: number;
}

/** Enough of a packet: two headers of IPv6, one of ICMP, and the ports. */
export const RECORD_BYTES = 96;

const [TCP, UDP] = [6, 17];
/** Message numbers of "port unreachable", as type and code. */
const [ICMP, UNREACHABLE] = [1, 0x0303];
const [ICMP_6, UNREACHABLE_6] = [58, 0x0104];
const RESET_AND_ACK = 0x14;
/** `PACKET_HOST`: each packet on loopback is seen twice, once as an outgoing one. */
const INCOMING = 0;
/** SKF_AD_OFF + SKF_AD_PKTTYPE: loads the kind of the packet instead of its bytes. */
const KIND_OF_PACKET = 0xffff_f004;

const byte = (offset: number): Instruction => ({ code: 0x30, jt: 0, jf: 0, k: offset });
const half = (offset: number): Instruction => ({ code: 0x28, jt: 0, jf: 0, k: offset });
const [DROP, KEEP] = [answer(0), answer(RECORD_BYTES)];

/** Lets through only such packets, as they begin with their IP header. */
export function refusedPackets(): Instruction[] {
  return [
    byte(KIND_OF_PACKET),
    ...unless('jumpEqual', INCOMING, [DROP]),
    byte(0),
    ...when('jumpEqual', 0x45, [byte(9), ...refusalsAfter(20, ICMP, UNREACHABLE)]),
    and(0xf0),
    ...when('jumpEqual', 0x60, [byte(6), ...refusalsAfter(40, ICMP_6, UNREACHABLE_6)]),
    DROP,
  ];
}

/** A refusal of TCP has the sequence number 0; a connection that was open and is reset has another one. */
function refusalsAfter(header: number, icmp: number, unreachable: number): readonly Instruction[] {
  const isReset = [
    byte(header + 13),
    and(RESET_AND_ACK),
    ...unless('jumpEqual', RESET_AND_ACK, [DROP]),
    load(header + 4),
    ...when('jumpEqual', 0, [KEEP]),
    DROP,
  ];
  const isUnreachable = [half(header), ...when('jumpEqual', unreachable, [KEEP]), DROP];
  return [...when('jumpEqual', TCP, isReset), ...when('jumpEqual', icmp, isUnreachable), DROP];
}

/** Null: the packet is none of these. */
export function refusedPlace(packet: Buffer): RefusedPlace | null {
  if (packet.length < RECORD_BYTES) return null;
  const version = (packet[0] ?? 0) >> 4;
  if (version === 4) return placeIn(packet, { header: 20, next: 9, from: 12, to: 16, bytes: 4 }, ICMP);
  if (version === 6) return placeIn(packet, { header: 40, next: 6, from: 8, to: 24, bytes: 16 }, ICMP_6);
  return null;
}

/** Offsets in a header of IP. */
interface Layout {
  readonly header: number;
  readonly next: number;
  readonly from: number;
  readonly to: number;
  readonly bytes: number;
}

function placeIn(packet: Buffer, { header, next, from, to, bytes }: Layout, icmp: number) {
  const place = (protocol: 'tcp' | 'udp', address: number, port: number): RefusedPlace => ({
    protocol,
    address: addressOf(packet.subarray(address, address + bytes)),
    port: packet.readUInt16BE(port),
  });
  if (packet[next] === TCP) return place('tcp', from, header);
  // The message quotes the packet that found nobody, from its header on.
  const quoted = header + 8;
  if (packet[next] !== icmp || packet[quoted + next] !== UDP) return null;
  return place('udp', quoted + to, quoted + header + 2);
}

function addressOf(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join('.');
  const groups = bytes.toString('hex').match(/.{4}/g) ?? [];
  return new URL(`http://[${groups.join(':')}]/`).hostname.slice(1, -1);
}
