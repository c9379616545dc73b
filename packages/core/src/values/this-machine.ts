/** Whether a host, as `URL.hostname` has it, is this machine: what goes there may go unencrypted (RFC 8252, 8.3). */
export function isThisMachine(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
