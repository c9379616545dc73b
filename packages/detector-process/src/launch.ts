/**
 * What a process that looks at texts gets: our Node, the code that it runs, one link to the hub. No network, no folder of the
 * user, no environment variable, and nothing that it could write.
 */
import type { Fault, Result } from '@cordon/core';
import { ownCodeSpec, type Sandbox, type SandboxSpec } from '@cordon/sandbox';
import type { LaunchFor, Work } from './confined-detectors.ts';

const OWN_CODE = [
  ...['core', 'detectors', 'policy', 'regex'].map((name) => `packages/${name}`),
  // The public suffix list, which the hub itself loads for names of hosts.
  ...['@cordon', 'tldts', 'tldts-core'].map((name) => `node_modules/${name}`),
];
/** With what they load themselves. */
const PARSERS = [
  ...['@lezer/common', '@lezer/highlight', '@lezer/lr', '@lezer/python', 'acorn', 'compromise'],
  ...['dom-serializer', 'domelementtype', 'domhandler', 'domutils', 'efrt', 'entities', 'grad-school'],
  ...['htmlparser2', 'libphonenumber-js', 'suffix-thumb', 'unbash'],
].map((name) => `node_modules/${name}`);

const CODE: Readonly<Record<Work, readonly string[]>> = { own: OWN_CODE, parsers: [...OWN_CODE, ...PARSERS] };

/** @param codeRoot the folder that holds `packages/` and `node_modules/` */
export function detectorLauncher(sandbox: Pick<Sandbox, 'spawn'>, codeRoot: string): LaunchFor {
  return async (work, signal) => {
    const spec = detectorSpec(codeRoot, work);
    return spec.ok ? sandbox.spawn(spec.value, signal) : spec;
  };
}

/** @param codeRoot the folder that holds `packages/` and `node_modules/` */
export function detectorSpec(codeRoot: string, work: Work): Result<SandboxSpec, Fault> {
  return ownCodeSpec(codeRoot, {
    folders: CODE[work],
    options: ['--max-old-space-size=768'],
    program: 'packages/detectors/src/confined/main.ts',
    args: [work],
    limits: { cpuSeconds: 3_600, processes: 48, openFiles: 128, fileMiB: 1 },
    stderr: 'none',
    network: { kind: 'none' },
  });
}
