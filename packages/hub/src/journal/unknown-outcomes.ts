/**
 * Calls that cannot be undone and may have happened already. Making one of them again needs a separate question, with the
 * doubt as a warning: no grant that was given without it covers it (permission.ts, digests). Where the journal has lost events
 * every call that cannot be undone is such a one, for the rest of the session.
 *
 * INVARIANT (no silent repetition): a call that is in doubt, or was made in the resumed query, is made again only after
 * the user has said so.
 */
import { canonicalJson, type Event, type EventId, type Proposal } from '@cordon/core';

type Call = Extract<Event, { kind: 'tool-call.proposed' }>;

/** The doubts of one session, told from its events. */
export class UnknownOutcomes {
  /** Calls that cannot be undone and have no outcome yet. */
  readonly #open = new Map<EventId, Call>();
  /** By the event of the call. */
  readonly #doubts = new Map<EventId, Call>();
  /** The journal lacks events: any call may have been made before. */
  #hasLost = false;

  /** Called for every event of the session, in order. */
  observe(event: Event): void {
    if (event.kind === 'session.resumed' && event.lost !== undefined) this.#hasLost = true;
    const [proposal] = event.causes;
    if (event.kind === 'tool-call.proposed' && event.irreversible) this.#open.set(event.id, event);
    const call = proposal === undefined ? undefined : this.#open.get(proposal);
    if (proposal === undefined || call === undefined) return;
    switch (event.kind) {
      case 'tool-call.decided':
        // The user has been told of the doubt and wants it all the same; whatever comes of it now is about this call.
        if (event.verdict === 'allow') this.#settle(call);
        else this.#open.delete(proposal);
        return;
      case 'tool-call.in-doubt':
        this.#doubts.set(proposal, call);
        this.#open.delete(proposal);
        return;
      case 'tool-call.executed':
      case 'tool-call.failed':
        this.#open.delete(proposal);
        return;
      default:
        return;
    }
  }

  /**
   * What makes a proposal a repetition that has to be asked about; null: nothing. The same tool with other arguments is one
   * too: a model that is asked anew says the same in other words.
   */
  about(proposal: Proposal): string | null {
    if (proposal.effect !== 'tool-call') return null;
    const same = this.all.filter(({ app, tool }) => app === proposal.app && tool === proposal.tool);
    const call = same.find((candidate) => keyOf(candidate) === keyOf(proposal)) ?? same[0];
    if (call === undefined) return this.#hasLost && proposal.irreversible ? LOST_EVENTS : null;
    const what = keyOf(call) === keyOf(proposal) ? 'This very call' : `Another call of \`${call.tool}\``;
    return `${what} was made before, and it is not known whether it took effect (${call.callId}).`;
  }

  get all(): readonly Call[] {
    return [...this.#doubts.values()];
  }

  #settle(call: Call): void {
    for (const [event, doubtful] of this.#doubts)
      if (keyOf(doubtful) === keyOf(call)) this.#doubts.delete(event);
  }
}

const LOST_EVENTS =
  'Events of this session were lost, so this call may have been made before: the journal would not show it.';

/** What makes two calls the same. */
export function keyOf({ app, tool, arguments: args }: Pick<Call, 'app' | 'tool' | 'arguments'>): string {
  return canonicalJson([app, tool, args]);
}
