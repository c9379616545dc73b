/**
 * What a model was asked in a unit and what it answered, in a form that can be kept with the unit's record and played
 * again. A digest of its content identifies a question. The ids of peers are random in each run, so they are
 * numbered in the order in which a question names them, in the question and in its answer.
 */
import { createHash } from 'node:crypto';
import {
  canonicalJsonOf,
  isJsonObject,
  type Json,
  type JsonObject,
  type ModelRequest,
  type ModelResponse,
  parseJson,
} from '@cordon/core';

export interface Entry {
  /** Of the question, hexadecimal. */
  readonly question: string;
  readonly answer: ModelResponse | Unanswered;
  readonly milliseconds: number;
}

/** - `cancelled`: nobody waited for it any more; - `context exceeded`: the question was too long for the model. */
export const UNANSWERED = ['cancelled', 'context exceeded'] as const;
export type Unanswered = (typeof UNANSWERED)[number];

/** As `hub/session` makes them. */
const PEER = /peer-[A-Za-z0-9_-]{12}/g;

/** A question without what differs from run to run, and its peers in their order. */
export interface KnownQuestion {
  readonly digest: string;
  readonly peers: readonly string[];
}

export function knownQuestion({ role, messages, tools, answerSchema }: ModelRequest): KnownQuestion {
  const text = canonicalJsonOf({ role, messages, tools, answerSchema: answerSchema ?? null });
  const peers = [...new Set(text.match(PEER) ?? [])];
  const digest = createHash('sha256').update(numbered(text, peers)).digest('hex');
  return { digest, peers };
}

/** The answer as it is kept: its peers are those of the question, by number. */
export function keptAnswer(answer: ModelResponse, { peers }: KnownQuestion): ModelResponse {
  return mapped(answer, (text) => numbered(text, peers));
}

/** The answer as it is given to a question that is asked again. */
export function givenAnswer(answer: ModelResponse, { peers }: KnownQuestion): ModelResponse {
  return mapped(answer, (text) => text.replace(/peer-#(\d+)#/g, (all, at) => peers[Number(at)] ?? all));
}

function numbered(text: string, peers: readonly string[]): string {
  return text.replace(PEER, (peer) => (peers.includes(peer) ? `peer-#${peers.indexOf(peer)}#` : peer));
}

/** Peers stand in the answer's text and in the arguments of its calls; JSON needs no escape for either form. */
function mapped(answer: ModelResponse, change: (text: string) => string): ModelResponse {
  const calls = answer.calls.map((call) => {
    const parsed = parseJson(change(JSON.stringify(call.arguments)));
    return parsed.ok && isJsonObject(parsed.value) ? { ...call, arguments: parsed.value } : call;
  });
  return { ...answer, text: change(answer.text), calls };
}

export function encodeEntry({ question, answer, milliseconds }: Entry): JsonObject {
  if (typeof answer === 'string') return { question, answer, milliseconds };
  const { text, calls, finish, usage } = answer;
  const kept = calls.map((call): JsonObject => ({ id: call.id, name: call.name, arguments: call.arguments }));
  return { question, answer: { text, calls: kept, finish, usage: { ...usage } }, milliseconds };
}

/** Null: it is none, or its answer is in no form that we know. */
export function decodeEntry(json: Json): Entry | null {
  if (!isJsonObject(json) || typeof json.question !== 'string') return null;
  const milliseconds = typeof json.milliseconds === 'number' ? json.milliseconds : 0;
  const answer = UNANSWERED.find((one) => one === json.answer) ?? decodeAnswer(json.answer);
  return answer === null ? null : { question: json.question, answer, milliseconds };
}

const FINISHES = ['stop', 'tool-calls', 'length', 'refusal', 'other'] as const;

function decodeAnswer(json: Json | undefined): ModelResponse | null {
  if (!isJsonObject(json) || typeof json.text !== 'string' || !Array.isArray(json.calls)) return null;
  const finish = FINISHES.find((one) => one === json.finish);
  const { usage } = json;
  if (finish === undefined || !isJsonObject(usage)) return null;
  const { inputTokens, outputTokens } = usage;
  if (typeof inputTokens !== 'number' || typeof outputTokens !== 'number') return null;
  const calls = json.calls.flatMap((call: Json) =>
    isJsonObject(call) &&
    typeof call.id === 'string' &&
    typeof call.name === 'string' &&
    isJsonObject(call.arguments)
      ? [{ id: call.id, name: call.name, arguments: call.arguments }]
      : [],
  );
  if (calls.length !== json.calls.length) return null;
  return { text: json.text, calls, finish, usage: { inputTokens, outputTokens } };
}
