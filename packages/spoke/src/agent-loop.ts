/**
 * The agent loop of one spoke: model, tools, exchange, answer, until the model has no more calls. It holds the
 * spoke's one LLM context, and can do nothing but send messages to the hub: its sandbox has no files, no network
 * and no other process.
 *
 * Whatever the model says is hostile by assumption; the loop adds no trust to it and needs none.
 *
 * Ring 0.
 */
import { AGENT_TOOLS, type Json, type JsonObject, type ModelMessage, type ModelToolCall } from '@cordon/core';
import type { HubMessage, Offer, SpokeRequest, TurnContext } from '@cordon/protocol';

/** Sends a request and waits for the message with the same id. The hub sets the deadlines. */
export type Ask = (request: WithoutId<SpokeRequest>) => Promise<HubMessage>;

export type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never;

export type TurnResult =
  | { readonly kind: 'answer'; readonly text: string }
  /** The model went on calling past its budget. */
  | { readonly kind: 'exhausted'; readonly steps: number };

/** Runs one turn: from the query to the answer. */
export async function runTurn(context: TurnContext, ask: Ask): Promise<TurnResult> {
  const messages = openingMessages(context);
  for (let step = 1; step <= context.maxSteps; step++) {
    const reply = await ask({ type: 'model', messages });
    if (reply.type !== 'reply') return { kind: 'answer', text: '' };
    messages.push({ role: 'assistant', text: reply.text, calls: reply.calls });
    if (reply.calls.length === 0) return { kind: 'answer', text: reply.text };
    messages.push(...(await Promise.all(reply.calls.map((call) => perform(call, context, ask)))));
  }
  return { kind: 'exhausted', steps: context.maxSteps };
}

function openingMessages(context: TurnContext): ModelMessage[] {
  const released = context.data.map(({ name, value }) => `${name}: ${value}`).join('\n');
  const query =
    released === '' ? context.query : `${context.query}\n\nData that the user released:\n${released}`;
  return [{ role: 'system', text: context.system }, ...context.history, { role: 'user', text: query }];
}

async function perform(call: ModelToolCall, context: TurnContext, ask: Ask): Promise<ModelMessage> {
  const result = describe(await ask(requestFor(call, context)));
  return { role: 'tool', callId: call.id, name: call.name, ...result };
}

/** Own tools come first, so that an offer can never take the place of one. */
function requestFor(call: ModelToolCall, context: TurnContext): WithoutId<SpokeRequest> {
  const isOwn = context.tools.some((tool) => tool.name === call.name);
  const offer = context.offers.find((candidate: Offer) => candidate.name === call.name);
  if (!isOwn && offer !== undefined) return { type: 'request', peer: offer.peer, message: call.arguments };
  if (!isOwn && call.name === AGENT_TOOLS.probe) {
    return { type: 'probe', functionality: text(call.arguments, 'functionality') };
  }
  if (!isOwn && call.name === AGENT_TOOLS.request) {
    return { type: 'request', peer: text(call.arguments, 'peer'), message: call.arguments.message ?? null };
  }
  if (!isOwn && call.name === AGENT_TOOLS.open)
    return { type: 'open', reference: text(call.arguments, 'ref') };
  return { type: 'tool', name: call.name, arguments: call.arguments };
}

function text(args: JsonObject, key: string): string {
  const value: Json | undefined = args[key];
  return typeof value === 'string' ? value : '';
}

/** What the model reads as the call's result. */
function describe(answer: HubMessage): { text: string; isError: boolean } {
  switch (answer.type) {
    case 'output':
      return { text: answer.text, isError: answer.isError };
    case 'offer':
      return {
        text: JSON.stringify({ peer: answer.peer, request: answer.request, response: answer.response }),
        isError: false,
      };
    case 'response':
      return { text: JSON.stringify(answer.message), isError: false };
    case 'opened':
      return { text: answer.text, isError: false };
    case 'refusal':
      return { text: answer.text, isError: true };
    case 'turn':
    case 'reply':
      return { text: 'no answer', isError: true };
    default:
      answer satisfies never;
      return { text: 'no answer', isError: true };
  }
}
