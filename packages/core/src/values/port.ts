/** The port of an http address, also where it names none. */
export function portOf({ port, protocol }: { readonly port: string; readonly protocol: string }): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}
