/** Apps of a test: what the user's configuration says of them. */
import { type Functionality, type InstalledApp, id, SILENT_MANIFEST } from '@cordon/core';

export function app(
  name: string,
  description: string | null,
  functionalities: readonly Functionality[] = [],
): InstalledApp {
  return {
    id: id(name),
    model: null,
    source: { kind: 'command', command: 'node', args: [], env: {}, cwd: null },
    manifest: { ...SILENT_MANIFEST, description, functionalities },
  };
}

export function serves(name: string, tool: string): Functionality {
  const shape = { type: 'object', properties: {}, required: [] };
  return { name: id(name), description: `what ${name} does`, request: shape, response: shape, tool };
}
