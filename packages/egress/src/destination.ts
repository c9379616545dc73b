/**
 * What an app wants to talk to, in one spelling: canonical host, port, and the site it belongs to. The site is
 * the registrable domain by the public suffix list with its private part: `a.github.io` is a site, `github.io`
 * is none (paper, Appendix A: eTLD+1).
 *
 * Ring 0.
 */
import { isIP } from 'node:net';
import { failed, ok, type Result } from '@cordon/core';
import { getDomain } from 'tldts';

export interface Destination {
  /** Lower case, punycode, no trailing dot; never an address. */
  readonly host: string;
  readonly port: number;
  /** e.g. `example.co.uk` */
  readonly site: string;
}

/** What an app may reach. An empty list of sites reaches nothing. */
export interface Reach {
  /** Registrable domains; one that is none (a public suffix, an address) matches nothing. */
  readonly sites: readonly string[];
  readonly ports: readonly number[];
}

export const DEFAULT_PORTS: readonly number[] = [443];

/** Refuses addresses in every spelling (`2130706433`, `0x7f.1`, `[::1]`), names without a site, odd ports. */
export function destination(hostText: string, port: number): Result<Destination, string> {
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    return failed('the port is not a number from 1 to 65535');
  const host = canonicalHost(hostText);
  if (host === null) return failed('the host is not a name');
  if (host.startsWith('[') || isIP(host) !== 0) return failed('the host is an address, not a name');
  const site = getDomain(host, { allowPrivateDomains: true });
  return site === null ? failed('the host belongs to no registrable domain') : ok({ host, port, site });
}

/** `host:port` of a CONNECT request; the port is required. */
export function destinationOfAuthority(text: string): Result<Destination, string> {
  const [, host, port] = /^([^\s/@?#\\:]+):(\d{1,5})$/.exec(text) ?? [];
  return host === undefined ? failed('the request names no host and port') : destination(host, Number(port));
}

/** WHATWG host parsing does case, IDNA and the spellings of IPv4; user info and paths are refused before it. */
function canonicalHost(text: string): string | null {
  if (text.length > 253 || /[\s/@?#\\:%]/.test(text)) return null;
  const withoutDot = text.endsWith('.') ? text.slice(0, -1) : text;
  if (!URL.canParse(`http://${withoutDot}/`)) return null;
  const { hostname } = new URL(`http://${withoutDot}/`);
  return hostname === '' || hostname.endsWith('.') || !/^[a-z0-9.[\]:-]+$/.test(hostname) ? null : hostname;
}

/** Whether the site and the port are both listed. */
export function isWithinReach({ site, port }: Destination, reach: Reach): boolean {
  return reach.ports.includes(port) && reach.sites.some((listed) => siteOf(listed) === site);
}

function siteOf(listed: string): string | null {
  const parsed = destination(listed, 443);
  return parsed.ok && parsed.value.host === parsed.value.site ? parsed.value.site : null;
}
