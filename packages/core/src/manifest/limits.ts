/** Every queue, message, wait and depth has a limit; these are the defaults and what they bound. */

/** What one app may use. The manifest may lower or raise these within the sandbox's own maxima. */
export type AppLimits = { readonly [Name in keyof typeof DEFAULT_APP_LIMITS]: number };

export const DEFAULT_APP_LIMITS = {
  /** Memory of all its processes together. */
  memoryMiB: 1024,
  /** CPU seconds of all its processes together, over the life of one start. */
  cpuSeconds: 600,
  processes: 64,
  openFiles: 256,
  /** Largest file it may write. */
  fileMiB: 64,
  /** All files in its own folder together. */
  storageMiB: 512,
  /** Files in its own folder, and in its temporary folder. */
  files: 10_000,
  /** From spawn to the answer of `initialize`. */
  startSeconds: 30,
  /** From `tools/call` to its result. */
  callSeconds: 30,
  /** How long its process may stay silent during a call. Any message ends the silence, also the answer to a ping. */
  silentSeconds: 20,
  /** An app that nobody has used for so long is ended, and started anew when it is needed. */
  idleSeconds: 600,
  /** The whole life of one process; calls under way are waited for. */
  totalSeconds: 12 * 3600,
  /** One message in either direction. */
  lineBytes: 1024 * 1024,
  /** Messages a second in either direction; ten times as many may come at once. A request of the app counts as four. */
  messagesPerSecond: 100,
} as const;

/**
 * Calls of one answer of a model: what a provider may give, what an agent loop may have open, and what the hub serves at
 * once. One number, so that what one of them lets through no other drops.
 */
export const MOST_CALLS_AT_ONCE = 64;

/** What one query, and each turn of a spoke in it, may use before it ends with a clear refusal. */
export interface TurnLimits {
  /** Model calls of one turn. */
  readonly steps: number;
  /** Of all model calls of the query together. */
  readonly tokens: number;
  /** From the query to its answer, without the time in which the user is asked something. */
  readonly seconds: number;
  /** What all model calls of the query together may cost, in the currency of the prices; null: no limit. */
  readonly cost: number | null;
  /** How long the agent loop may say nothing while nobody keeps it waiting. Models, apps and people have their own limits. */
  readonly idleSeconds: number;
  /** Exchanges nested in exchanges: A asks B asks C. */
  readonly exchangeDepth: number;
  /** Protocol messages that were malformed or unknown before the spoke is stopped. */
  readonly droppedMessages: number;
}

export const DEFAULT_TURN_LIMITS: TurnLimits = {
  steps: 24,
  tokens: 400_000,
  seconds: 1800,
  cost: null,
  idleSeconds: 20,
  exchangeDepth: 3,
  droppedMessages: 20,
};

/** What a million tokens of one model cost. All prices and limits are in one currency, which nothing here has to know. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
}

/** By `provider/model`, as it stands in the configuration. What is not in it has no known price, which is not zero. */
export type ModelPrices = ReadonlyMap<string, ModelPrice>;

/** The limits whose end is the end of a query. */
export const QUERY_LIMITS = ['steps', 'tokens', 'seconds', 'cost'] as const;
export type QueryLimit = (typeof QUERY_LIMITS)[number];

/** What a query has used. */
export interface QueryUse {
  readonly modelCalls: number;
  readonly tokens: number;
  /** Without the time in which the user was asked something. */
  readonly milliseconds: number;
  /** Null: a model was called whose price is not known. */
  readonly cost: number | null;
}

/**
 * How far the history of an app reaches: `session`, its own session; `app`, earlier sessions of the same app too, and for
 * the planner the user's earlier queries.
 */
export type HistoryReach = 'session' | 'app';

/** `patterns`: patterns find facts. `model`: a model also finds what the patterns miss. `off`: no facts are learnt. */
export type FactsMode = 'model' | 'patterns' | 'off';

/** `model`: by a model, and where that fails as `extract`, which is without one. */
export type SummaryMode = 'model' | 'extract' | 'off';

/** How much of its earlier history a context sees again. */
export type MemoryLimits = { readonly [Name in keyof typeof DEFAULT_MEMORY_LIMITS]: number };

export const DEFAULT_MEMORY_LIMITS = {
  /** Messages of the user, each with what followed it. */
  interactions: 10,
  /** Of all of them together. */
  characters: 24_000,
  /** Of the summary that stands for what is older. */
  summaryCharacters: 4_000,
} as const;

/** Processes that are started before anybody needs them. */
export type WarmLimits = { readonly [Name in keyof typeof DEFAULT_WARM_LIMITS]: number };

export const DEFAULT_WARM_LIMITS = {
  /** Apps that are ready and unused. */
  apps: 4,
  /** Agent loops that are ready and unused. */
  loops: 2,
  /** How long a loop waits to be used. Apps have a limit of their own (`idleSeconds`). */
  idleSeconds: 600,
  /** With less memory left on the machine no app is started ahead of its use. */
  freeMiB: 1024,
} as const;

/** Model calls that fail for a passing reason are tried again, with doubling waits. */
export type RetryLimits = { readonly [Name in keyof typeof DEFAULT_RETRY_LIMITS]: number };

export const DEFAULT_RETRY_LIMITS = {
  attempts: 4,
  firstWaitMs: 500,
  longestWaitMs: 20_000,
  callSeconds: 180,
} as const;
