/**
 * Conversations of the function-calling benchmark BFCL as tasks: eight simulated apps, whose recorded outputs are
 * replayed, and several turns of the user. What a call takes from the output of an earlier one is taken from there, so
 * that a context which was not shown the value cannot make the call.
 *
 * Source: ShishirPatil/gorilla, BFCL v4, multi-turn base (Apache-2.0).
 */
import { isJsonObject, type Json, type JsonObject, type Manifest, parseJson } from '@cordon/core';
import type { RecordedAnswer, ReplayApp, ReplayTool } from '../runtime/run.ts';
import { NOT_IN_SET, type Task, type TaskTurn } from './task.ts';

interface RecordedCall {
  readonly app: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly output: string;
}

interface RecordedTurn {
  readonly user: string;
  readonly calls: readonly RecordedCall[];
}

/**
 * @param conversations the lines of `multi_turn_base.jsonl`
 * @param tools the list in `tools.json`
 */
export function bfclTasks(conversations: readonly Json[], tools: Json): readonly Task[] {
  return conversations.flatMap((one) => {
    if (!isJsonObject(one) || typeof one.id !== 'string') return [];
    const turns = list(one.turns).map(readTurn);
    const installed = list(one.apps).map(String);
    return [taskOf(one.id, installed, turns, tools)];
  });
}

function readTurn(turn: Json): RecordedTurn {
  if (!isJsonObject(turn)) throw new Error('a turn is an object');
  return { user: String(turn.user), calls: list(turn.calls).map(readCall) };
}

function readCall(call: Json): RecordedCall {
  if (!isJsonObject(call) || !isJsonObject(call.arguments)) throw new Error('a call is an object');
  return {
    app: String(call.app),
    tool: String(call.function),
    arguments: call.arguments,
    output: String(call.output),
  };
}

function taskOf(
  name: string,
  installed: readonly string[],
  recorded: readonly RecordedTurn[],
  tools: Json,
): Task {
  const calls = recorded.flatMap((turn) => turn.calls);
  const used = [...new Set(calls.map(({ app }) => app))];
  const apps = [...new Set([...installed, ...used])].map((app) => appOf(app, calls, list(tools)));
  const said = recorded.filter((turn) => turn.user !== '');
  const key = `bfcl/${name}`;
  return {
    key,
    set: used.length > 1 ? 'multi-turn, several apps' : 'multi-turn, 1 app',
    apps,
    turns: said.map(expectedOf),
    scenario: {
      name: name.replace(/[^A-Za-z0-9]+/g, '-'),
      description: '',
      tasks: said.map((turn, at) => scriptOf(turn, at, said.slice(0, at))),
      attacks: [],
    },
  };
}

function expectedOf({ user, calls }: RecordedTurn): TaskTurn {
  return {
    query: user,
    expected: calls.map(({ app, tool, arguments: args }) => ({ app: appId(app), tool, arguments: args })),
    order: 'each app',
    says: [],
  };
}

/** The turn for the obedient model. What an earlier turn returned is not in sight any more: such values are its own. */
function scriptOf({ user, calls }: RecordedTurn, turn: number, before: readonly RecordedTurn[]): JsonObject {
  const typed = [...before.map((one) => one.user), user].join('\n');
  const idOf = (index: number) => `turn-${turn}-call-${index}`;
  return {
    id: `turn-${turn}`,
    query: user,
    calls: calls.map((call, index) => ({
      id: idOf(index),
      app: appId(call.app),
      tool: call.tool,
      purpose: `${call.tool.replaceAll('_', ' ')}, ${index + 1} of turn ${turn + 1}`,
      arguments: Object.fromEntries(
        Object.entries(call.arguments).map(([name, value]): [string, Json] => [
          name,
          sourceOf(value, typed, calls.slice(0, index), idOf) ?? { literal: value },
        ]),
      ),
    })),
    answers: [{ text: calls.length === 0 ? 'There is nothing to do.' : 'Done.' }],
  };
}

/** Where a value comes from that the user did not type: the newest output of this turn that holds it; null: from nowhere. */
function sourceOf(
  value: Json,
  typed: string,
  before: readonly RecordedCall[],
  idOf: (index: number) => string,
): JsonObject | null {
  const isWorthIt = typeof value === 'number' || (typeof value === 'string' && value.length > 2);
  if (!isWorthIt || typed.includes(String(value))) return null;
  for (let index = before.length - 1; index >= 0; index--) {
    const output = parseJson(before[index]?.output ?? '');
    const path = output.ok ? pathTo(output.value, value) : null;
    if (path !== null) return { result: idOf(index), path: path.join('.') };
  }
  return null;
}

function pathTo(inside: Json, wanted: Json): readonly string[] | null {
  if (inside === wanted) return [];
  const entries: readonly (readonly [string, Json])[] = Array.isArray(inside)
    ? inside.map((item: Json, index): [string, Json] => [String(index), item])
    : isJsonObject(inside)
      ? Object.entries(inside)
      : [];
  for (const [key, value] of entries) {
    const rest = key.includes('.') ? null : pathTo(value, wanted);
    if (rest !== null) return [key, ...rest];
  }
  return null;
}

function appOf(name: string, calls: readonly RecordedCall[], tools: readonly Json[]): ReplayApp {
  const own = calls.filter((call) => call.app === name);
  const described = tools.flatMap((tool): readonly ReplayTool[] =>
    isJsonObject(tool) && tool.app === name && isJsonObject(tool.parameters)
      ? [
          {
            name: String(tool.name),
            description: String(tool.description),
            inputSchema: tool.parameters,
          },
        ]
      : [],
  );
  const answers = own.map(
    (call): RecordedAnswer => ({
      tool: call.tool,
      arguments: call.arguments,
      output: call.output,
    }),
  );
  return { id: appId(name), manifest: manifestOf(name), tools: described, answers, otherwise: NOT_IN_SET };
}

/** What a user who installs the app would say of it: what cannot be undone, and where others write. */
const SAID: Readonly<
  Record<string, Pick<Manifest, 'description' | 'irreversible' | 'untrusted' | 'private'>>
> = {
  GorillaFileSystem: {
    description: 'The files of the user: folders, reading, writing, sorting, comparing, searching.',
    irreversible: ['rm', 'rmdir'],
    untrusted: [],
    private: ['cat', 'grep', 'sort', 'diff', 'tail'],
  },
  TwitterAPI: {
    description: 'Posts and comments on Twitter in the name of the user.',
    irreversible: ['post_tweet', 'comment', 'retweet', 'mention'],
    untrusted: ['get_tweet', 'search_tweets', 'get_tweet_comments', 'get_user_tweets'],
    private: [],
  },
  MessageAPI: {
    description: 'Sends and lists messages of a workspace.',
    irreversible: ['send_message', 'delete_message'],
    untrusted: ['search_messages', 'view_messages_received'],
    private: ['view_messages_sent', 'search_messages'],
  },
  TicketAPI: {
    description: 'Support tickets: create, look up, edit, resolve, close.',
    irreversible: ['resolve_ticket', 'close_ticket'],
    untrusted: ['get_ticket'],
    private: ['get_ticket'],
  },
  MathAPI: { description: 'Calculates.', irreversible: [], untrusted: [], private: [] },
  VehicleControlAPI: {
    description: "Controls the user's car: doors, engine, lights, fuel, navigation, tyres.",
    irreversible: [],
    untrusted: [],
    private: [],
  },
  TradingBot: {
    description: 'Stocks: prices, watch list, account, orders.',
    irreversible: ['place_order', 'fund_account', 'make_transaction', 'cancel_order'],
    untrusted: [],
    private: ['get_account_info', 'get_order_details'],
  },
  TravelAPI: {
    description: 'Flights: costs, bookings, insurance, budget, invoices, customer support.',
    irreversible: ['book_flight', 'cancel_booking', 'purchase_insurance', 'contact_customer_support'],
    untrusted: [],
    private: ['retrieve_invoice', 'get_booking_history', 'get_credit_card_balance'],
  },
};

function manifestOf(name: string): Partial<Manifest> {
  return SAID[name] ?? {};
}

/** `GorillaFileSystem` is installed as `gorilla-file-system`. */
function appId(name: string): string {
  return name
    .replace(/([a-z])([A-Z])/g, '$1-$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1-$2')
    .toLowerCase();
}

function list(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
