/**
 * How long the simulated provider takes, and what it costs. The times are those of a fast hosted model, divided by three;
 * the run really waits. With a slower model what the system itself does weighs less, so the constants are not in its favour.
 */
import type { Usage } from '@cordon/core';

export const LATENCY = {
  /** Milliseconds before anything else: network, queue. */
  base: 150,
  /** Milliseconds for a token of the prompt. */
  input: 0.02,
  /** Milliseconds for a token of the answer. */
  output: 4,
} as const;

/** Of a million tokens, in dollars: the list price of GPT-4o (2024-08-06), the model of the paper. */
export const PRICE = { input: 2.5, output: 10 } as const;

export function millisecondsFor({ inputTokens, outputTokens }: Usage): number {
  return LATENCY.base + LATENCY.input * inputTokens + LATENCY.output * outputTokens;
}

export function dollarsFor({ inputTokens, outputTokens }: Usage): number {
  return (PRICE.input * inputTokens + PRICE.output * outputTokens) / 1e6;
}
