/**
 * A confined process whose only way out is a proxy of the hub. A program on our own Node hands its listener over
 * before its code is loaded; every other program gets a Unix socket and a forwarder inside.
 *
 * Ring 0.
 */
import { type Fault, failed, fault, type Result } from '@cordon/core';
import {
  type ConfinedProcess,
  checkPath,
  NODE_INSIDE,
  type Sandbox,
  type SandboxSpec,
} from '@cordon/sandbox';
import type { AppNetwork } from './app-network.ts';

/** Starts it, and closes its proxy when it is gone. `spec.network` is set here. */
export function spawnWithProxy(
  sandbox: Sandbox,
  spec: SandboxSpec,
  network: Pick<AppNetwork, 'openProxy' | 'takeOver'>,
  socketFolder: string,
  signal: AbortSignal,
): Promise<Result<ConfinedProcess, Fault>> {
  return spec.executable === NODE_INSIDE
    ? spawnWithHandover(sandbox, spec, network, signal)
    : spawnWithForwarder(sandbox, spec, network, socketFolder, signal);
}

async function spawnWithHandover(
  sandbox: Sandbox,
  spec: SandboxSpec,
  network: Pick<AppNetwork, 'takeOver'>,
  signal: AbortSignal,
): Promise<Result<ConfinedProcess, Fault>> {
  const confined = await sandbox.spawn({ ...spec, network: { kind: 'handover' } }, signal);
  if (!confined.ok) return confined;
  const { listener, exited, kill } = confined.value;
  // Not waited for: an app may end before it, and says why on its own.
  void listener?.then(async (handed) => {
    if (handed === null) return;
    const proxy = await network.takeOver(handed);
    if (!proxy.ok) return kill();
    await exited;
    await proxy.value.close();
  });
  return confined;
}

async function spawnWithForwarder(
  sandbox: Sandbox,
  spec: SandboxSpec,
  network: Pick<AppNetwork, 'openProxy'>,
  socketFolder: string,
  signal: AbortSignal,
): Promise<Result<ConfinedProcess, Fault>> {
  const proxy = await network.openProxy(socketFolder);
  if (!proxy.ok) return proxy;
  const socket = checkPath(proxy.value.socket);
  const confined = socket.ok
    ? await sandbox.spawn({ ...spec, network: { kind: 'proxy', socket: socket.value } }, signal)
    : failed(fault('sandbox-unavailable', 'the socket of the egress proxy is gone'));
  if (confined.ok) void confined.value.exited.then(() => proxy.value.close());
  else await proxy.value.close();
  return confined;
}
