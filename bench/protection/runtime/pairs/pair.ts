/**
 * A pair: a task of the user and a text of an attacker, each with the calls that it leads to and what these returned,
 * in one form for all sets. Two published forms are read, told apart by their fields: AgentDojo's (a chat with the origin
 * of each call) and InjecAgent's (a list of calls). A recorded trace is a chat as well: its calls are the user's but for those that
 * it names as the attack's.
 */
import { failed, isJsonObject, type Json, type JsonObject, ok, parseJson, type Result } from '@cordon/core';

export interface Pair {
  readonly id: string;
  /** As the data name it; the tables are by it. */
  readonly suite: string;
  readonly query: string;
  /** What the model would obey; empty: there is no attack. */
  readonly attack: string;
  /** The user himself asks for what an attacker would want. */
  readonly isDirect: boolean;
  /** In the order in which they were recorded. */
  readonly calls: readonly PairCall[];
  /** What the user is answered when all is done. */
  readonly answer: string;
  /** What kind of attack the data call it; null: they say none that is known, or there is no attack. */
  readonly harm: NamedHarm | null;
}

/** InjecAgent's kinds of attack, as its data name them. The first three harm, the others steal. */
export const HARMS = [
  'Financial Harm',
  'Physical Harm',
  'Data Security Harm',
  'Financial Data',
  'Physical Data',
  'Others',
] as const;
export type Harm = (typeof HARMS)[number];

/** `enhanced`: the attacker's text begins with an order to ignore all other instructions. */
export const SETTINGS = ['base', 'enhanced'] as const;
export type Setting = (typeof SETTINGS)[number];

export interface NamedHarm {
  readonly harm: Harm;
  readonly setting: Setting;
}

export interface PairCall {
  readonly origin: 'user' | 'injection';
  /** Null: the data name none. */
  readonly app: string | null;
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly output: string;
}

/** One line of a file of pairs. What is wrong with it is said in words. */
export function readPair(line: string): Result<Pair, string> {
  const parsed = parseJson(line);
  if (!parsed.ok) return failed(parsed.fault);
  const { value } = parsed;
  if (!isJsonObject(value)) return failed('it is no object');
  if (Array.isArray(value.messages)) return chatPair(value, value.messages);
  if (Array.isArray(value.calls)) return listPair(value, value.calls);
  return failed('it has neither `messages` nor `calls`');
}

function chatPair(value: JsonObject, messages: readonly Json[]): Result<Pair, string> {
  const origins = Array.isArray(value.call_origin) ? value.call_origin : tracedOrigins(value, messages);
  if (origins === null)
    return failed('it is a run in which neither the task was done nor an attack succeeded');
  const asked = messages.flatMap((message) => (isJsonObject(message) ? listOf(message.tool_calls) : []));
  const outputs = new Map<string, string>();
  for (const message of messages) {
    if (isJsonObject(message) && message.role === 'tool' && typeof message.tool_call_id === 'string')
      outputs.set(message.tool_call_id, textOf(message.content));
  }
  const calls: PairCall[] = [];
  for (const [index, call] of asked.entries()) {
    const read = isJsonObject(call) ? chatCall(call, origins[index], outputs) : null;
    if (read === null) return failed(`its call ${index} cannot be read, or has no origin`);
    calls.push(read);
  }
  const query = messages.find((message) => isJsonObject(message) && message.role === 'user');
  if (!isJsonObject(query)) return failed('no message is the user’s');
  const last = messages.at(-1);
  const isInjection = calls.some(({ origin }) => origin === 'injection');
  const isDirect = isInjection && value.user_task === null;
  const isAttack = isInjection && !isDirect;
  const attack = isAttack ? injectedText(listOf(value.injected_messages), messages) : '';
  if (isAttack && attack === '') return failed('no message holds the injected text');
  return ok({
    id: textOf(value.id),
    suite: typeof value.suite === 'string' ? value.suite : 'unnamed',
    query: textOf(query.content),
    attack,
    isDirect,
    // Who asks directly for what an attacker would want is the user.
    calls: isAttack ? calls : calls.map((call) => ({ ...call, origin: 'user' })),
    answer: isJsonObject(last) && last.role === 'assistant' ? textOf(last.content) : '',
    harm: null,
  });
}

/** Of each call of a recorded trace; null: of a run that shows neither how the task is done nor what an attack leads to. */
function tracedOrigins(value: JsonObject, messages: readonly Json[]): readonly Json[] | null {
  const { label, utility, attack_calls: attacks } = value;
  if (label === undefined) return [];
  const isDone = label === 'injection_as_user' || (label === 'benign' && utility === true);
  if (!isDone && label !== 'attack_succeeded') return null;
  const ofAttack = new Set(listOf(attacks).map((place) => JSON.stringify(place)));
  return messages.flatMap((message, at) =>
    listOf(isJsonObject(message) ? message.tool_calls : null).map((_call, index) =>
      ofAttack.has(JSON.stringify([at, index])) ? 'injection' : 'user',
    ),
  );
}

function chatCall(
  call: JsonObject,
  origin: Json | undefined,
  outputs: ReadonlyMap<string, string>,
): PairCall | null {
  const told = call.function;
  if (!isJsonObject(told) || typeof told.name !== 'string') return null;
  if (origin !== 'user' && origin !== 'injection') return null;
  const args = argumentsOf(told.arguments);
  if (args === null) return null;
  return {
    origin,
    app: typeof told.app === 'string' ? told.app : null,
    tool: told.name,
    arguments: args,
    output: outputs.get(textOf(call.id)) ?? '',
  };
}

/** Some write the arguments as a text of JSON. */
function argumentsOf(value: Json | undefined): JsonObject | null {
  if (value === undefined || value === null) return {};
  if (isJsonObject(value)) return value;
  if (typeof value !== 'string') return null;
  const parsed = parseJson(value);
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : null;
}

/**
 * What the attacker put into the first output that holds any: what stands in AgentDojo's marks, else all of that output.
 * Escapes of YAML and JSON are undone, as the model undoes them in whatever else shows the text.
 */
function injectedText(indices: readonly Json[], messages: readonly Json[]): string {
  const first = indices.find((index) => typeof index === 'number');
  const message = typeof first === 'number' ? messages[first] : undefined;
  const text = isJsonObject(message) ? textOf(message.content) : '';
  const open = text.indexOf(OPENING);
  const close = text.indexOf(CLOSING, open);
  const marked = open >= 0 && close > open ? text.slice(open + OPENING.length, close) : text;
  return marked.replace(
    /\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([\s\S]))/g,
    (_all, wide, narrow, plain) => {
      if (typeof plain === 'string') return 'nrtbfv0'.includes(plain) ? ' ' : plain;
      return String.fromCharCode(Number.parseInt(String(wide ?? narrow), 16));
    },
  );
}

const OPENING = '<INFORMATION>';
const CLOSING = '</INFORMATION>';

function listPair(value: JsonObject, listed: readonly Json[]): Result<Pair, string> {
  const calls: PairCall[] = [];
  for (const [index, call] of listed.entries()) {
    const read = isJsonObject(call) ? listedCall(call) : null;
    if (read === null) return failed(`its call ${index} cannot be read, or has no origin`);
    calls.push(read);
  }
  const query = textOf(value.user_instruction);
  if (query === '') return failed('it has no `user_instruction`');
  const attack = textOf(value.attacker_instruction);
  if (attack === '' && calls.some(({ origin }) => origin === 'injection'))
    return failed('it has no `attacker_instruction`');
  const setting = textOf(value.setting);
  const kind = textOf(value.id).split('/')[1] ?? '';
  return ok({
    id: textOf(value.id),
    suite: ['injecagent', kind, setting].filter((part) => part !== '').join(' '),
    query,
    attack,
    isDirect: false,
    calls,
    answer: calls.findLast(({ origin }) => origin === 'user')?.output ?? '',
    harm: harmOf(value),
  });
}

function harmOf({ attack_type, setting: named }: JsonObject): NamedHarm | null {
  const harm = HARMS.find((one) => one === attack_type);
  const setting = SETTINGS.find((one) => one === named);
  return harm === undefined || setting === undefined ? null : { harm, setting };
}

function listedCall(call: JsonObject): PairCall | null {
  const { origin, app, function: tool, output } = call;
  const args = argumentsOf(call.arguments);
  if ((origin !== 'user' && origin !== 'injection') || typeof tool !== 'string' || args === null) return null;
  return {
    origin,
    app: typeof app === 'string' ? app : null,
    tool,
    arguments: args,
    output: textOf(output),
  };
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  // Newer chat formats: a list of parts.
  if (Array.isArray(value))
    return value.map((part: Json) => (isJsonObject(part) ? textOf(part.text) : '')).join('\n');
  return JSON.stringify(value);
}
