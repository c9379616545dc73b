/**
 * What a provider process is: our Node with the code that calls providers, its own network, and nothing else of the machine.
 */
import type { Fault, Result } from '@cordon/core';
import { ownCodeSpec, type SandboxSpec } from '@cordon/sandbox';

/** Below the folder that holds `packages/` and `node_modules/`. */
const CODE = [
  ...['broker', 'core', 'dialler', 'llm', 'protocol'].map((name) => `packages/${name}`),
  ...['@cordon', '@ai-sdk', '@standard-schema', '@workflow', 'eventsource-parser', 'zod'].map(
    (name) => `node_modules/${name}`,
  ),
];

/** An hour of CPU time is a day of calls; a process that spins is ended before it has used much more. */
const CPU_SECONDS = 3_600;

export function providerSpec(codeRoot: string): Result<SandboxSpec, Fault> {
  return ownCodeSpec(codeRoot, {
    folders: CODE,
    options: ['--max-old-space-size=384', '--v8-pool-size=0'],
    program: 'packages/llm/src/inside/main.ts',
    limits: { cpuSeconds: CPU_SECONDS, processes: 48, fileMiB: 1 },
    // An error that ends the process may quote a key.
    stderr: 'none',
    network: { kind: 'handover' },
  });
}
