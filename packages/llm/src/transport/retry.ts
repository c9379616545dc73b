/**
 * Attempts, waits and the time limit of a model call. The only retries there are: the providers' libraries are
 * used below the level at which they retry.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { type Clock, failed, type ModelFault, ok, type Result, type RetryLimits } from '@cordon/core';
import { type Failure, toFault } from './failure.ts';

/** Chance and time, passed in. */
export interface RetryParts {
  /** In [0, 1). */
  readonly random: () => number;
  readonly clock: Clock;
  /** Resolves after `ms`, or as soon as `signal` aborts; never rejects. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Aborts after `ms`. Default: `AbortSignal.timeout`. */
  readonly deadline?: ((ms: number) => AbortSignal) | undefined;
}

/** `RetryParts.sleep` by the system's timers. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  // Rejects for one reason only, the abort, which ends the wait and is seen by the caller in the signal.
  await wait(ms, undefined, { signal }).catch(() => undefined);
}

/**
 * Calls `attempt` until it succeeds, fails for good, `limits.attempts` are used up, or `limits.callSeconds` have
 * passed since the first began; attempts and waits count together, so that a caller knows when it hears again.
 * `attempt` must end soon after its signal aborts. `who` names the provider in messages.
 */
export async function withRetries<T>(
  who: string,
  attempt: (signal: AbortSignal) => Promise<Result<T, Failure>>,
  limits: RetryLimits,
  parts: RetryParts,
  signal: AbortSignal,
): Promise<Result<T, ModelFault>> {
  const budgetMs = limits.callSeconds * 1000;
  const endsAt = parts.clock() + budgetMs;
  const late = (parts.deadline ?? AbortSignal.timeout)(budgetMs);
  const ending = AbortSignal.any([signal, late]);
  let before: Failure | null = null;
  for (let attempts = 1; ; attempts++) {
    const result = await attempt(ending);
    if (signal.aborted) return failed(cancelled(attempts));
    if (result.ok) return ok(result.value);
    if (late.aborted) return failed(timedOut(who, limits, attempts, before));
    before = result.fault;
    if (!before.passing || attempts >= limits.attempts) return failed(toFault(before, attempts));
    const waitMs = waitBefore(attempts + 1, before, limits, parts.random);
    if (waitMs > limits.longestWaitMs) return failed(tooLong(before, attempts));
    if (parts.clock() + waitMs >= endsAt) return failed(toFault(before, attempts));
    await parts.sleep(waitMs, ending);
    if (signal.aborted) return failed(cancelled(attempts));
    if (late.aborted) return failed(timedOut(who, limits, attempts, before));
  }
}

/**
 * Milliseconds before the attempt of this number: doubling, between half and all of the step, so that clients that
 * failed together do not come back together. A wait that the provider asks for is a lower bound.
 */
function waitBefore(number: number, last: Failure, limits: RetryLimits, random: () => number): number {
  const step = Math.min(limits.firstWaitMs * 2 ** (number - 2), limits.longestWaitMs);
  const jittered = Math.round(step * (0.5 + random() / 2));
  return Math.max(jittered, last.waitMs ?? 0);
}

export function cancelled(attempts: number): ModelFault {
  return { kind: 'cancelled', message: 'the model call was cancelled', attempts };
}

function tooLong(last: Failure, attempts: number): ModelFault {
  const seconds = Math.ceil((last.waitMs ?? 0) / 1000);
  return { ...toFault(last, attempts), help: `the provider asks to wait ${seconds} s; try again after that` };
}

function timedOut(who: string, limits: RetryLimits, attempts: number, before: Failure | null): ModelFault {
  const earlier = before === null ? '' : `; before that, ${before.message}`;
  return {
    kind: 'timeout',
    message: `provider \`${who}\` did not finish its answer within ${limits.callSeconds} s${earlier}`,
    help: 'check that the server is up, use a faster model, or raise the time limit of a model call',
    attempts,
  };
}

/**
 * The wait that a provider asks for, in milliseconds: `retry-after-ms`, else `Retry-After` in seconds or as a date
 * (RFC 9110, 10.2.3). `null` if it asks for none or writes nonsense.
 */
export function requestedWait(headers: Headers, now: number): number | null {
  const exact = headers.get('retry-after-ms')?.trim() ?? '';
  if (/^\d{1,12}(\.\d{1,6})?$/.test(exact)) return Math.ceil(Number(exact));
  const text = headers.get('retry-after')?.trim() ?? '';
  if (/^\d{1,9}(\.\d{1,6})?$/.test(text)) return Math.ceil(Number(text) * 1000);
  const date = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
