/** What a session is made of: everything that acts is handed in. */
import type {
  AppId,
  Clock,
  Consent,
  Event,
  FactsMode,
  InstalledApp,
  MemoryLimits,
  Model,
  ModelPrices,
  ReadSecret,
  SessionId,
  SummaryMode,
  TextJudge,
  TurnLimits,
  WarmLimits,
} from '@cordon/core';
import type { Dialler } from '@cordon/dialler';
import type { Policy } from '@cordon/policy';
import type { SessionJournal, Store } from '@cordon/trace';
import type { AppPins } from './apps/app-pins.ts';
import type { AppLauncher } from './apps/app-process.ts';
import type { Grants } from './consent/grants.ts';
import type { LookAt } from './consent/named-texts.ts';
import type { AppLogins } from './egress/app-logins.ts';
import type { Answering } from './mediation/detector-queries.ts';
import type { StoredMemory } from './memory/stored-memory.ts';
import type { Installables } from './planning/installing.ts';
import type { Planner } from './planning/planner.ts';
import type { CatalogueEntry } from './query/catalogue.ts';
import type { SpokeLauncher } from './spokes/spoke-link.ts';

/** The model of a session, and what is right with it. */
export interface ModelChoice {
  /** `provider/model` for contexts whose app names none. */
  readonly modelId: string;
  /** How what is too old to be shown again is summed up. */
  readonly summaries: SummaryMode;
  /** Who finds facts in the user's own words. */
  readonly facts: FactsMode;
}

/** What acts for every session of a hub, handed in by the composition root. */
export interface HubPorts {
  readonly apps: readonly InstalledApp[];
  readonly model: Model;
  /** `provider/model` for contexts whose app names none. */
  readonly modelId: string;
  readonly planner: Planner;
  readonly policy: Policy;
  readonly launcher: AppLauncher;
  readonly spokes: SpokeLauncher;
  /** What was agreed to of each app: no app is used without. The baseline asks nobody. */
  readonly pins: AppPins;
  /** Reads a secret of the user's for one request, for credentials of manifests; undefined: there are none. */
  readonly readSecret?: ReadSecret | undefined;
  readonly consent: Consent;
  readonly clock: Clock;
  /** Layers of the sandbox that apps go without; questions say so. */
  readonly weaker?: readonly string[];
}

/** What sessions of a hub do; each has a default. */
export interface HubOptions {
  readonly limits: TurnLimits;
  readonly warm: WarmLimits;
  /** What of its history a context is shown again. */
  readonly memoryLimits: MemoryLimits;
  /** How what is too old to be shown again is summed up; by default `extract`. */
  readonly summaries: SummaryMode;
  /** Who finds facts in the user's own words; by default `patterns`. */
  readonly facts: FactsMode;
  /** Whether the context that will most likely serve a query is begun while it is planned; by default not. */
  readonly speculates: boolean;
  /** Who answers questions of rules; null: nobody, and rules that ask are undecided. */
  readonly answering: Answering | null;
  /** Looks at texts that are too long for the hub's own thread; null: the policy looks at all itself. */
  readonly texts: TextJudge | null;
  /** What models cost. A model without a price does not run where money is limited. */
  readonly prices: ModelPrices;
  /** The user's own list of apps that could be installed; by default none. */
  readonly installables: Installables;
  /** The functionalities that every spoke may ask others for; by default `CATALOGUE`. */
  readonly functionalities: readonly CatalogueEntry[];
  /** Connects for apps that have the network, and to apps that run elsewhere; by default from this process. */
  readonly dialler: Dialler;
  /** The user's logins to apps that run elsewhere; null: there are none. */
  readonly logins: AppLogins | null;
  /** What is at a path in a folder of an app; by default nobody knows. */
  readonly lookAt: LookAt;
}

export interface SessionParts extends HubPorts, HubOptions {
  readonly id: SessionId;
  /** `none` is the baseline: one shared context, and no questions but a policy's. It exists to compare against. */
  readonly isolation: 'spokes' | 'none';
  /** What the journal holds of a resumed session; empty for a new one. */
  readonly past: readonly Event[];
  readonly journal: SessionJournal;
  /** All events of the session, as the journal has them. */
  readonly recorded: () => readonly Event[];
  readonly grants: Grants;
  readonly prompts: Store['prompts'];
  readonly memory: StoredMemory;
  /** Apps that were used in this session or in earlier ones, the last used first. */
  readonly recentApps: () => readonly AppId[];
  /** Makes waiting for the disk shorter from then on; rejects where that cannot be had. */
  readonly makeRoom: () => Promise<void>;
  /** SHA-256 in hexadecimal. */
  readonly digest: (text: string) => string;
  /** An unguessable short text. */
  readonly random: () => string;
  /** Resolves after so many milliseconds, or when the signal aborts. */
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Releases the session without ending it. */
  readonly release: () => void;
}
