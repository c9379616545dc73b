/**
 * What stands between a wish and a connection, the same for every way out: form, reach, budget, decision, name.
 * Nothing unknown is ever looked up, and what was not decided is never dialled.
 */
import type { Socket } from 'node:net';
import { bareAddress, failed, ok, type Result } from '@cordon/core';
import type { Dial, DialFault, Lookup } from '@cordon/dialler';
import type { Budget, Contact } from './budget.ts';
import { type Destination, isAddress } from './destination.ts';
import { entryLacking, entryLeadingTo, isWithinReach, placesOf, type Reach } from './reach.ts';
import type { Refusal } from './refusal.ts';
import { resolveName } from './resolver.ts';

/** One request as the monitor sees it. */
export interface EgressRequest extends Destination {
  readonly method: string;
  /** Null inside a TLS tunnel, where it cannot be seen. */
  readonly path: string | null;
  /** Of the body. No more leave for this request; null: unknown, only the budget bounds it. */
  readonly bytes: number | null;
}

/** What a request or tunnel has used, when it is over. */
export interface Traffic {
  /** Heads included. */
  readonly bytesUp: number;
  readonly bytesDown: number;
  /** Why it was cut; null: it ended by itself. */
  readonly cut: string | null;
}

/** The way out of one app. */
export interface WayOut {
  readonly reach: Reach;
  /**
   * Asked once per request; false, a rejection and no answer within `decideMs` deny. Whoever decides records its own
   * noes.
   */
  readonly decide: (request: EgressRequest, signal: AbortSignal) => Promise<boolean>;
  /** How long a person may think about it. Milliseconds. */
  readonly decideMs: number;
  readonly lookup: Lookup;
  /** Gets checked addresses, and no names. */
  readonly dial: Dial;
  readonly budget: Budget;
  /**
   * Told of each refusal but the noes of `decide`: before it was asked, because it did not answer in time, and after its yes
   * because of where the name leads. `onClosed` also reports those after a yes.
   */
  readonly onRefused: (refusal: Refusal) => void;
  /** Told once of each request that `decide` let out, with the very object that it was asked about. */
  readonly onClosed: (request: EgressRequest, traffic: Traffic) => void;
}

/** A request that may leave. `end` must be called when it is over. */
export interface Admitted {
  readonly request: EgressRequest;
  readonly contact: Contact;
  /** The checked one: the caller resolves nothing again. */
  readonly dial: (signal?: AbortSignal) => Promise<Result<Socket, DialFault>>;
  /** `cut`: why, if it did not end by itself. */
  readonly end: (cut: string | null) => void;
}

export type Wish = Pick<EgressRequest, 'method' | 'path' | 'bytes'>;

const DENIED = 'the request was denied';

export async function admit(
  way: WayOut,
  wanted: Result<Destination, string>,
  wish: Wish,
): Promise<Result<Admitted, string>> {
  const within = withinReach(way, wanted);
  if (!within.ok) return within;
  const request: EgressRequest = { ...within.value, ...wish };
  const counted = way.budget.begin(wish.bytes);
  if (!counted.ok) return refused(way, request, counted.fault);
  const contact = counted.value;
  const decision = await decided(way, request);
  if (decision !== 'yes') {
    contact.end();
    return decision === 'late' ? refused(way, request, 'nobody decided in time') : failed(DENIED);
  }
  const end = (cut: string | null) => {
    const { bytesUp, bytesDown } = contact;
    if (contact.end()) way.onClosed(request, { bytesUp, bytesDown, cut });
  };
  const address = await addressOf(way, within.value);
  if (!address.ok) {
    end(address.fault);
    return address;
  }
  return ok({ request, contact, dial: (signal) => way.dial(address.value, request.port, signal), end });
}

/** Form and reach alone, for what must be known before the request itself is. */
export function withinReach(way: WayOut, wanted: Result<Destination, string>): Result<Destination, string> {
  if (!wanted.ok) {
    way.onRefused({ host: null, port: null, reason: wanted.fault });
    return wanted;
  }
  if (isWithinReach(wanted.value, way.reach)) return wanted;
  const lacks = entryLacking(wanted.value, way.reach);
  noteRefused(way, wanted.value, NOT_GRANTED, lacks);
  const isForApp = lacks !== null && !lacks.includes('@');
  return failed(isForApp ? `${NOT_GRANTED}; \`network\` in its manifest lacks "${lacks}"` : NOT_GRANTED);
}

/**
 * The app reads the reason, and no entry with addresses: where the names of the user's network lead is not its business.
 */
function noteRefused(way: WayOut, { host, port }: Destination, reason: string, lacks: string | null): void {
  way.onRefused({ host, port, reason, ...(lacks === null ? {} : { lacks }) });
}

const NOT_GRANTED = 'the app may not reach this host and port';

export function refused(way: WayOut, to: Destination, reason: string): Result<never, string> {
  way.onRefused({ host: to.host, port: to.port, reason });
  return failed(reason);
}

/** An address in the manifest is meant as it stands. */
async function addressOf(way: WayOut, to: Destination): Promise<Result<string, string>> {
  if (isAddress(to.host)) return ok(bareAddress(to.host));
  const found = await resolveName(to.host, way.lookup, placesOf(to, way.reach));
  if (found.ok) return found;
  const { reason, leadsTo } = found.fault;
  if (leadsTo.length > 0) noteRefused(way, to, reason, entryLeadingTo(to, leadsTo, way.reach));
  return failed(reason);
}

async function decided({ decide, decideMs }: WayOut, request: EgressRequest): Promise<'yes' | 'no' | 'late'> {
  const deadline = new AbortController();
  const late = Promise.withResolvers<'late'>();
  const timer = setTimeout(() => {
    late.resolve('late');
    deadline.abort();
  }, decideMs);
  try {
    const asked = decide(request, deadline.signal).then((answer) => (answer === true ? 'yes' : 'no'));
    return await Promise.race([asked, late.promise]);
  } catch {
    return 'no';
  } finally {
    clearTimeout(timer);
  }
}
