/**
 * What decides about the network requests of one app's process, and writes down what becomes of each: decided by the
 * gate, refused by the way out, or over.
 */
import {
  type AppId,
  DEFAULT_LABEL,
  type Egress,
  type EventBody,
  type EventId,
  failed,
  fault,
  ok,
  type Reason,
} from '@cordon/core';
import { type EgressRequest, type Refusal, RefusalCount, type Traffic } from '@cordon/egress';
import type { ConsentRequirement } from '../consent/consent-requirement.ts';
import type { Context } from '../context/context.ts';
import type { Recorder } from '../journal/recorder.ts';
import type { Gate } from '../mediation/gate.ts';

/** Whether a request may leave; what is not allowed in time is refused. */
export type DecideEgress = (request: EgressRequest, signal: AbortSignal) => Promise<boolean>;

/** Decides about an app's requests, and hears their outcomes. */
export interface EgressDoor {
  readonly decide: DecideEgress;
  /** Refused before `decide` was asked, because it did not answer in time, or after its yes, because of where the name leads. */
  readonly onRefused: (refusal: Refusal) => void;
  /** Told once of each request that was let out. */
  readonly onClosed: (request: EgressRequest, traffic: Traffic) => void;
  /** No more processes of the app are there for now. */
  readonly onQuiet: () => void;
}

export interface EgressGateParts {
  readonly app: AppId;
  readonly gate: Gate;
  readonly recorder: Recorder;
  /** The app's requests are its own, whichever context's call led to them. */
  readonly newContext: () => Context;
  /** Whether the app was given nothing private of other apps. */
  readonly holdsOwnOnly: () => boolean;
  /** Asked for each request: why nothing may leave now; null: it may. */
  readonly shutBecause: () => string | null;
  readonly requirementOf: (request: EgressRequest) => ConsentRequirement | null;
  /** Told of whatever does not leave and of the first reason, as often as the trace is. */
  readonly onDenied?: (host: string | null, reason: string) => void;
}

export class EgressGate implements EgressDoor {
  readonly #parts: EgressGateParts;
  readonly #events = new WeakMap<EgressRequest, EventId>();
  readonly #refusals: RefusalCount;
  #context: Context | null = null;
  /** Whether something could not be written down. */
  #isUnrecorded = false;

  constructor(parts: EgressGateParts) {
    this.#parts = parts;
    this.#refusals = new RefusalCount((refusal, times) => {
      this.#record({ kind: 'egress.refused', ...refusal, times });
      const { host, reason, lacks } = refusal;
      const help = lacks === undefined ? '' : `; add "${lacks}" to \`network\``;
      parts.onDenied?.(host, `${reason}${help}${lacks?.includes('@') === true ? LEADS_INSIDE : ''}`);
    });
  }

  readonly decide: DecideEgress = async (request, signal) => {
    const { host, port, method, path, bytes } = request;
    const { app, gate } = this.#parts;
    const shut = this.#isUnrecorded
      ? 'what became of an earlier request is not recorded'
      : this.#parts.shutBecause();
    if (shut !== null) {
      this.onRefused({ host, port, reason: shut });
      return false;
    }
    const context = this.#own();
    const proposal: Egress = {
      effect: 'egress',
      context: context.id,
      app,
      method,
      host,
      port,
      path,
      bytes,
      ...(this.#parts.holdsOwnOnly() ? { holdsOwnOnly: true } : {}),
    };
    const circumstances = {
      causes: [],
      label: DEFAULT_LABEL,
      requirement: this.#parts.requirementOf(request),
    };
    const carried = await gate.carryOut(context, proposal, circumstances, (allowance) => {
      gate.spend(allowance);
      // A yes that comes after the proxy has given up lets nothing out, and the trace must not say so.
      return signal.aborted ? failed(fault('cancelled', 'nobody decided in time')) : ok(null);
    });
    if (carried.kind === 'done') this.#events.set(request, carried.event);
    if (carried.kind === 'refused') this.#parts.onDenied?.(host, firstOf(carried.reasons));
    return carried.kind === 'done';
  };

  readonly onRefused = (refusal: Refusal): void => this.#refusals.note(refusal);

  readonly onClosed = (request: EgressRequest, traffic: Traffic): void => {
    const event = this.#events.get(request);
    const causes = event === undefined ? [] : [event];
    this.#record({ kind: 'egress.closed', ...traffic }, causes);
  };

  readonly onQuiet = (): void => this.#refusals.flush();

  /**
   * Of what has happened already, so nothing is left to be prevented but what would come after it. It comes from events
   * of sockets, which an app causes at will: what was thrown here would be the end of the hub.
   */
  #record(body: EventBody, causes: readonly EventId[] = []): void {
    try {
      this.#parts.recorder.record(this.#own(), body, { causes });
    } catch {
      this.#isUnrecorded = true;
    }
  }

  #own(): Context {
    this.#context ??= this.#parts.newContext();
    return this.#context;
  }
}

const LEADS_INSIDE =
  ', but only if the server is yours: the name leads into your own network, perhaps to this machine';

function firstOf(reasons: readonly Reason[]): string {
  const [reason] = reasons;
  return reason === undefined ? 'the policy denies it' : `${reason.message} (${reason.rule})`;
}
