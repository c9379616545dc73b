/**
 * What a session is made of: everything that acts is handed in.
 *
 * Ring 0.
 */
import type {
  AppId,
  Clock,
  Consent,
  Event,
  InstalledApp,
  MemoryLimits,
  Model,
  ModelPrices,
  SessionId,
  TextThread,
  TurnLimits,
  WarmLimits,
} from '@cordon/core';
import type { Policy } from '@cordon/policy';
import type { SessionJournal, Store } from '@cordon/trace';
import type { AppPins } from './apps/app-pins.ts';
import type { AppLauncher } from './apps/app-process.ts';
import type { Grants } from './consent/grants.ts';
import type { ReadSecret } from './egress/hub-fetch.ts';
import type { Answering } from './mediation/detector-queries.ts';
import type { FactsMode } from './memory/learning.ts';
import type { Memory } from './memory/memory.ts';
import type { SummaryMode } from './memory/summaries.ts';
import type { Installables } from './planning/installing.ts';
import type { CatalogueEntry } from './query/catalogue.ts';
import type { SpokeLauncher } from './spokes/spoke-link.ts';

/** What acts for every session of a hub, handed in by the composition root. */
export interface HubPorts {
  readonly apps: readonly InstalledApp[];
  readonly model: Model;
  /** `provider/model` for contexts whose app names none. */
  readonly modelId: string;
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

export interface SessionParts extends HubPorts {
  readonly id: SessionId;
  /** `none` is the baseline: one shared context, and no questions but a policy's. It exists to compare against. */
  readonly isolation: 'spokes' | 'none';
  /** What the journal holds of a resumed session; empty for a new one. */
  readonly past: readonly Event[];
  readonly journal: SessionJournal;
  readonly grants: Grants;
  readonly prompts: Store['prompts'];
  readonly memory: Memory;
  readonly memoryLimits: MemoryLimits;
  readonly summaries: SummaryMode;
  readonly facts: FactsMode;
  readonly limits: TurnLimits;
  readonly answering: Answering | null;
  readonly texts: TextThread | null;
  readonly prices: ModelPrices;
  readonly warm: WarmLimits;
  readonly speculates: boolean;
  readonly installables: Installables;
  readonly functionalities: readonly CatalogueEntry[];
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
