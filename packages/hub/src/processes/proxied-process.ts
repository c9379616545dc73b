/**
 * A confined process whose only way out is the hub, on listeners that the sandbox hands over before any code of the app runs.
 */
import type { Fault, Result } from '@cordon/core';
import type { ConfinedProcess, Sandbox, SandboxSpec } from '@cordon/sandbox';
import type { NetworkAccess } from '../apps/app-process.ts';

/** Starts it, and closes its proxy when it is gone. `spec.network` is set here. */
export async function spawnWithProxy(
  sandbox: Sandbox,
  spec: SandboxSpec,
  network: Pick<NetworkAccess, 'ports' | 'takeOver'>,
  signal: AbortSignal,
): Promise<Result<ConfinedProcess, Fault>> {
  const confined = await sandbox.spawn(
    { ...spec, network: { kind: 'direct', ports: network.ports } },
    signal,
  );
  if (!confined.ok) return confined;
  const { listener, direct, exited, kill } = confined.value;
  // Not waited for: an app may end before it, and says why on its own.
  void listener?.then(async (handed) => {
    if (handed === null) return;
    const proxy = await network.takeOver(handed, (await direct) ?? null);
    if (!proxy.ok) return kill();
    await exited;
    await proxy.value.close();
  });
  return confined;
}
