/**
 * Node's own permission model as one more layer for JavaScript apps: where a fault of the kernel or of bubblewrap
 * would open a file, Node still refuses it. It is no layer to count on alone: it does not cover sockets.
 */
import { type CheckedSpec, HANDOVER_INSIDE, isHandedOver } from './spec.ts';

/** Flags before the script's; none for a program that is not our Node (`checkSpec`), or one that was granted everything. */
export function nodePermissionFlags(spec: CheckedSpec): readonly string[] {
  if (spec.nodeGrants === null) return [];
  const own = isHandedOver(spec) ? [HANDOVER_INSIDE] : [];
  const readable = [...own, ...spec.mounts.map(({ inside }) => inside)];
  const writable = spec.mounts.filter(({ access }) => access !== 'read').map(({ inside }) => inside);
  const tmp = spec.tmpMiB === null ? [] : ['/tmp'];
  return [
    '--permission',
    ...[...readable, ...tmp].map((path) => `--allow-fs-read=${path}`),
    ...[...writable, ...tmp].map((path) => `--allow-fs-write=${path}`),
    ...spec.nodeGrants.map((grant) => `--allow-${grant}`),
  ];
}
