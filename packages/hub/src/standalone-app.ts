/**
 * One app that somebody else's client runs: no agent, no query, nobody to ask. Its network requests are its only
 * effects, and each passes the same gate, monitor and journal as those of any other app. The sites that its manifest
 * lists are the user's answer to the question of first contact; whatever a rule would ask besides is denied.
 *
 * Ring 0.
 */
import { createHash } from 'node:crypto';
import {
  type Clock,
  type Consent,
  type Fault,
  type InstalledApp,
  id,
  type Result,
  type SessionId,
} from '@cordon/core';
import type { Dialler } from '@cordon/dialler';
import { ReferenceMonitor } from '@cordon/monitor';
import type { Policy } from '@cordon/policy';
import type { ConfinedProcess, Sandbox, SandboxSpec } from '@cordon/sandbox';
import type { SessionJournal } from '@cordon/trace';
import type { Grants } from './consent/grants.ts';
import type { WaitingPrompts } from './consent/open-question.ts';
import { Permissions } from './consent/permission.ts';
import { Context } from './context/context.ts';
import type { EgressGateParts } from './egress/egress-gate.ts';
import { Recorder } from './journal/recorder.ts';
import { Gate } from './mediation/gate.ts';

export interface StandaloneAppParts {
  readonly app: InstalledApp;
  readonly policy: Policy;
  readonly session: SessionId;
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

const NOBODY: Consent = {
  permission: () => Promise.resolve({ allow: false, reason: 'no-answer' }),
  choose: () => Promise.resolve(null),
};

/** What was granted to an installed app of the same name was granted to another program. */
const NO_GRANTS: Grants = {
  find: () => null,
  give: () => null,
  consume: () => false,
  hasFlowed: () => false,
  isOutdated: () => false,
};

/** Nobody waits, so nothing is kept to be answered. */
const NO_PROMPTS: WaitingPrompts = { open: () => null, answered: () => null, close: () => null };

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

function gateParts({ app, policy, session, journal, clock, onDenied }: StandaloneAppParts): EgressGateParts {
  const monitor = new ReferenceMonitor({ policy });
  const recorder = new Recorder(journal, monitor);
  // One signal for all: after a dozen questions that nobody answered no more are put.
  const { signal } = new AbortController();
  const permissions = new Permissions({
    session,
    consent: NOBODY,
    grants: NO_GRANTS,
    recorder,
    digest: (text) => createHash('sha256').update(text).digest('hex'),
    signal: () => signal,
    prompts: NO_PROMPTS,
    identityOf: () => null,
    pause: () => Promise.resolve(),
  });
  const isWithinRate = rate(MOST_A_MINUTE, 60_000, clock);
  return {
    app: app.id,
    gate: new Gate(monitor, permissions, recorder, clock),
    recorder,
    newContext: () => ownContext(app, recorder),
    shutBecause: () => (isWithinRate() ? null : 'it makes too many requests'),
    requirementOf: () => null,
    onDenied: (host, reason) => onDenied(host ?? 'an address that was not named', reason),
  };
}

function ownContext(app: InstalledApp, recorder: Recorder): Context {
  const context = new Context({
    id: id(`${app.id}#1`),
    kind: 'errand',
    app: app.id,
    model: 'none',
    depth: 0,
    tools: new Map(),
  });
  recorder.record(context, { kind: 'context.created', of: 'errand', apps: [app.id] });
  return context;
}

/** At most `most` times true within a window of `windowMs`. */
function rate(most: number, windowMs: number, clock: Clock): () => boolean {
  let began = clock();
  let count = 0;
  return () => {
    if (clock() - began >= windowMs) {
      began = clock();
      count = 0;
    }
    count++;
    return count <= most;
  };
}
