/**
 * Generated sessions: apps with tools that can and cannot be undone, queries, and what each context's model says at each
 * of its turns. A scenario is plain data, so that another process can play it too.
 */
import {
  isJsonObject,
  type Json,
  type JsonObject,
  type ModelRequest,
  type PlannerAnswer,
  parseJson,
} from '@cordon/core';

export interface ToolSpec {
  readonly name: string;
  readonly irreversible: boolean;
}

export interface AppSpec {
  readonly name: string;
  readonly tools: readonly ToolSpec[];
  /** Functionalities: served by the tool of that name, or (null) by the app's own model. */
  readonly serves: readonly { readonly name: string; readonly tool: string | null }[];
}

/** The call by which a context asks for data of the user; its `n` says which. */
export const NEED = 'need';

/** The call by which a context asks whether anybody serves a functionality; its `n` says which of the missing apps would. */
export const PROBE = 'probe';

/** One call of a model. `n` is of this call alone: effects are told apart by it. */
export interface CallSpec {
  readonly name: string;
  readonly n: number;
}

export interface QuerySpec {
  readonly text: string;
  /** In their order; the first is the one that serves, or (`isCoordinated`) none is. */
  readonly apps: readonly string[];
  readonly isCoordinated: boolean;
  /** Numbers of the tasks of coordinated apps, in their order. */
  readonly tasks: readonly number[];
  /** Apps that the user is asked to choose among; the first is chosen. */
  readonly candidates: readonly string[];
  /** Rounds of calls by context, as `keyOf` names it. */
  readonly rounds: Readonly<Record<string, readonly (readonly CallSpec[])[]>>;
}

/** Apps that are not installed when the session begins, and that the user could install. */
export interface InstallSpec {
  readonly apps: readonly string[];
  /** Who wants them: the planner, or an app that probes for what they do and is refused. */
  readonly wantedBy: 'planner' | 'app';
  /** What the user says to each question. */
  readonly agrees: boolean;
  /** Whether the first attempt to fetch a package fails. */
  readonly failsFirst: boolean;
}

export interface Scenario {
  readonly apps: readonly AppSpec[];
  readonly queries: readonly QuerySpec[];
  /** What the user says when a call would be made again that may have happened. */
  readonly repeats: boolean;
  readonly grants: 'once' | 'session';
  /** Absent: no. */
  readonly speculates?: boolean;
  /** Whether a model looks for facts; absent: no. */
  readonly learns?: boolean;
  /** Whether the apps are shown a history of an earlier session. Absent: no. */
  readonly hasEarlier?: boolean;
  /** Whether the user gives nothing to an app that asks for data; absent: no. */
  readonly keepsData?: boolean;
  /** Absent: all apps are installed. */
  readonly installs?: InstallSpec;
}

/** A small generator of chance, so that a seed says everything (mulberry32). */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** From 0 to `below`, without it. */
  number(below: number): number {
    return Math.floor(this.next() * below);
  }

  flip(probability = 0.5): boolean {
    return this.next() < probability;
  }
}

const NAMES = ['amber', 'birch', 'cedar'];

export function scenarioOf(chance: Chance): Scenario {
  const apps = NAMES.map(
    (name): AppSpec => ({
      name,
      tools: [
        { name: `${name}-read`, irreversible: false },
        { name: `${name}-send`, irreversible: true },
      ],
      serves: [
        { name: `${name}-read`, tool: `${name}-read` },
        { name: `${name}-send`, tool: `${name}-send` },
        { name: `${name}-work`, tool: null },
      ],
    }),
  );
  const counter = { n: 0 };
  return {
    apps,
    queries: Array.from({ length: 1 + chance.number(2) }, (_, at) => queryOf(chance, at, counter)),
    repeats: chance.flip(),
    grants: chance.flip() ? 'once' : 'session',
    speculates: chance.flip(0.7),
    hasEarlier: chance.flip(0.4),
  };
}

/** The same, but that contexts of apps ask for data now and then, before or beside what they do. */
export function withNeeds(scenario: Scenario, chance: Chance): Scenario {
  const queries = scenario.queries.map((query) => ({
    ...query,
    rounds: Object.fromEntries(
      Object.entries(query.rounds).map(([who, rounds]) => [
        who,
        rounds.map((calls) => (chance.flip(0.4) ? [{ name: NEED, n: chance.number(4) }, ...calls] : calls)),
      ]),
    ),
  }));
  return { ...scenario, queries };
}

/** The same, where each query states a fact that patterns find, and one that only a model does. */
export function statingFacts(scenario: Scenario): Scenario {
  const queries = scenario.queries.map((query, at) => ({
    ...query,
    text: `${query.text}. My city is Q${at}; tea for me`,
  }));
  return { ...scenario, queries, learns: true };
}

/**
 * The same, where one or two apps are not installed at first. A plan without them is served by whoever is left, who has
 * calls of their own for it.
 */
export function withInstalls(scenario: Scenario, chance: Chance): Scenario {
  const first = chance.number(NAMES.length);
  const count = chance.flip(0.3) ? 2 : 1;
  const missing = Array.from({ length: count }, (_, at) => NAMES[(first + at) % NAMES.length] ?? '');
  const wantedBy = chance.flip() ? 'planner' : 'app';
  const counter = { n: 1000 };
  const queries = scenario.queries.map((query, at): QuerySpec => {
    const rounds: Record<string, readonly (readonly CallSpec[])[]> = { ...query.rounds };
    for (const name of NAMES)
      rounds[`${name}/q${at}`] ??= roundsOf(chance, [`${name}-read`, `${name}-send`], counter, 2);
    for (const name of wantedBy === 'app' ? NAMES : []) {
      const probe = { name: PROBE, n: chance.number(count) };
      const acts = chance.flip(0.3) ? [{ name: `${name}-read`, n: ++counter.n }] : [];
      rounds[`${name}/q${at}${UNSERVED}`] = [[probe, ...acts]];
    }
    return { ...query, rounds };
  });
  const installs = {
    apps: missing,
    wantedBy,
    agrees: chance.flip(0.75),
    failsFirst: chance.flip(0.2),
  } as const;
  return { ...scenario, queries, installs };
}

/** Marks what a context says to which nobody offers what the missing apps do. */
const UNSERVED = '?';

function queryOf(chance: Chance, at: number, counter: { n: number }): QuerySpec {
  const isVanilla = chance.flip(0.1);
  const count = isVanilla ? 0 : 1 + chance.number(NAMES.length);
  const first = chance.number(NAMES.length);
  const apps = Array.from({ length: count }, (_, index) => NAMES[(first + index) % NAMES.length] ?? '');
  const isCoordinated = count > 1 && chance.flip(0.4);
  const [root = ''] = apps;
  const rounds: Record<string, readonly (readonly CallSpec[])[]> = {};
  const owned = (app: string) => [`${app}-read`, `${app}-send`];
  // Each on its own, and side by side.
  const tasks = isCoordinated ? apps.map(() => ++counter.n) : [];
  for (const [index, app] of apps.entries())
    if (isCoordinated) rounds[`${app}/n${tasks[index]}`] = roundsOf(chance, owned(app), counter, 2);
  if (!isCoordinated && !isVanilla) {
    const offered = apps.slice(1).flatMap((app) => [...owned(app), `${app}-work`]);
    const own = roundsOf(chance, [...owned(root), ...offered], counter);
    rounds[`${root}/q${at}`] = own;
    for (const { name, n } of own.flat()) {
      const [app = '', what] = name.split('-');
      if (what === 'work') rounds[`${app}/n${n}`] = roundsOf(chance, owned(app), counter, 1);
    }
  }
  const candidates = count === 1 && chance.flip(0.3) ? [root, NAMES[(first + 1) % NAMES.length] ?? ''] : [];
  // Named or not, and rightly or not: what is foreseen may be what is planned.
  const named = chance.flip(0.7) ? ` ${chance.flip(0.7) ? root : NAMES[chance.number(NAMES.length)]}` : '';
  return { text: `do q${at}${named}`, apps, tasks, isCoordinated, candidates, rounds };
}

function roundsOf(chance: Chance, names: readonly string[], counter: { n: number }, most = 3): CallSpec[][] {
  if (names.length === 0) return [];
  return Array.from({ length: 1 + chance.number(most) }, () =>
    Array.from({ length: 1 + chance.number(2) }, () => ({
      name: names[chance.number(names.length)] ?? '',
      n: ++counter.n,
    })),
  );
}

/** What the planner says to a query, by the apps that it may name. */
function planOf({ apps: wanted, tasks, isCoordinated, candidates }: QuerySpec, known: PlannerApps): string {
  const steps = wanted
    .map((app, at) => ({ app, task: isCoordinated ? `do n=${tasks[at]}` : 'do it' }))
    .filter(({ app }) => known.all.includes(app))
    .map((step, at) => ({ ...step, uses: [], needs: [], after: isCoordinated || at === 0 ? [] : [1] }));
  const alone = [{ app: null, task: 'do it', uses: [], needs: [], after: [] }];
  const answer: PlannerAnswer = {
    steps: steps.length === 0 ? alone : steps,
    candidates: candidates.every((app) => known.installed.includes(app)) ? candidates : [],
  };
  return JSON.stringify(answer);
}

interface PlannerApps {
  readonly installed: readonly string[];
  /** Those too that are not installed, where the planner proposes them. */
  readonly all: readonly string[];
}

function knownTo({ apps, installable }: JsonObject, { installs }: Scenario): PlannerApps {
  const installed = idsIn(apps);
  const proposed = installs?.wantedBy === 'planner' ? idsIn(installable) : [];
  return { installed, all: [...installed, ...proposed] };
}

function idsIn(list: Json | undefined): readonly string[] {
  return Array.isArray(list) ? list.flatMap((one) => (isJsonObject(one) ? [String(one.id)] : [])) : [];
}

/**
 * What a model says: it has no memory but the prompt, so it says the same to the same prompt, in whatever process. Its
 * answer names the tokens of all results that it was shown.
 */
export function sayingOf(
  scenario: Scenario,
  { role, messages, tools }: ModelRequest,
): string | readonly CallSpec[] {
  const from = messages.findLastIndex((message) => message.role === 'user');
  const asked = messages[from]?.text ?? '';
  if (role === 'planner') {
    const parsed = parseJson(asked);
    const input: JsonObject = parsed.ok && isJsonObject(parsed.value) ? parsed.value : {};
    const spec = scenario.queries.find(({ text }) => text === input.query);
    return spec === undefined ? 'no such query' : planOf(spec, knownTo(input, scenario));
  }
  if (messages[0]?.text.startsWith('You find facts') === true)
    return '{"facts": [{"name": "drink", "value": "tea"}]}';
  const since = messages.slice(from + 1);
  const turn = since.filter((message) => message.role === 'assistant').length;
  const isOffered = scenario.installs?.apps.some((app) => tools.some(({ name }) => name.startsWith(app)));
  const key = keyOf(messages[0]?.text ?? '', asked);
  const rounds = scenario.queries.map(
    (query) => (isOffered ? undefined : query.rounds[`${key}${UNSERVED}`]) ?? query.rounds[key],
  );
  const calls = rounds.find((found) => found !== undefined)?.[turn];
  if (calls !== undefined) return calls;
  const tokens = since.flatMap((message) =>
    message.role === 'tool' ? [...message.text.matchAll(/"token":(\d+)/g)].map(([, token]) => token) : [],
  );
  return asked.startsWith('Serve this request') ? `{"token":${tokens[0] ?? 0}}` : `done ${tokens.join(' ')}`;
}

function keyOf(system: string, asked: string): string {
  const who = /You work for <([^>]+)>/.exec(system)?.[1] ?? 'assistant';
  const query = /^do (q\d+)\b/.exec(asked)?.[1];
  return `${who}/${query ?? `n${/\bn(?:":|=)(\d+)/.exec(asked)?.[1] ?? ''}`}`;
}
