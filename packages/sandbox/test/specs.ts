/** Specifications for tests: what is not named is as strict as it can be. */
import { DEFAULT_APP_LIMITS } from '@cordon/core';
import { NODE_INSIDE, type SandboxSpec } from '../src/index.ts';

export function spec(changes: Partial<SandboxSpec>): SandboxSpec {
  return {
    executable: NODE_INSIDE,
    args: [],
    env: {},
    cwd: '/',
    mounts: [],
    profile: 'spawn',
    nodeGrants: null,
    limits: DEFAULT_APP_LIMITS,
    tmpMiB: null,
    usr: false,
    stdin: 'none',
    stdout: 'pipe',
    stderr: 'pipe',
    link: false,
    network: { kind: 'none' },
    ...changes,
  };
}

/** `code`: CommonJS that prints what it sees. */
export function script(code: string, changes: Partial<SandboxSpec> = {}): SandboxSpec {
  return spec({ args: ['-e', code], ...changes });
}
