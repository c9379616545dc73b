/**
 * Which addresses a login may lead to. Attack: the metadata of an app's server, or of the server that it names, make Cordon send
 * requests into the user's own network, or tokens in the clear.
 */
import { failed, isThisMachine, ok, type Result, visibleLine } from '@cordon/core';
import type { Dial, Dialler } from '@cordon/dialler';
import { destination, isAddress } from '@cordon/egress/destination';
import { isPublicAddress, resolvePublic } from '@cordon/egress/resolver';

const LONGEST = 2_048;

/** An address that may be asked; a fault says what is wrong with it, and nothing that stands in it but its host. */
export function usableUrl(text: string, what: string): Result<URL, string> {
  const url =
    text.length <= LONGEST && /^[\x21-\x7e]+$/.test(text) && URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.username + url.password !== '')
    return failed(`${what} is no web address`);
  if (url.hash !== '') return failed(`${what} has a fragment`);
  if (url.protocol === 'http:' && !isThisMachine(url.hostname))
    return failed(`${what} is not encrypted (http at \`${shownHost(url)}\`)`);
  return ok(url);
}

/** Whether both belong to one owner, as far as names say so. */
export function isSameSite(one: URL, other: URL): boolean {
  return one.hostname === other.hostname || (siteOf(one) !== null && siteOf(one) === siteOf(other));
}

function siteOf({ hostname }: URL): string | null {
  const found = destination(hostname, 443);
  return found.ok ? found.value.site : null;
}

/**
 * Dials hosts that the user named wherever they are, and every other host at public addresses alone. A name is looked up once,
 * and the address that was checked is the one that is dialled.
 * @param named hosts that the user wrote
 */
export function checkedDial(
  { dial, lookup }: Pick<Dialler, 'dial' | 'lookup'>,
  named: ReadonlySet<string>,
): Dial {
  return async (host, port, signal) => {
    // Node gives an IPv6 address without its brackets.
    const written = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
    if (named.has(written)) return dial(host, port, signal);
    if (isAddress(written)) return isPublicAddress(host) ? dial(host, port, signal) : failed(PRIVATE);
    const address = await resolvePublic(host, lookup);
    if (!address.ok) return failed({ code: 'EPRIVATE', message: address.fault });
    return dial(address.value, port, signal);
  };
}

const PRIVATE = { code: 'EPRIVATE', message: 'the address is not public' };

/** A host as it may stand in a message: not longer than a line. */
export function shownHost({ host }: URL): string {
  return visibleLine(host, 100);
}
