/**
 * What an app wants to talk to, in one spelling: canonical host, port, and the site it belongs to. The site is
 * the registrable domain by the public suffix list with its private part: `a.github.io` is a site, `github.io`
 * is not a site (paper, Appendix A: eTLD+1). An address is its own site.
 */
import { isIP } from 'node:net';
import { failed, ok, type Result } from '@cordon/core';
import { getDomain } from 'tldts';

export interface Destination {
  /** Lower case, punycode, no trailing dot; or an address as in a URL: `192.0.2.1`, `[2001:db8::1]`. */
  readonly host: string;
  readonly port: number;
  /** e.g. `example.co.uk`; of an address the host itself. */
  readonly site: string;
}

/** Names of one label that lead into a network of the user. */
type OwnNames = Pick<ReadonlyMap<string, unknown>, 'has'>;

/**
 * Refuses addresses in any but their canonical spelling (`2130706433`, `0x7f.1`, `[0::1]`), names without a site, odd ports.
 * A name of one label (`nexus`) has a site only if it is among the user's own.
 */
export function destination(
  hostText: string,
  port: number,
  own: OwnNames = NO_NAMES,
): Result<Destination, string> {
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    return failed('the port is not a number from 1 to 65535');
  const host = canonicalHost(hostText);
  if (host === null) return failed('the host is not a name');
  if (isAddress(host))
    return host === hostText ? ok({ host, port, site: host }) : failed('the address is spelled oddly');
  const isOwn = !host.includes('.') && own.has(host);
  const site = isOwn ? host : getDomain(host, { allowPrivateDomains: true });
  return site === null ? failed('the host belongs to no registrable domain') : ok({ host, port, site });
}

const NO_NAMES: OwnNames = new Set<string>();

/** `host:port` of a CONNECT request; the port is required. */
export function destinationOfAuthority(text: string, own?: OwnNames): Result<Destination, string> {
  const [, host, port] = /^(\[[0-9a-f:.]+\]|[^\s/@?#\\:[\]]+):(\d{1,5})$/.exec(text) ?? [];
  return host === undefined
    ? failed('the request names no host and port')
    : destination(host, Number(port), own);
}

/** Of a canonical host. */
export function isAddress(host: string): boolean {
  return host.startsWith('[') || isIP(host) !== 0;
}

/** WHATWG host parsing does case, IDNA and the spellings of IPv4; user info, paths and ports are refused before it. */
function canonicalHost(text: string): string | null {
  const name = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1).replaceAll(':', '') : text;
  if (text.length > 253 || /[\s/@?#\\:%[\]]/.test(name)) return null;
  const withoutDot = text.endsWith('.') ? text.slice(0, -1) : text;
  const hostname = URL.parse(`http://${withoutDot}/`)?.hostname ?? '';
  const hasEmptyLabel = hostname.startsWith('.') || hostname.endsWith('.') || hostname.includes('..');
  return hostname === '' || hasEmptyLabel || !/^[a-z0-9.[\]:-]+$/.test(hostname) ? null : hostname;
}
