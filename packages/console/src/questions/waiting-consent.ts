/**
 * Consent that leaves the answer to another process: `--wait`. The question is in the store, `cordon prompts answer`
 * answers it there, and the hub takes the answer from there; here we only say that a query waits, and for how long.
 *
 * It never says yes.
 */
import type { Choice, ChoicePrompt, Consent, PermissionAnswer, PermissionPrompt } from '@cordon/core';

export interface WaitingConsentParts {
  /** Told of each question that begins to wait. */
  readonly onWaiting: (prompt: PermissionPrompt | ChoicePrompt) => void;
  /** After so many milliseconds the answer is no. */
  readonly waitMs: number;
  /** Resolves after so many milliseconds, or when the signal aborts. */
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

export class WaitingConsent implements Consent {
  readonly #parts: WaitingConsentParts;

  constructor(parts: WaitingConsentParts) {
    this.#parts = parts;
  }

  async permission(prompt: PermissionPrompt, signal: AbortSignal): Promise<PermissionAnswer> {
    await this.#wait(prompt, signal);
    return { allow: false, reason: 'no-answer' };
  }

  async choose(prompt: ChoicePrompt, signal: AbortSignal): Promise<Choice | null> {
    await this.#wait(prompt, signal);
    return null;
  }

  async #wait(prompt: PermissionPrompt | ChoicePrompt, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    this.#parts.onWaiting(prompt);
    const { waitMs, pause } = this.#parts;
    // A timer of Node holds 31 bits.
    for (let waited = 0; waited < waitMs && !signal.aborted; waited += STEP_MS) {
      await pause(Math.min(STEP_MS, waitMs - waited), signal);
    }
  }
}

const STEP_MS = 3_600_000;
