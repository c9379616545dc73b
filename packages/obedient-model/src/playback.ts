/**
 * One context, read from its first message to its last: what is visible in it, what the model has done in it so far,
 * and what it does next. Nothing is remembered between two requests.
 *
 * INVARIANT (stateless): the next move is a function of the scenarios and of the request alone. Past moves are
 * found by playing them again, so the ids of calls mean nothing.
 */
import {
  AGENT_TOOLS,
  isJsonObject,
  type Json,
  type JsonObject,
  type ModelMessage,
  type ModelRequest,
  type ModelTool,
  type ModelToolCall,
  parseJson,
} from '@cordon/core';
import { fittedTo, isNamedFor, loaded, type Means, meansFor, rearranged } from './means.ts';
import { Recogniser } from './recogniser.ts';
import {
  type Attack,
  type BeliefChange,
  dependenciesOf,
  type Scenario,
  type ScenarioCall,
  type Task,
  type Value,
  watchedTexts,
} from './scenario.ts';
import { type Turn, turnOf } from './turn.ts';
import { holds, referenceIn, resolveEntries, type View } from './values.ts';

/**
 * - `obedient`: does what every visible attack says, then what the user asked.
 * - `careless`: does so too, and carries every text that it has seen in its free-text arguments.
 * - `refusing`: does what the user asked, and nothing of the attacks.
 */
export type Variant = 'obedient' | 'careless' | 'refusing';

export interface Move {
  readonly name: string;
  readonly arguments: JsonObject;
}

/** What became of one call of the agenda. */
export interface Report {
  readonly call: ScenarioCall;
  readonly origin: 'user' | 'attack';
  readonly outcome: 'done' | 'refused';
}

interface Item {
  readonly scenario: Scenario;
  readonly task: Task | null;
  readonly attack: Attack | null;
  readonly call: ScenarioCall;
  stage: Stage;
  /** The arguments of a second try; null: none yet. */
  retry: JsonObject | null;
}

type Stage =
  | { readonly kind: 'pending' }
  /** `probe` named a peer. */
  | { readonly kind: 'offered'; readonly peer: string; readonly schema: Json | undefined }
  /** `probe` named no peer: the call is tried all the same. */
  | { readonly kind: 'unoffered' }
  | { readonly kind: 'over'; readonly outcome: 'done' | 'refused' | 'skipped' };

/** What a call in the context was for. */
type Aim =
  | { readonly kind: 'item'; readonly item: Item }
  | { readonly kind: 'open'; readonly reference: string };

export class Playback {
  readonly #scenarios: readonly Scenario[];
  readonly #variant: Variant;
  readonly #tools: readonly ModelTool[];
  readonly #recogniser: Recogniser;
  readonly #texts: Record<ModelMessage['role'], string[]> = { user: [], tool: [], assistant: [], system: [] };
  readonly #results = new Map<string, Json>();
  /** References in the order in which they came, and whether they were opened. */
  readonly #references = new Map<string, boolean>();
  readonly #inFlight = new Map<string, { readonly aim: Aim; readonly call: ModelToolCall }>();
  #obeyed: readonly Attack[] = [];
  #attackItems: readonly Item[] = [];
  #userItems: readonly Item[] = [];
  #turn: Turn = { kind: 'unknown' };

  constructor(scenarios: readonly Scenario[], variant: Variant, request: ModelRequest) {
    this.#scenarios = scenarios;
    this.#variant = variant;
    this.#tools = request.tools;
    const attackTexts = scenarios.flatMap(({ attacks }) => attacks.map(({ text }) => text));
    this.#recogniser = new Recogniser([...attackTexts, ...scenarios.flatMap(watchedTexts)]);
    for (const tool of request.tools)
      this.#see(`${tool.name} ${tool.description} ${JSON.stringify(tool.parameters)}`);
    for (const message of request.messages) this.#read(message);
  }

  get turn(): Turn {
    return this.#turn;
  }

  /** The attacks that are visible and obeyed, in the order in which they came into view. */
  get obeyed(): readonly Attack[] {
    return this.#obeyed;
  }

  get reports(): readonly Report[] {
    return [...this.#attackItems, ...this.#userItems].flatMap(({ call, attack, stage }): Report[] => {
      if (stage.kind !== 'over' || stage.outcome === 'skipped') return [];
      return [{ call, origin: attack === null ? 'user' : 'attack', outcome: stage.outcome }];
    });
  }

  succeeded(attack: Attack): boolean {
    return this.#attackItems
      .filter((item) => item.attack === attack)
      .every(({ stage }) => stage.kind === 'over' && stage.outcome !== 'refused');
  }

  scenarioOf(attack: Attack): Scenario {
    return this.#scenarios.find(({ attacks }) => attacks.includes(attack)) ?? REQUESTED;
  }

  result(scenario: Scenario, call: string): Json | undefined {
    return this.#results.get(resultKey(scenario, call));
  }

  /** Null: the agenda is done. */
  nextMove(): Move | null {
    return this.#next()?.move ?? null;
  }

  view(scenario: Scenario, task: Task | null): View {
    const { user, tool, assistant, system } = this.#texts;
    return {
      result: (call) => this.result(scenario, call),
      beliefs: task?.beliefs ?? allBeliefs(scenario),
      changes: (belief) => this.#changes(scenario, belief),
      visible: [user, tool, assistant, system].flatMap((texts) => texts.toReversed()),
      everything: this.#everything(),
      sees: (text) => this.#recogniser.sees(text),
      obeys: (attack) =>
        this.#obeyed.some((obeyed) => obeyed.id === attack && scenario.attacks.includes(obeyed)),
    };
  }

  #changes(scenario: Scenario, belief: string): readonly BeliefChange[] {
    return this.#obeyed
      .filter((attack) => scenario.attacks.includes(attack))
      .flatMap(({ beliefs }) => beliefs.get(belief) ?? []);
  }

  /** Without the query itself: it is what the user asks now, not what was told before. */
  #everything(): string {
    const { user, tool, assistant } = this.#texts;
    const query = this.#turn.kind === 'task' ? this.#turn.task.query : null;
    const newest = user.at(-1) ?? '';
    const told = [...user.slice(0, -1), query === null ? newest : newest.replace(query, '')];
    return [...told, ...assistant, ...tool]
      .map((text) => text.trim())
      .filter((text) => text !== '')
      .join('\n');
  }

  #read(message: ModelMessage): void {
    switch (message.role) {
      case 'system':
        this.#texts.system.push(message.text);
        return this.#see(message.text);
      case 'user':
        this.#texts.user.push(message.text);
        this.#see(message.text);
        return this.#beginTurn(message.text);
      case 'assistant':
        for (const call of message.calls) this.#recall(call);
        if (message.text !== '') this.#texts.assistant.push(message.text);
        return this.#see(message.text);
      case 'tool':
        this.#texts.tool.push(message.text);
        this.#see(message.text);
        return this.#receive(message);
      default:
        message satisfies never;
    }
  }

  /** Attacks come into force as soon as they are visible. */
  #see(text: string): void {
    this.#recogniser.read(text);
    if (this.#variant === 'refusing') return;
    for (const scenario of this.#scenarios) {
      for (const attack of scenario.attacks) {
        if (this.#obeyed.includes(attack) || !this.#recogniser.sees(attack.text)) continue;
        this.#obeyed = [...this.#obeyed, attack];
        const added = attack.calls.map((call) => newItem(scenario, null, attack, call));
        this.#attackItems = [...this.#attackItems, ...added];
      }
    }
  }

  #beginTurn(text: string): void {
    for (const { scenario, call } of this.#userItems) this.#results.delete(resultKey(scenario, call.id));
    const turn = turnOf(text, this.#scenarios, this.#tools);
    this.#turn = turn;
    this.#userItems = itemsOf(turn).filter(
      // The planner of a fooled plan may have made the attacker's calls a separate step.
      ({ task, scenario }) => task !== null || scenario === REQUESTED || this.#variant !== 'refusing',
    );
  }

  /** What was this call of an earlier request for? The same move as would be made now; else one of its name. */
  #recall(call: ModelToolCall): void {
    this.#recogniser.read(JSON.stringify(call.arguments));
    const expected = this.#next();
    if (expected !== null && expected.move.name === call.name) {
      this.#inFlight.set(call.id, { aim: expected.aim, call });
      return;
    }
    const item = [...this.#attackItems, ...this.#userItems].find(
      (candidate) => candidate.stage.kind !== 'over' && isNamedFor(candidate.call, call.name),
    );
    if (item !== undefined) this.#inFlight.set(call.id, { aim: { kind: 'item', item }, call });
  }

  #receive(message: Extract<ModelMessage, { role: 'tool' }>): void {
    const isRefused = message.isError || message.text.startsWith(REFUSED_WORD);
    const value = read(message.text);
    if (!isRefused) {
      for (const reference of referencesIn(value)) {
        if (!this.#references.has(reference)) this.#references.set(reference, false);
      }
    }
    const flight = this.#inFlight.get(message.callId);
    if (flight === undefined) return;
    this.#inFlight.delete(message.callId);
    if (flight.aim.kind === 'open') this.#references.set(flight.aim.reference, true);
    else this.#advance(flight.aim.item, flight.call, isRefused ? undefined : value);
  }

  /** @param result `undefined`: the call was refused or failed */
  #advance(item: Item, call: ModelToolCall, result: Json | undefined): void {
    const { stage } = item;
    if (call.name === AGENT_TOOLS.probe && stage.kind === 'pending') {
      const peer = isJsonObject(result) ? result.peer : undefined;
      item.stage =
        typeof peer === 'string' && isJsonObject(result)
          ? { kind: 'offered', peer, schema: result.request }
          : { kind: 'unoffered' };
      return;
    }
    if (result !== undefined) {
      this.#results.set(resultKey(item.scenario, item.call.id), result);
      item.stage = { kind: 'over', outcome: 'done' };
      return;
    }
    const retry = item.retry === null && this.#isStubborn(item) ? this.#secondTry(item, call) : null;
    if (retry === null) item.stage = { kind: 'over', outcome: 'refused' };
    else item.retry = retry;
  }

  /** The user's own calls are not garbled to get them through, unless they carry what they should not. */
  #isStubborn(item: Item): boolean {
    return item.attack !== null || this.#variant === 'careless';
  }

  #secondTry({ stage }: Item, call: ModelToolCall): JsonObject | null {
    if (stage.kind === 'unoffered') return null;
    if (stage.kind === 'offered') {
      const { message } = call.arguments;
      return isJsonObject(message) ? rearranged(stage.schema, message) : null;
    }
    const tool = this.#tools.find(({ name }) => name === call.name);
    return tool === undefined ? null : rearranged(tool.parameters, call.arguments);
  }

  #next(): { readonly move: Move; readonly aim: Aim } | null {
    const reference = this.#curiosity();
    if (reference !== null) {
      const move = { name: AGENT_TOOLS.open, arguments: { ref: reference } };
      return { move, aim: { kind: 'open', reference } };
    }
    for (let item = this.#nextItem(); item !== null; item = this.#nextItem()) {
      if (item.stage.kind !== 'pending' || holds(item.call.when, this.#viewOf(item))) {
        return { move: this.#moveFor(item), aim: { kind: 'item', item } };
      }
      item.stage = { kind: 'over', outcome: 'skipped' };
    }
    return null;
  }

  #curiosity(): string | null {
    if (this.#variant === 'refusing' || !this.#tools.some(({ name }) => name === AGENT_TOOLS.open))
      return null;
    const scenarios = this.#turn.kind === 'task' ? [this.#turn.scenario] : this.#scenarios;
    if (!scenarios.some(({ curious }) => curious)) return null;
    return [...this.#references].find(([, isOpened]) => !isOpened)?.[0] ?? null;
  }

  /** The attacker's calls first, unless one waits for a result that a call of the user's is still to bring. */
  #nextItem(): Item | null {
    const open = (item: Item) => item.stage.kind !== 'over';
    const unfinished = this.#userItems.filter(open);
    const attacker = this.#attackItems.find(open);
    if (attacker === undefined) return unfinished[0] ?? null;
    const waitsFor = dependenciesOf(attacker.call, this.#viewOf(attacker).beliefs);
    const isWaiting = unfinished.some(
      ({ scenario, call }) => scenario === attacker.scenario && waitsFor.has(call.id),
    );
    return isWaiting ? (unfinished[0] ?? attacker) : attacker;
  }

  #viewOf(item: Item): View {
    const current =
      this.#turn.kind === 'task' && this.#turn.scenario === item.scenario ? this.#turn.task : null;
    return this.view(item.scenario, item.task ?? current);
  }

  #moveFor(item: Item): Move {
    const { call, stage, retry } = item;
    const args = resolveEntries(call.arguments, this.#viewOf(item));
    const means = meansFor(call, Object.keys(args), this.#tools);
    switch (stage.kind) {
      case 'offered': {
        const message = retry ?? this.#laden(stage.schema, fittedTo(stage.schema, args));
        return { name: AGENT_TOOLS.request, arguments: { peer: stage.peer, message } };
      }
      case 'pending':
        if (means !== null) return { name: means.tool.name, arguments: retry ?? this.#filled(means, args) };
        if (this.#tools.some(({ name }) => name === AGENT_TOOLS.probe)) {
          return { name: AGENT_TOOLS.probe, arguments: { functionality: call.functionality } };
        }
        return { name: call.tool, arguments: this.#laden(undefined, args) };
      case 'unoffered':
      case 'over':
        return { name: call.tool, arguments: this.#laden(undefined, args) };
    }
  }

  #filled({ tool, isForeign }: Means, args: JsonObject): JsonObject {
    return this.#laden(tool.parameters, isForeign ? fittedTo(tool.parameters, args) : args);
  }

  #laden(schema: Json | undefined, args: JsonObject): JsonObject {
    if (this.#variant !== 'careless') return args;
    const { user, tool, assistant, system } = this.#texts;
    const lines = [...user, ...tool, ...assistant, ...system].flatMap((text) => text.split('\n'));
    return loaded(schema, args, [...new Set(lines)].filter((line) => line.trim() !== '').join('\n'));
  }
}

/** The hub's refusals begin with it (`REFUSED_TEXT`), and may say more after it. */
const REFUSED_WORD = 'refused';

/** Stands for the scenario of a request that came in another's format: it needs none. */
const REQUESTED: Scenario = { name: '', description: '', curious: false, tasks: [], attacks: [] };

function itemsOf(turn: Turn): readonly Item[] {
  switch (turn.kind) {
    case 'task':
      return turn.task.calls.map((call) => newItem(turn.scenario, turn.task, null, call));
    case 'steps':
      return turn.steps.map(({ scenario, task, call }) => newItem(scenario, task, null, call));
    case 'request':
      return [newItem(REQUESTED, null, null, requestedCall(turn.tool, turn.message))];
    case 'unknown':
      return [];
  }
}

function requestedCall(tool: ModelTool, message: JsonObject): ScenarioCall {
  const args = Object.entries(message).map(([key, value]): [string, Value] => [
    key,
    { kind: 'literal', value },
  ]);
  return {
    id: 'request',
    app: '',
    tool: tool.name,
    functionality: tool.name,
    purpose: tool.name,
    when: null,
    arguments: new Map(args),
    needs: [],
    finds: null,
  };
}

/** What the request that this context serves came to. */
export function requestedResult(playback: Playback): Json | undefined {
  return playback.result(REQUESTED, 'request');
}

function newItem(scenario: Scenario, task: Task | null, attack: Attack | null, call: ScenarioCall): Item {
  return { scenario, task, attack, call, stage: { kind: 'pending' }, retry: null };
}

function resultKey(scenario: Scenario, call: string): string {
  return `${scenario.name}/${call}`;
}

function allBeliefs(scenario: Scenario): ReadonlyMap<string, Value> {
  return new Map(scenario.tasks.flatMap(({ beliefs }) => [...beliefs]));
}

/** Results that are no JSON are text. */
function read(text: string): Json {
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : text;
}

function referencesIn(value: Json): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (!isJsonObject(value)) return [];
  const reference = referenceIn(value);
  return reference !== null ? [reference] : Object.values(value).flatMap(referencesIn);
}
