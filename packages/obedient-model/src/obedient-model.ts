/**
 * The obedient model behind the port of every model: deterministic, offline, and the worst model there can be. What
 * holds against it holds against any model, as far as its scenarios go.
 */
import { createHash } from 'node:crypto';
import { failed, type Model, type ModelRequest, type ModelResponse, ok } from '@cordon/core';
import { answerOf } from './answering.ts';
import { delegatedIn } from './delegating.ts';
import { planFor, type ToolNaming, toolsFor } from './planning.ts';
import { Playback, type Variant } from './playback.ts';
import { readingOf } from './reading.ts';
import type { Scenario } from './scenario.ts';

/**
 * @param options.scenarios all are watched for attacks; the task is found by the user's words
 * @param options.variant see `Variant`
 * @param options.naming see `ToolNaming`; absent: `unseen`
 * @returns a model without state: equal requests get equal responses. It fails only when it is cancelled.
 */
export function createObedientModel(options: {
  readonly scenarios: readonly Scenario[];
  readonly variant: Variant;
  readonly naming?: ToolNaming;
}): Model {
  const { scenarios, variant, naming = 'unseen' } = options;
  return {
    complete: async (request, { signal, onText }) => {
      if (signal.aborted)
        return failed({ kind: 'cancelled', message: 'the call was cancelled', attempts: 1 });
      const response = responseTo(scenarios, variant, naming, request);
      if (response.text !== '') onText?.(response.text);
      return ok(response);
    },
  };
}

function responseTo(
  scenarios: readonly Scenario[],
  variant: Variant,
  naming: ToolNaming,
  request: ModelRequest,
): ModelResponse {
  const obeys = variant !== 'refusing';
  if (request.role === 'planner')
    return said(request, JSON.stringify(planFor(scenarios, obeys, naming, request)));
  if (request.role === 'tool-planner')
    return said(request, JSON.stringify(toolsFor(scenarios, obeys, request)));
  if (request.role === 'delegation')
    return said(request, JSON.stringify(delegatedIn(scenarios, obeys, request)));
  const reading = readingOf(scenarios, obeys, request);
  return reading === null ? act(request, new Playback(scenarios, variant, request)) : said(request, reading);
}

function act(request: ModelRequest, playback: Playback): ModelResponse {
  const move = playback.nextMove();
  if (move === null) return said(request, answerOf(playback, request.answerSchema));
  const call = { id: callId(request), ...move };
  return { text: '', calls: [call], finish: 'tool-calls', usage: usageOf(request, JSON.stringify(call)) };
}

function said(request: ModelRequest, text: string): ModelResponse {
  return { text, calls: [], finish: 'stop', usage: usageOf(request, text) };
}

/** Different in every request of a session, without a counter: it is made of what was said so far. */
function callId(request: ModelRequest): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([request.messages, request.tools]))
    .digest('hex');
  return `call_${digest.slice(0, 16)}`;
}

/** Four characters are about a token; these cost nothing. */
function usageOf(request: ModelRequest, output: string): ModelResponse['usage'] {
  const input = JSON.stringify([request.messages, request.tools]);
  return { inputTokens: Math.ceil(input.length / 4), outputTokens: Math.ceil(output.length / 4) };
}
