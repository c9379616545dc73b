/**
 * Which apps and tools there are for a pair: as the data describe them, and where they do not, as the calls in the pairs
 * show them. An app is what one party would write: a module of AgentDojo, an app of InjecAgent, else all tools of a suite.
 */
import { isJsonObject, type Json, type JsonObject, type ToolLabelEntry } from '@cordon/core';
import type { ReplayApp, ReplayTool } from '../../../runtime/run.ts';
import type { Pair, PairCall } from './pair.ts';

interface KnownTool extends ReplayTool {
  readonly app: string;
}

interface KnownApp {
  readonly description: string | null;
  readonly tools: ReadonlyMap<string, ReplayTool>;
}

/** What is known of the tools of a suite, by the tool's name. */
type Described = ReadonlyMap<string, KnownTool>;

export class Catalogue {
  /** By suite; `*`: of any. */
  readonly #described: ReadonlyMap<string, Described>;
  readonly #descriptions: ReadonlyMap<string, string>;
  /** By suite and app. */
  readonly #apps: ReadonlyMap<string, ReadonlyMap<string, KnownApp>>;

  /** @param documents `suites.json` of AgentDojo's form, `tools_jsonschema.json` of InjecAgent's; any number of either */
  constructor(pairs: readonly Pair[], documents: readonly Json[]) {
    const read = documents.flatMap(describedIn);
    this.#described = new Map(read);
    this.#descriptions = new Map(documents.flatMap(appDescriptions));
    this.#apps = this.#appsOf(pairs);
  }

  /** The app that has the tool of this call. */
  appOf(pair: Pair, call: PairCall): string {
    return appName(call.app ?? this.#known(pair.suite, call.tool)?.app ?? pair.suite);
  }

  /**
   * The apps of a pair, with the answers that were recorded in it. Without `app` in the data: all of its suite.
   *
   * @param isExact a recorded answer is for the recorded arguments only; else also for others, where none was recorded,
   *   since a model of a provider words them in its own way
   */
  appsFor(pair: Pair, labels: readonly ToolLabelEntry[], isExact: boolean): readonly ReplayApp[] {
    const own = new Set(pair.calls.map((call) => this.appOf(pair, call)));
    const namesApps = pair.calls.some(({ app }) => app !== null);
    const all = [...(this.#apps.get(pair.suite) ?? [])];
    return all
      .filter(([name]) => !namesApps || own.has(name))
      .map(([name, { description, tools }]): ReplayApp => {
        const calls = pair.calls.filter((call) => this.appOf(pair, call) === name);
        return {
          id: name,
          tools: [...tools.values()],
          answers: calls.flatMap(({ tool, arguments: args, output }) => [
            { tool, arguments: args, output },
            ...(isExact ? [] : [{ tool, arguments: null, output }]),
          ]),
          otherwise: 'Done.',
          manifest: {
            description,
            labels: labels
              .filter(({ app }) => app === null || app === name)
              .map((entry) => ({ ...entry, app: null })),
          },
        };
      });
  }

  #known(suite: string, tool: string): KnownTool | undefined {
    return this.#described.get(suite)?.get(tool) ?? this.#described.get(ANY)?.get(tool);
  }

  #appsOf(pairs: readonly Pair[]): ReadonlyMap<string, ReadonlyMap<string, KnownApp>> {
    const bySuite = Map.groupBy(pairs, ({ suite }) => suite);
    return new Map(
      [...bySuite].map(([suite, own]) => {
        const used = own.flatMap((pair) => pair.calls.map((call) => ({ app: this.appOf(pair, call), call })));
        const described = [...(this.#described.get(suite)?.values() ?? [])];
        const names = new Set([...described.map(({ app }) => appName(app)), ...used.map(({ app }) => app)]);
        const general = [...(this.#described.get(ANY)?.values() ?? [])];
        const apps = [...names].map((name): [string, KnownApp] => {
          const calls = used.filter(({ app }) => app === name).map(({ call }) => call);
          const known = [...described, ...general].filter(({ app }) => appName(app) === name);
          const tools = new Map([
            ...toolsSeen(calls).map((tool): [string, ReplayTool] => [tool.name, tool]),
            ...known.map((tool): [string, ReplayTool] => [tool.name, withoutApp(tool)]),
          ]);
          return [name, { description: this.#descriptions.get(name) ?? null, tools }];
        });
        return [suite, new Map(apps)];
      }),
    );
  }
}

const ANY = '*';

function withoutApp({ name, description, inputSchema }: KnownTool): ReplayTool {
  return { name, description, inputSchema };
}

/** A name that an app may have in a configuration. */
function appName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '');
  return plain.slice(0, 64) || 'app';
}

function describedIn(document: Json): readonly (readonly [string, Described])[] {
  if (Array.isArray(document)) return [[ANY, toolsIn(document, ANY)]];
  const suites = isJsonObject(document) ? document.suites : null;
  if (!isJsonObject(suites)) return [];
  return Object.entries(suites).map(([suite, inside]): [string, Described] => [
    suite,
    toolsIn(isJsonObject(inside) && Array.isArray(inside.tools) ? inside.tools : [], suite),
  ]);
}

function toolsIn(list: readonly Json[], suite: string): Described {
  return new Map(
    list.flatMap((tool): [string, KnownTool][] => {
      if (!isJsonObject(tool) || typeof tool.name !== 'string') return [];
      const { name, description, parameters } = tool;
      const app = [tool.app, tool.module].find((value) => typeof value === 'string') ?? suite;
      const inputSchema = isJsonObject(parameters) ? parameters : { type: 'object' };
      return [[name, { name, description: String(description ?? ''), inputSchema, app: String(app) }]];
    }),
  );
}

function appDescriptions(document: Json): readonly (readonly [string, string])[] {
  if (!Array.isArray(document)) return [];
  return document.flatMap((tool: Json): [string, string][] =>
    isJsonObject(tool) && typeof tool.app === 'string' && typeof tool.app_description === 'string'
      ? [[appName(tool.app), tool.app_description]]
      : [],
  );
}

/** Tools that nobody describes: their arguments are of the types that occur. */
function toolsSeen(calls: readonly PairCall[]): readonly ReplayTool[] {
  const byTool = Map.groupBy(calls, ({ tool }) => tool);
  return [...byTool].map(([name, own]) => {
    const keys = new Set(own.flatMap((call) => Object.keys(call.arguments)));
    const properties = [...keys].map((key): [string, JsonObject] => {
      const types = new Set(own.flatMap((call) => typesOf(call.arguments[key])));
      return [key, types.size === 0 ? {} : { type: [...types] }];
    });
    return {
      name,
      description: '',
      inputSchema: { type: 'object', properties: Object.fromEntries(properties) },
    };
  });
}

function typesOf(value: Json | undefined): readonly string[] {
  if (value === undefined) return [];
  if (value === null) return ['null'];
  if (Array.isArray(value)) return ['array'];
  return [typeof value];
}
