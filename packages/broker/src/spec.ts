/**
 * What a provider process is: our Node with the code that calls providers, its own network, and nothing else of the machine.
 *
 * Ring 0.
 */
import { DEFAULT_APP_LIMITS, type Fault, ok, type Result } from '@cordon/core';
import { checkPath, type Mount, NODE_INSIDE, type SandboxSpec } from '@cordon/sandbox';

/** Below the folder that holds `packages/` and `node_modules/`. */
const CODE = [
  ...['broker', 'core', 'llm', 'protocol'].map((name) => `packages/${name}`),
  ...['@cordon', '@ai-sdk', '@standard-schema', '@workflow', 'eventsource-parser', 'zod'].map(
    (name) => `node_modules/${name}`,
  ),
];
const ROOT_INSIDE = '/cordon';
const MAIN = `${ROOT_INSIDE}/packages/llm/src/inside/main.ts`;

/** An hour of CPU time is a day of calls; a process that spins is ended before it has used much more. */
const CPU_SECONDS = 3_600;

export function providerSpec(codeRoot: string): Result<SandboxSpec, Fault> {
  const mounts: Mount[] = [];
  for (const folder of CODE) {
    const host = checkPath(`${codeRoot}/${folder}`);
    if (!host.ok) return host;
    mounts.push({ host: host.value, inside: `${ROOT_INSIDE}/${folder}`, access: 'read' });
  }
  return ok({
    executable: NODE_INSIDE,
    args: ['--max-old-space-size=384', '--v8-pool-size=0', MAIN],
    env: {},
    cwd: ROOT_INSIDE,
    mounts,
    profile: 'tight',
    nodeGrants: [],
    limits: { ...DEFAULT_APP_LIMITS, cpuSeconds: CPU_SECONDS, processes: 48, fileMiB: 1 },
    tmpMiB: null,
    usr: false,
    stdin: 'none',
    stdout: 'none',
    // An error that ends the process may quote a key.
    stderr: 'none',
    link: true,
    network: { kind: 'handover' },
  });
}
