/**
 * The network of a command that `cordon run` starts: its proxy, with the monitor behind it. Loaded only for a command
 * that has a site to go to.
 *
 * Ring 1.
 */
import type { AppId, Clock, Diagnostic, Fault, InstalledApp } from '@cordon/core';
import { failed, ok, type Result } from '@cordon/core';
import { type LoneNetwork, openLoneNetwork } from '@cordon/hub';
import { SILENT_MANIFEST } from './manifest-config.ts';
import { readPolicies } from './policy-in-force.ts';
import type { RunRecord } from './run-record.ts';
import type { RunRights } from './run-rights.ts';

export interface RunNetworkParts {
  readonly app: AppId;
  readonly rights: RunRights;
  /** Absolute paths. */
  readonly policyFiles: readonly string[];
  readonly record: RunRecord;
  readonly socketFolder: string;
  readonly clock: Clock;
  readonly onDenied: (host: string, reason: string) => void;
}

export type NetworkObstacle =
  | { readonly kind: 'diagnostics'; readonly diagnostics: readonly Diagnostic[] }
  | { readonly kind: 'fault'; readonly fault: Fault };

export async function openRunNetwork(parts: RunNetworkParts): Promise<Result<LoneNetwork, NetworkObstacle>> {
  const { app, rights, record, socketFolder, clock, onDenied } = parts;
  const policy = readPolicies(parts.policyFiles);
  if (!policy.ok) return failed({ kind: 'diagnostics', diagnostics: policy.fault });
  const installed: InstalledApp = {
    id: app,
    source: { kind: 'command', command: '', args: [], env: {}, cwd: null },
    manifest: { ...SILENT_MANIFEST, network: rights.network, files: rights.files, limits: rights.limits },
    model: null,
  };
  const { session, append } = record;
  const opened = await openLoneNetwork({
    app: installed,
    policy: policy.value,
    session,
    append,
    clock,
    socketFolder,
    onDenied,
  });
  return opened.ok ? ok(opened.value) : failed({ kind: 'fault', fault: opened.fault });
}
