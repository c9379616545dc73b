/** Ephemeral ids: by one a context asks for a functionality without learning which app serves it. */
import { type AppId, type ContextId, type EphemeralId, type Functionality, id } from '@cordon/core';
import type { Context } from '../context/context.ts';
import type { Recorder } from '../journal/recorder.ts';

export interface OffersParts {
  readonly recorder: Recorder;
  /** An unguessable short text. */
  readonly random: () => string;
}

export class Offers {
  readonly #parts: OffersParts;
  /** Whom each id of this session was given to. */
  readonly #holders = new Map<string, ContextId>();

  constructor(parts: OffersParts) {
    this.#parts = parts;
  }

  /** Gives a context an id for a functionality of an app; the plan or the user chose the app. */
  offer(context: Context, app: AppId, functionality: Functionality): EphemeralId {
    const { recorder, random } = this.#parts;
    const { name } = functionality;
    const peer = recorder.cursor?.nextPeer(context.id, app, name) ?? id<'ephemeral'>(`peer-${random()}`);
    context.peers.set(peer, { app, functionality });
    this.#holders.set(peer, context.id);
    recorder.record(context, { kind: 'offer.made', functionality: name, peer, to: app });
    return peer;
  }

  /** The context that holds an id, so that the trace says whose id another context used; null: there is no such id. */
  holderOf(peer: string): ContextId | null {
    return this.#holders.get(peer) ?? null;
  }
}
