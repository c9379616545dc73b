/**
 * Pins: what the user has agreed to that an app is and says of itself. An app that says something else is stopped,
 * and stays stopped, also when it says the agreed text again, until it has been reviewed.
 *
 * INVARIANT (pinned text): what a model reads of an app, and what the hub acts on, is the text that was pinned, not
 * the text that the app sent.
 */
import { type AppId, canonicalJson, type Fault, fault, type InstalledApp, type Json } from '@cordon/core';
import type { Pin, PinnedBy, Pins } from '@cordon/trace';
import {
  type AppDescription,
  appDigest,
  descriptionDigest,
  descriptionJson,
  readDescription,
} from './app-description.ts';

/** What became of an app before its first use, or when it told its tools anew. */
export type Vetting =
  | {
      readonly kind: 'pinned';
      /** The text to act on. */
      readonly description: AppDescription;
      readonly digest: string;
      /** Null: it was pinned before. */
      readonly by: PinnedBy | null;
    }
  | { readonly kind: 'changed'; readonly pinned: string; readonly found: string; readonly fault: Fault }
  | { readonly kind: 'unreviewed'; readonly fault: Fault };

export interface AppPins {
  /** What grants of an app are bound to; null: nothing is agreed to, so no grant may hold. */
  digest(app: AppId): string | null;
  /** What the user agreed to that the app says of itself; null: nothing, or it is stopped, or configured otherwise since. */
  agreed(app: AppId): AppDescription | null;
  /** Before the first use of a process: whether it is and says what was agreed to. May ask the user. */
  vet(app: InstalledApp, said: AppDescription, signal: AbortSignal): Promise<Vetting>;
  /** An app that is in use told its tools anew. Asks nobody. */
  recheck(app: InstalledApp, said: AppDescription): Vetting;
}

/** An app as somebody has to look at it. */
export interface Review {
  readonly app: InstalledApp;
  /** Command and manifest as they are configured, without values of secrets. */
  readonly configured: Json;
  readonly description: AppDescription;
  readonly digest: string;
  /** What was agreed to before; null: nothing ever. */
  readonly before: Reviewed | null;
  /** What it was stopped for saying, if that is neither of the two. */
  readonly stopped: Reviewed | null;
}

export interface Reviewed {
  readonly configured: Json;
  readonly description: AppDescription;
  readonly digest: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Whoever shows an app to the user. What does not answer, declines. */
export interface Reviewer {
  agrees(review: Review, signal: AbortSignal): Promise<boolean>;
}

export interface StoredPinsParts {
  readonly pins: Pins;
  /** The folder of the configuration: the same entry in another folder is another program. */
  readonly place: string;
  readonly apps: readonly InstalledApp[];
  /** Command and manifest as they stand in the configuration, without values of secrets. */
  readonly configured: (app: InstalledApp) => Json;
  /** The digest of the description that the configuration demands; null: none. */
  readonly demanded: (app: AppId) => string | null;
  /** Null: nobody can be asked. */
  readonly reviewer: Reviewer | null;
  /** Pins unseen what was never pinned, or is configured anew and says the same: the user said so. */
  readonly pinsUnseen: boolean;
}

export class StoredPins implements AppPins {
  readonly #parts: StoredPinsParts;

  constructor(parts: StoredPinsParts) {
    this.#parts = parts;
  }

  digest(appId: AppId): string | null {
    const app = this.#parts.apps.find((candidate) => candidate.id === appId);
    if (app === undefined) return null;
    const configured = this.#parts.configured(app);
    // The user's own file holds all that it says.
    if (app.source.kind === 'instructions')
      return this.#digest(app.id, configured, { instructions: app.source.instructions, tools: [] });
    return this.#agreedPin(app.id, configured)?.digest ?? null;
  }

  agreed(appId: AppId): AppDescription | null {
    const app = this.#parts.apps.find((candidate) => candidate.id === appId);
    if (app === undefined || app.source.kind === 'instructions') return null;
    const pin = this.#agreedPin(appId, this.#parts.configured(app));
    const vetting = pin === null ? null : this.#inForce(app, pin);
    return vetting?.kind === 'pinned' ? vetting.description : null;
  }

  /** Null: the user agreed to nothing, or the app is stopped, or configured or demanded otherwise since. */
  #agreedPin(app: AppId, configured: Json): Pin | null {
    const pin = this.#parts.pins.find(this.#parts.place, app);
    const isInForce = pin !== null && pin.stopped === null && isSame(pin.configured, configured);
    return isInForce && !this.#isDemandedOtherwise(pin) ? pin : null;
  }

  /**
   * INVARIANT (first difference): what differs from the pin is written down before anybody is asked, so that an app
   * that says the pinned text again is as stopped as before.
   */
  async vet(app: InstalledApp, said: AppDescription, signal: AbortSignal): Promise<Vetting> {
    const known = this.recheck(app, said);
    if (known.kind === 'pinned') return known;
    if (this.#demand(app.id, said) === 'unmet') return known;
    const before = this.#parts.pins.find(this.#parts.place, app.id);
    if (this.#parts.pinsUnseen && (before === null || saysTheSame(before, said)))
      return this.#pin(app, said, 'option');
    const review = this.reviewOf(app, said);
    const isAgreed = (await this.#parts.reviewer?.agrees(review, signal)) === true && !signal.aborted;
    return isAgreed ? this.#pin(app, said, 'user') : known;
  }

  recheck(app: InstalledApp, said: AppDescription): Vetting {
    const { pins, place } = this.#parts;
    const configured = this.#parts.configured(app);
    const found = this.#digest(app.id, configured, said);
    const pin = pins.find(place, app.id);
    const demand = this.#demand(app.id, said);
    if (demand === 'unmet') return this.#stop(app, pin, said, found);
    if (pin?.digest === found && pin.stopped === null) return this.#inForce(app, pin);
    // The file that holds the digest holds command and manifest too: who writes the one writes the others. It ends a
    // stop only where it demands something else than what was pinned then.
    const isVouched = pin === null || pin.stopped === null || this.#isDemandedOtherwise(pin);
    if (demand === 'met' && isVouched) return this.#pin(app, said, 'configuration');
    return pin === null
      ? { kind: 'unreviewed', fault: neverReviewed(app) }
      : this.#stop(app, pin, said, found);
  }

  /** What has to be looked at. */
  reviewOf(app: InstalledApp, said: AppDescription): Review {
    const configured = this.#parts.configured(app);
    const digest = this.#digest(app.id, configured, said);
    const pin = this.#parts.pins.find(this.#parts.place, app.id);
    const stopped = pin?.stopped ?? null;
    return {
      app,
      configured,
      description: said,
      digest,
      before: pin === null ? null : reviewed(pin, pin.pinnedAt),
      stopped:
        stopped === null || stopped.digest === digest || stopped.digest === pin?.digest
          ? null
          : reviewed(stopped, stopped.at),
    };
  }

  /** Agreed to, whatever was there before. */
  agree(app: InstalledApp, said: AppDescription): Vetting {
    return this.#pin(app, said, 'user');
  }

  #pin(app: InstalledApp, said: AppDescription, by: PinnedBy): Vetting {
    const { pins, place } = this.#parts;
    const configured = this.#parts.configured(app);
    const digest = this.#digest(app.id, configured, said);
    pins.pin({ place, app: app.id, configured, description: descriptionJson(said), digest, by });
    return { kind: 'pinned', description: said, digest, by };
  }

  #inForce(app: InstalledApp, pin: Pin): Vetting {
    const description = readDescription(pin.description);
    // A store that holds something else than was pinned is damaged, or somebody's work.
    if (description === null || this.#digest(app.id, pin.configured, description) !== pin.digest)
      return { kind: 'unreviewed', fault: neverReviewed(app) };
    return { kind: 'pinned', description, digest: pin.digest, by: null };
  }

  #stop(app: InstalledApp, pin: Pin | null, said: AppDescription, found: string): Vetting {
    const { pins } = this.#parts;
    const configured = this.#parts.configured(app);
    if (pin !== null && pin.stopped === null && pin.digest !== found)
      pins.stop(pin, { configured, description: descriptionJson(said), digest: found });
    const demanded = this.#parts.demanded(app.id);
    const reason =
      demanded !== null && demanded !== descriptionDigest(said)
        ? otherThanDemanded(app, demanded, descriptionDigest(said))
        : changed(app, pin, found);
    return { kind: 'changed', pinned: pin?.digest ?? demanded ?? '', found, fault: reason };
  }

  #demand(app: AppId, said: AppDescription): 'none' | 'met' | 'unmet' {
    const demanded = this.#parts.demanded(app);
    if (demanded === null) return 'none';
    return demanded === descriptionDigest(said) ? 'met' : 'unmet';
  }

  #isDemandedOtherwise(pin: Pin): boolean {
    const demanded = this.#parts.demanded(pin.app);
    if (demanded === null) return false;
    const description = readDescription(pin.description);
    return description === null || descriptionDigest(description) !== demanded;
  }

  #digest(app: AppId, configured: Json, description: AppDescription): string {
    return appDigest(app, this.#parts.place, configured, description);
  }
}

/** Only command and manifest are others, which are the user's own words; and it never said anything else. */
function saysTheSame({ description, stopped }: Pin, said: AppDescription): boolean {
  const texts = [description, ...(stopped === null ? [] : [stopped.description])].map(readDescription);
  return texts.every((text) => text !== null && descriptionDigest(text) === descriptionDigest(said));
}

/** The baseline, which takes every app at its word. */
export const NO_PINS: AppPins = {
  digest: () => null,
  agreed: () => null,
  vet: (_, said) => Promise.resolve(NO_PINS.recheck(_, said)),
  recheck: (_, said) => ({ kind: 'pinned', description: said, digest: descriptionDigest(said), by: null }),
};

function reviewed(
  { configured, description, digest }: { configured: Json; description: Json; digest: string },
  at: number,
): Reviewed | null {
  const read = readDescription(description);
  return read === null ? null : { configured, description: read, digest, at };
}

function isSame(a: Json, b: Json): boolean {
  return canonicalJson(a) === canonicalJson(b);
}

function neverReviewed({ id }: InstalledApp): Fault {
  const message = `you have not yet agreed to the description of \`${id}\``;
  return fault('app-unreviewed', message, `\`cordon apps review ${id}\` shows it and asks`);
}

function changed({ id }: InstalledApp, pin: Pin | null, found: string): Fault {
  const how =
    pin?.digest === found
      ? `\`${id}\` was stopped because its description changed after you agreed to it`
      : `\`${id}\` has changed since you agreed to it: its description, its command or its manifest is different`;
  return fault('app-unreviewed', how, `\`cordon apps review ${id}\` shows the difference and asks`);
}

function otherThanDemanded({ id }: InstalledApp, demanded: string, found: string): Fault {
  const message = `the description of \`${id}\` does not match its \`pin\` in the configuration, ${demanded.slice(0, 19)}…`;
  const help = `\`cordon apps review ${id}\` shows it; to agree, write \`"pin": "${found}"\` there`;
  return fault('app-unreviewed', message, help);
}
