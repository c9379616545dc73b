/** IP and MAC addresses. */
import type { Finding } from '../text/finding.ts';
import { matchAt, startBefore } from '../text/match.ts';

const V4 = /(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}(?![\w]|\.\d|-[\w])/y;
/** Versions have four parts, too. */
const VERSION =
  /(?:v|ver|version|release|build|revision|section|chapter|framework|runtime|firmware|kernel|driver|assembly|package|oid|§)[\s.:=/]{0,3}$/i;

/** The IPv4 address that begins at `at`, or null. */
export function ipv4At(text: string, at: number): Finding | null {
  const match = matchAt(V4, text, at);
  // Behind a number and a dot it is the rest of something longer.
  if (match === null) return null;
  const before = text.slice(Math.max(0, at - 16), at);
  if (VERSION.test(before) || /\d\.$/.test(before)) return null;
  const isVersion = /^(?:0|[1-9]\.[0-9]\.[0-9]\.[0-9]$)/.test(match[0]);
  return finding('IP_ADDRESS', at, at + match[0].length, isVersion ? 0.55 : 0.9);
}

const MOST = 48;

/** The MAC or IPv6 address around the colon at `at`, which is the first one in it, or null. */
export function colonsAt(text: string, at: number): Finding | null {
  const start = startBefore(text, at, /[0-9A-Fa-f:]/, 5);
  let end = at;
  while (end < text.length && end - at < MOST && /[0-9A-Fa-f:.]/.test(text[end] ?? '')) end += 1;
  if (/[\w.:-]/.test(text[start - 1] ?? ' ') || /[\w-]/.test(text[end] ?? ' ')) return null;
  const address = text.slice(start, end).replace(/[.:]+$/, (tail) => (tail.startsWith('::') ? '::' : ''));
  const until = start + address.length;
  if (/^[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}$/.test(address))
    return finding('MAC_ADDRESS', start, until, 0.95);
  // `::` and `::1` identify nobody, and `12:30` is a time.
  if (address.length < 6 || !isIPv6(address)) return null;
  return finding('IP_ADDRESS', start, until, 0.95);
}

/** RFC 4291, 2.2: eight groups, `::` once for some of them, an IPv4 address for the last two. */
function isIPv6(address: string): boolean {
  const dotted = /^(.*:)\d{1,3}(?:\.\d{1,3}){3}$/.exec(address);
  const plain = dotted === null ? address : `${dotted[1] ?? ''}0:0`;
  const halves = plain.split('::');
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  if (halves.length > 2 || !groups.every((group) => /^[0-9A-Fa-f]{1,4}$/.test(group))) return false;
  return halves.length === 2 ? groups.length < 8 : groups.length === 8;
}

/** By pairs with hyphens, or in three groups with dots, as switches print it. */
const MAC_APART =
  /(?:[0-9A-Fa-f]{2}(?:-[0-9A-Fa-f]{2}){5}|[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4})(?![\w-]|\.\w)/y;

/** A MAC address without colons, that begins at `at`. */
export function macAt(text: string, at: number): Finding | null {
  const match = matchAt(MAC_APART, text, at);
  if (match === null || /^[\d.-]+$/.test(match[0])) return null;
  return finding('MAC_ADDRESS', at, at + match[0].length, 0.9);
}

function finding(kind: string, start: number, end: number, confidence: number): Finding {
  return { kind, start, end, confidence, reason: 'the form of such an address' };
}
