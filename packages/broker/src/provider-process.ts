/** The process of one provider: what starts it, and its calls. */
import {
  type Fault,
  failed,
  fault,
  type Json,
  type ModelCallOptions,
  type ModelFault,
  type Result,
} from '@cordon/core';
import type { Dial } from '@cordon/dialler';
import type { ConfinedProcess, Sandbox, SandboxSpec } from '@cordon/sandbox';
import { HelperProcess } from '@cordon/sandbox/helper';
import { CANCELLED, type LinkParts, ProviderLink, unavailable } from './provider-link.ts';
import { relay, type Target } from './relay.ts';
import { CALL_LINE_BYTES } from './wire.ts';

export interface ProviderProcessParts extends LinkParts {
  readonly sandbox: Sandbox;
  readonly spec: () => Result<SandboxSpec, Fault>;
  /** All that the process can reach. */
  readonly target: Target;
  readonly dial: Dial;
  /** A process of 70 MiB that nobody has used for so long is ended. */
  readonly idleMs: number;
  readonly firstWaitMs: number;
}

const LONGEST_WAIT_MS = 10_000;

export class ProviderProcess {
  readonly #helper: HelperProcess<ProviderLink>;

  constructor(parts: ProviderProcessParts) {
    this.#helper = new HelperProcess({
      spawn: (signal) => spawn(parts, signal),
      open: (life) => new ProviderLink(life, parts),
      lineBytes: CALL_LINE_BYTES,
      idleMs: parts.idleMs,
      pauseMs: { first: parts.firstWaitMs, longest: LONGEST_WAIT_MS },
    });
  }

  async call(input: object, options: ModelCallOptions): Promise<Result<Json, ModelFault>> {
    if (options.signal.aborted) return CANCELLED;
    const link = await this.#helper.peer();
    if (options.signal.aborted) return CANCELLED;
    if (!link.ok) return unavailable(link.fault.message, link.fault.help);
    return link.value.call(input, options);
  }

  /** Ends the process; every call fails from then on. */
  close(): Promise<void> {
    return this.#helper.close();
  }
}

async function spawn(
  { sandbox, spec, target, dial }: ProviderProcessParts,
  signal: AbortSignal,
): Promise<Result<ConfinedProcess, Fault>> {
  const wanted = spec();
  if (!wanted.ok) return wanted;
  const spawned = await sandbox.spawn(wanted.value, signal);
  if (!spawned.ok) return spawned;
  const { listener, exited, kill } = spawned.value;
  if (listener === null) {
    kill();
    return failed(fault('sandbox-unavailable', 'the process has no way to its provider'));
  }
  void listener.then((handed) => {
    if (handed !== null) void exited.then(relay(handed, target, dial, kill));
  });
  return spawned;
}
