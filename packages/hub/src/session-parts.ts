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

export interface SessionParts {
  readonly id: SessionId;
  /** `none` is the baseline: one shared context, and no questions but a policy's. It exists to compare against. */
  readonly isolation: 'spokes' | 'none';
  readonly apps: readonly InstalledApp[];
  readonly model: Model;
  /** `provider/model` for contexts whose app names none. */
  readonly modelId: string;
  readonly policy: Policy;
  /** What the journal holds of a resumed session; empty for a new one. */
  readonly past: readonly Event[];
  readonly journal: SessionJournal;
  readonly grants: Grants;
  readonly prompts: Store['prompts'];
  readonly memory: Memory;
  /** How what is too old to be shown again is summed up. */
  readonly summaries: SummaryMode;
  /** Who finds facts in the user's own words. */
  readonly facts: FactsMode;
  readonly memoryLimits: MemoryLimits;
  readonly consent: Consent;
  readonly launcher: AppLauncher;
  readonly spokes: SpokeLauncher;
  /** What was agreed to of each app. The baseline asks nobody. */
  readonly pins: AppPins;
  /** For credentials of manifests; undefined: none is of use. */
  readonly readSecret?: ReadSecret | undefined;
  readonly limits: TurnLimits;
  /** Who answers questions of rules; null: nobody, and rules that ask are undecided. */
  readonly answering: Answering | null;
  /** Looks at texts that are too long for this thread; null: the policy looks at all itself. */
  readonly texts: TextThread | null;
  /** What models cost; one that is not in it does not run where money is limited. */
  readonly prices: ModelPrices;
  readonly warm: WarmLimits;
  /** Whether the context that will most likely serve a query is begun while it is planned. */
  readonly speculates: boolean;
  /** What the user could install. */
  readonly installables: Installables;
  /** The functionalities that every spoke may ask others for. */
  readonly functionalities: readonly CatalogueEntry[];
  /** Apps that were used in this session or in earlier ones, the last used first. */
  readonly recentApps: () => readonly AppId[];
  /** Makes waiting for the disk shorter from then on; rejects where that cannot be had. */
  readonly makeRoom: () => Promise<void>;
  readonly clock: Clock;
  /** SHA-256 in hexadecimal. */
  readonly digest: (text: string) => string;
  /** An unguessable short text. */
  readonly random: () => string;
  /** Resolves after so many milliseconds, or when the signal aborts. */
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Layers of the sandbox that apps go without; questions say so. */
  readonly weaker?: readonly string[];
  /** Lets go of the session without ending it. */
  readonly release: () => void;
}
