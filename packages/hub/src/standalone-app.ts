/**
 * One app that somebody else's client runs: no agent, no query, nobody to ask. Its network requests are its only
 * effects, and each passes the same gate, monitor and journal as those of any other app. The sites that its manifest
 * lists are the user's answer to the question of first contact; whatever a rule would ask besides is denied.
 */
import { type Clock, type Fault, type InstalledApp, id, type Result } from '@cordon/core';
import type { Dialler } from '@cordon/dialler';
import { ReferenceMonitor } from '@cordon/monitor';
import type { Policy } from '@cordon/policy';
import type { ConfinedProcess, Sandbox, SandboxSpec } from '@cordon/sandbox';
import type { SessionJournal } from '@cordon/trace';
import { TokenBucket } from './apps/token-bucket.ts';
import { refused } from './consent/permission.ts';
import { requirementOf } from './consent/policy-requirement.ts';
import { Context } from './context/context.ts';
import type { EgressGateParts } from './egress/egress-gate.ts';
import { Recorder } from './journal/recorder.ts';
import { Gate, type GateParts } from './mediation/gate.ts';

export interface StandaloneAppParts {
  readonly app: InstalledApp;
  readonly policy: Policy;
  readonly journal: SessionJournal;
  readonly clock: Clock;
  readonly dialler: Dialler;
  /** Told of each request that is not let out, and of the first reason; it holds no content of the request. */
  readonly onDenied: (host: string, reason: string) => void;
}

/** The app's way out. */
export interface StandaloneNetwork {
  /** Starts the program with nothing but this network. */
  spawn(sandbox: Sandbox, spec: SandboxSpec, signal: AbortSignal): Promise<Result<ConfinedProcess, Fault>>;
  /** Ends every connection. */
  close(): Promise<void>;
}

/** Each request is several events of the journal; beyond these nothing is decided, and nothing leaves. */
const MOST_A_MINUTE = 300;

/** Nobody is there to answer: what a rule asks is refused. */
const NOBODY: GateParts['permissions'] = {
  obtain: async (request) => refused(requirementOf(request).subject, 'nobody answered'),
  isStillGiven: () => false,
};

export async function openStandaloneNetwork(parts: StandaloneAppParts): Promise<StandaloneNetwork> {
  // Loaded now: Node's HTTP takes 20 ms, and most programs that load this file open no network.
  const [{ AppNetwork, EgressGate }, { spawnWithProxy }] = await Promise.all([
    import('./egress/app-network.ts'),
    import('./processes/proxied-process.ts'),
  ]);
  const { app, dialler } = parts;
  const network = new AppNetwork({ app, door: new EgressGate(gateParts(parts)), dialler });
  return {
    spawn: (sandbox, spec, signal) => spawnWithProxy(sandbox, spec, network, signal),
    close: () => network.end(),
  };
}

function gateParts({ app, policy, journal, clock, onDenied }: StandaloneAppParts): EgressGateParts {
  const monitor = new ReferenceMonitor({ policy });
  const recorder = new Recorder(journal, monitor);
  const requests = new TokenBucket({ perSecond: MOST_A_MINUTE / 60, burst: MOST_A_MINUTE });
  return {
    app: app.id,
    gate: new Gate({ monitor, permissions: NOBODY, recorder, now: clock }),
    recorder,
    newContext: () => ownContext(app, recorder),
    holdsOwnOnly: () => false,
    shutBecause: () => (requests.take() ? null : 'it makes too many requests'),
    requirementOf: () => null,
    onDenied: (host, reason) => onDenied(host ?? 'an address that was not named', reason),
  };
}

function ownContext(app: InstalledApp, recorder: Recorder): Context {
  const context = new Context({ id: id(`${app.id}#1`), kind: 'errand', app: app.id, model: 'none' });
  recorder.record(context, { kind: 'context.created', of: 'errand', apps: [app.id] });
  return context;
}
