/**
 * What a process that looks at texts gets: our Node, the code that it runs, one link to the hub. No network, no folder of the
 * user, no environment variable, and nothing that it could write.
 *
 * Ring 0.
 */
import { DEFAULT_APP_LIMITS, type Fault, ok, type Result } from '@cordon/core';
import { checkPath, type Mount, NODE_INSIDE, type Sandbox, type SandboxSpec } from '@cordon/sandbox';
import type { LaunchFor, Work } from './confined-detectors.ts';

const ROOT_INSIDE = '/cordon';
const PROGRAM = 'packages/detectors/src/confined/main.ts';
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
  const mounts: Mount[] = [];
  for (const folder of CODE[work]) {
    const host = checkPath(`${codeRoot}/${folder}`);
    if (!host.ok) return host;
    mounts.push({ host: host.value, inside: `${ROOT_INSIDE}/${folder}`, access: 'read' });
  }
  return ok({
    executable: NODE_INSIDE,
    args: ['--max-old-space-size=768', `${ROOT_INSIDE}/${PROGRAM}`, work],
    env: {},
    cwd: ROOT_INSIDE,
    mounts,
    profile: 'tight',
    nodeGrants: [],
    limits: { ...DEFAULT_APP_LIMITS, cpuSeconds: 3_600, processes: 48, openFiles: 128, fileMiB: 1 },
    tmpMiB: null,
    usr: false,
    stdin: 'none',
    stdout: 'none',
    stderr: 'none',
    link: true,
    network: { kind: 'none' },
  });
}
