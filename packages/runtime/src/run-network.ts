/**
 * The network of a command that `cordon run` starts: its proxy, with the monitor behind it. Loaded only for a command
 * that has a site to go to.
 */

import type { RunRights } from '@cordon/config/run';
import {
  type AppId,
  type Diagnostic,
  type InstalledApp,
  ok,
  type Result,
  SILENT_MANIFEST,
} from '@cordon/core';
import { openStandaloneNetwork, type StandaloneAppParts, type StandaloneNetwork } from '@cordon/hub';
import { readPolicies } from './rules/policies.ts';

/** What the network of a command is made of: what the hub wants besides the app and its policy, and where those come from. */
export interface RunNetworkParts extends Omit<StandaloneAppParts, 'app' | 'policy'> {
  readonly app: AppId;
  readonly rights: RunRights;
  /** Absolute paths. */
  readonly policyFiles: readonly string[];
}

export async function openRunNetwork({
  app,
  rights,
  policyFiles,
  journal,
  clock,
  dialler,
  onDenied,
}: RunNetworkParts): Promise<Result<StandaloneNetwork, readonly Diagnostic[]>> {
  const policy = readPolicies({ packs: [], files: policyFiles });
  if (!policy.ok) return policy;
  const { network, files, limits } = rights;
  const installed: InstalledApp = {
    id: app,
    source: { kind: 'command', command: '', args: [], env: {}, cwd: null },
    manifest: { ...SILENT_MANIFEST, network, files, limits },
    model: null,
  };
  return ok(
    await openStandaloneNetwork({ app: installed, policy: policy.value, journal, clock, dialler, onDenied }),
  );
}
