/**
 * The network of a command that `cordon run` starts: its proxy, with the monitor behind it. Loaded only for a command
 * that has a site to go to.
 *
 * Ring 0.
 */

import type { RunRights } from '@cordon/config/run';
import {
  type AppId,
  type Clock,
  type Diagnostic,
  type InstalledApp,
  ok,
  type Result,
  SILENT_MANIFEST,
} from '@cordon/core';
import type { Dialler } from '@cordon/dialler';
import { openStandaloneNetwork, type StandaloneNetwork } from '@cordon/hub';
import { readPolicies } from './rules/policies.ts';
import type { RunRecord } from './run-record.ts';
export interface RunNetworkParts {
  readonly app: AppId;
  readonly rights: RunRights;
  /** Absolute paths. */
  readonly policyFiles: readonly string[];
  readonly record: RunRecord;
  readonly clock: Clock;
  readonly dialler: Dialler;
  readonly onDenied: (host: string, reason: string) => void;
}

export async function openRunNetwork(
  parts: RunNetworkParts,
): Promise<Result<StandaloneNetwork, readonly Diagnostic[]>> {
  const { app, rights, record, clock, dialler, onDenied } = parts;
  const policy = readPolicies({ packs: [], files: parts.policyFiles });
  if (!policy.ok) return policy;
  const installed: InstalledApp = {
    id: app,
    source: { kind: 'command', command: '', args: [], env: {}, cwd: null },
    manifest: { ...SILENT_MANIFEST, network: rights.network, files: rights.files, limits: rights.limits },
    model: null,
  };
  const { session, journal } = record;
  return ok(
    await openStandaloneNetwork({
      app: installed,
      policy: policy.value,
      session,
      journal,
      clock,
      dialler,
      onDenied,
    }),
  );
}
