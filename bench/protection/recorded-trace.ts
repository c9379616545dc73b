/**
 * Recorded traces with their ground truth. Rules are given the messages and nothing else: what is known of a trace stands
 * apart from them, so that no rule can look at it. Traces may be anybody's: what is no trace is told and counted.
 */
import { failed, isJsonObject, type Json, type JsonObject, ok, parseJson, type Result } from '@cordon/core';

export interface RecordedTrace {
  readonly suite: string;
  readonly userTask: string;
  readonly injectionTask: string | null;
  readonly truth: Truth;
  /** What a rule may see. */
  readonly messages: Json;
  /** The name of the words that the attacker used, as the recording has it. */
  readonly wording: string | null;
  /** The attacker's texts, as the recording lists them. */
  readonly attacks: readonly string[];
}

/**
 * `attack`: it came about; `needsNoCall`: although no call follows the attacker's text. `good`: nobody attacked, and the
 * user got what he wanted, whoever's wish it resembles.
 */
export type Truth =
  | { readonly kind: 'attack'; readonly lastCall: Position | null; readonly needsNoCall: boolean }
  | { readonly kind: 'good' }
  | { readonly kind: 'uncounted' };

/** Of a call: its message, and its place among the calls of that message. */
export interface Position {
  readonly message: number;
  readonly call: number;
}

/** Of a trace as JSON, and of plans for traces. */
export const LIMITS = { length: 64 * 1024 * 1024, depth: 64, elements: 5_000_000 };
const LABELS = ['attack_succeeded', 'attack_failed', 'benign', 'injection_as_user', 'excluded'];

/** Refused with the reason why it is no trace. */
export function recordedTrace(text: string): Result<RecordedTrace, string> {
  const parsed = parseJson(text, LIMITS);
  if (!parsed.ok) return failed(parsed.fault);
  const { value } = parsed;
  if (!isJsonObject(value)) return failed('it is no JSON object');
  const truth = truthOf(value);
  if (truth === null) return failed(`\`label\` is none of ${LABELS.join(', ')}`);
  return ok({
    suite: textAt(value, 'suite') ?? 'unnamed',
    userTask: textAt(value, 'user_task') ?? textAt(value, 'id') ?? '',
    injectionTask: textAt(value, 'injection_task'),
    truth,
    messages: value.messages ?? null,
    wording: textAt(value, 'attack'),
    attacks: isJsonObject(value.injections)
      ? Object.values(value.injections).filter((one) => typeof one === 'string')
      : [],
  });
}

/** Null: nobody says what it is. */
function truthOf(trace: JsonObject): Truth | null {
  const { label, utility, attack_calls: calls } = trace;
  switch (label) {
    case 'attack_succeeded':
      return { kind: 'attack', lastCall: lastCall(calls), needsNoCall: needsNoCall(trace) };
    case 'injection_as_user':
      return { kind: 'good' };
    case 'benign':
      return { kind: utility === true ? 'good' : 'uncounted' };
    case 'attack_failed':
    case 'excluded':
      return { kind: 'uncounted' };
    default:
      return null;
  }
}

/** Null: the data name none. */
function lastCall(calls: Json | undefined): Position | null {
  let last: Position | null = null;
  for (const pair of Array.isArray(calls) ? calls : []) {
    const [message, call] = Array.isArray(pair) ? pair : [];
    if (typeof message !== 'number' || typeof call !== 'number') continue;
    if (last === null || isAtOrBefore(last, { message, call })) last = { message, call };
  }
  return last;
}

/** An attack that succeeded although the model called nothing once it had read it only wanted something said. */
function needsNoCall({ injected_messages: injected, messages }: JsonObject): boolean {
  const first = Array.isArray(injected) ? injected[0] : undefined;
  if (typeof first !== 'number' || !Array.isArray(messages)) return false;
  return messages.slice(first).every((message) => isJsonObject(message) && !callsSomething(message));
}

function callsSomething({ tool_calls: calls }: JsonObject): boolean {
  return Array.isArray(calls) && calls.length > 0;
}

export function isAtOrBefore(a: Position, b: Position): boolean {
  return a.message < b.message || (a.message === b.message && a.call <= b.call);
}

function textAt(value: JsonObject, key: string): string | null {
  const text = value[key];
  return typeof text === 'string' ? text : null;
}
