/** What `cordon init` shows on its screen, and what the user says yes to. */
import type { Configuration } from '@cordon/config';
import type { SecretPlace } from '@cordon/config/keys';
import type { JsonObject } from '@cordon/core';
import type { AppProposal, ProposalPlace } from '@cordon/onboarding';
import type { DraftApp } from './draft.ts';
import type { AppLabels } from './proposed-labels.ts';

export interface InitOptions {
  /** Also where no person can be asked. */
  readonly yes?: boolean;
  /** Also the apps of other clients, beside those of a `cordon.json` that is there. */
  readonly clients?: boolean;
}

/** What stands on the screen. */
export interface Draft {
  readonly file: string;
  /** Null: there is no file yet. */
  readonly text: string | null;
  /** The same as JSON; without a file, an empty object. */
  readonly tree: JsonObject;
  readonly place: ProposalPlace & SecretPlace;
  readonly apps: readonly DraftApp[];
  readonly labels: readonly AppLabels[];
  /** Names of secrets that the file names and that were never typed. */
  readonly missing: readonly string[];
  /** Apps of the file without labels whose tools are not known, because nobody has reviewed them. */
  readonly unreviewed: readonly string[];
  /** Null: the file cannot be used as it is. */
  readonly configuration: Configuration | null;
  /** Whether the screen shows everything that the file will do, so that a yes to it is a yes to the file. */
  readonly isWhollyShown: boolean;
}

/** What the user said yes to. */
export interface Agreed {
  readonly proposals: readonly AppProposal[];
  /** Those of them that are taken and have not listed their tools yet. */
  readonly open: readonly AppProposal[];
}

/** How many of them are fetched from a registry. */
export function packagesOf(taken: readonly AppProposal[]): number {
  return taken.filter(({ isPackage }) => isPackage).length;
}

/** Those that the user did not turn off. */
export function takenFrom(proposals: readonly AppProposal[]): readonly AppProposal[] {
  return proposals.filter(({ isTaken }) => isTaken);
}
