/** Imports from this folder, so that what is installed here is found. */
export function peerImport(name: string): Promise<unknown> {
  return import(name);
}
