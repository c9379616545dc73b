/** The port of an http address, also where it names none. */
export function portOf({ port, protocol }: { readonly port: string; readonly protocol: string }): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

/** A host, as `URL.hostname` has it, without the brackets of an IPv6 address: as it is dialled. */
export function bareAddress(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}
