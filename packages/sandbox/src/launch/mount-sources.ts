/**
 * What a process gets to see is opened before it is mounted: each source by a descriptor of the very file or folder
 * that was checked.
 */
import { fstatSync } from 'node:fs';
import { type Fault, failed, fault, ok, type Result } from '@cordon/core';
import type { CheckedPath } from '../spec/checked-path.ts';
import { type CheckedSpec, HANDOVER_INSIDE, isHandedOver, type Mount, NODE_INSIDE } from '../spec/spec.ts';
import { handOver } from '../watch/ownership.ts';
import { permits } from './host.ts';

/** Our own files for the inside, and who reads what is mounted. */
export interface MountHost {
  /** Our own Node and the programs of ours that bring a network, checked. */
  readonly node: CheckedPath;
  readonly handover: CheckedPath;
  /** The user that confined processes are when the hub is root; null: the hub's own user. */
  readonly appUser: number | null;
}

export interface OpenedMount {
  readonly descriptor: number;
  readonly host: string;
  readonly inside: string;
  readonly access: Mount['access'];
}

/** Opens every source and puts its descriptor into `opened`; hands the app's own folder to the sandbox's user. */
export function openMounts(
  machine: MountHost,
  spec: CheckedSpec,
  opened: number[],
): Result<OpenedMount[], Fault> {
  const mounts: OpenedMount[] = [];
  for (const { host, inside, access } of allMounts(machine, spec)) {
    const descriptor = host.open();
    if (!descriptor.ok) return descriptor;
    opened.push(descriptor.value);
    const granted = grantToUser(machine.appUser, descriptor.value, host, access);
    if (!granted.ok) return granted;
    mounts.push({ descriptor: descriptor.value, host: host.host, inside, access });
  }
  return ok(mounts);
}

function allMounts(machine: MountHost, spec: CheckedSpec): readonly Mount[] {
  const handsOver = isHandedOver(spec);
  const needsNode = !spec.usr || spec.executable === NODE_INSIDE || handsOver;
  const own = (host: CheckedPath, inside: string) => [{ host, inside, access: 'read' } as const];
  return [
    ...(needsNode ? own(machine.node, NODE_INSIDE) : []),
    ...(handsOver ? own(machine.handover, HANDOVER_INSIDE) : []),
    ...spec.mounts,
  ];
}

/** Only an app's own folder ever changes its owner; for the user's own files we say what is missing. */
function grantToUser(
  user: number | null,
  descriptor: number,
  host: CheckedPath,
  access: Mount['access'],
): Result<null, Fault> {
  if (user === null) return ok(null);
  if (access === 'own') return handOver(descriptor, user);
  const stats = fstatSync(descriptor);
  const needs = [
    ...(host.kind === 'socket' ? [] : ['read' as const]),
    ...(access === 'write' ? ['write' as const] : []),
    ...(host.kind === 'folder' ? ['search' as const] : []),
  ];
  const lacks = needs.find((what) => !permits(stats, user, what));
  if (lacks === undefined) return ok(null);
  const remedy = access === 'write' ? `chown -R ${user} ${host.host}` : `chmod -R go+rX ${host.host}`;
  return failed(
    fault(
      'sandbox-unavailable',
      `Cordon runs as root and apps as user ${user}, who may not ${lacks} \`${host.host}\``,
      `run \`${remedy}\`, or run Cordon as the user who owns these files`,
    ),
  );
}
