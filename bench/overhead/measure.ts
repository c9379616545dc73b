/**
 * What a query took and where, told from its own events: each moment belongs to what the user waited for then. What goes
 * on beside a model call of the answering context costs nothing, so a planner that plans meanwhile is free. A context that
 * was begun on a wrong guess answers nothing: what its model says is waited for by nobody.
 */
import { AGENT_TOOLS, type ContextKind, type Event, type Usage } from '@cordon/core';
import { NOT_NEEDED } from '@cordon/hub';
import type { MemorySpan } from '../runtime/timed-memory.ts';
import { dollarsFor } from './latency.ts';
import type { Dropped } from './simulated-provider.ts';

export const MEASURES = [
  'total',
  'planning',
  'model',
  'tools',
  'starts',
  'hubMemory',
  'spokeMemory',
  'rest',
  'modelCalls',
  'planCalls',
  'factTokens',
  'learning',
  'needCalls',
  'inputTokens',
  'outputTokens',
  'dollars',
  'apps',
] as const satisfies readonly (keyof Measure)[];

/** Milliseconds, tokens and dollars of one query. */
export interface Measure {
  readonly total: number;
  /** While nothing but the planner worked. */
  readonly planning: number;
  /** Model calls of the contexts that serve the query. */
  readonly model: number;
  readonly tools: number;
  /** Starts of apps that something waited for. */
  readonly starts: number;
  /** While nothing but a memory was read or written: the hub's own, or that of an app's context, which the hub keeps. */
  readonly hubMemory: number;
  readonly spokeMemory: number;
  /** Hub, journal, agent loops, and all that is none of these. */
  readonly rest: number;
  /** Those in vain among them, as in what follows. */
  readonly modelCalls: number;
  readonly planCalls: number;
  /** Those behind the query in which a model looks for facts in the user's words: their tokens, and how long they took. */
  readonly factTokens: number;
  readonly learning: number;
  /** Those whose tools had `need` among them. */
  readonly needCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly dollars: number;
  /** Apps that executed a call. */
  readonly apps: number;
}

/** `cold`: nothing is started before it. */
export type Phase = 'cold' | 'warm';

/** One query, in the shared context and isolated. */
export interface Query {
  readonly set: string;
  readonly installed: number;
  readonly phase: Phase;
  readonly baseline: Measure;
  readonly isolated: Measure;
}

type Part = 'model' | 'planning' | 'tools' | 'starts' | 'hubMemory' | 'spokeMemory';
interface Span {
  readonly part: Part;
  readonly from: number;
  readonly to: number;
}
/** Where several go on at once, the first of these is what is waited for. */
const FIRST: readonly Part[] = ['model', 'tools', 'planning', 'starts', 'hubMemory', 'spokeMemory'];

/** The queries of a session in their order; `fromFirstCall`: the clock starts when the first model call begins. */
export function measures(
  events: readonly Event[],
  fromFirstCall: boolean,
  dropped: readonly Dropped[] = [],
  memory: readonly MemorySpan[] = [],
): readonly Measure[] {
  const starts = events.flatMap((event, at) => (event.kind === 'user.message' ? [at] : []));
  return starts.map((at, number) =>
    measure(events.slice(at, starts[number + 1]), fromFirstCall, dropped, memory),
  );
}

function measure(
  events: readonly Event[],
  fromFirstCall: boolean,
  dropped: readonly Dropped[],
  memory: readonly MemorySpan[],
): Measure {
  const planners = new Set([...contextsOf('planner', events), ...contextsOf('tool-planner', events)]);
  const learners = contextsOf('facts', events);
  const first = events.find(({ kind }) => kind === 'model-call.proposed');
  const from = (fromFirstCall ? first?.time : undefined) ?? events[0]?.time ?? 0;
  const to = events.findLast(({ kind }) => kind === 'query.ended')?.time ?? from;
  const guessed = new Set(
    events.flatMap((event) =>
      event.kind === 'context.ended' && event.reason === NOT_NEEDED ? [event.context] : [],
    ),
  );
  const spans = events
    .filter(({ context }) => !guessed.has(context))
    .flatMap((event) => spanOf(event, planners))
    .concat(memory.filter((one) => one.from >= from && one.to <= to).map(memorySpan))
    .map((span) => within(span, from, to));
  const inVain = dropped.filter(({ at }) => at >= from && at <= to);
  const usages = events.flatMap((event) =>
    event.kind === 'model-call.executed' && event.usage !== undefined
      ? [{ usage: event.usage, context: event.context, milliseconds: event.milliseconds }]
      : [],
  );
  const usage = total([...usages, ...inVain].map((one) => one.usage));
  const learnt = usages.filter(({ context }) => learners.has(context));
  const parts = partsOf(spans, from, to);
  return {
    total: to - from,
    ...parts,
    modelCalls: usages.length + inVain.length,
    planCalls: usages.filter(({ context }) => planners.has(context)).length,
    factTokens: learnt.reduce(
      (sum, { usage: { inputTokens, outputTokens } }) => sum + inputTokens + outputTokens,
      0,
    ),
    learning: learnt.reduce((sum, { milliseconds }) => sum + milliseconds, 0),
    needCalls: events.filter(
      (event) => event.kind === 'model-call.proposed' && event.tools.includes(AGENT_TOOLS.need),
    ).length,
    ...usage,
    dollars: dollarsFor(usage),
    apps: new Set(events.flatMap(({ kind, app }) => (kind === 'tool-call.executed' ? [app] : []))).size,
  };
}

function contextsOf(kind: ContextKind, events: readonly Event[]): ReadonlySet<Event['context']> {
  return new Set(
    events.flatMap((event) => (event.kind === 'context.created' && event.of === kind ? [event.context] : [])),
  );
}

function memorySpan({ of, from, to }: MemorySpan): Span {
  return { part: of === 'hub' ? 'hubMemory' : 'spokeMemory', from, to };
}

function spanOf(event: Event, planners: ReadonlySet<Event['context']>): readonly Span[] {
  switch (event.kind) {
    case 'model-call.executed':
      return [{ part: planners.has(event.context) ? 'planning' : 'model', ...lasting(event) }];
    case 'tool-call.executed':
      return [{ part: 'tools', ...lasting(event) }];
    case 'app.started':
      return [{ part: 'starts', ...lasting(event) }];
    default:
      return [];
  }
}

function lasting({ time, milliseconds }: { readonly time: number; readonly milliseconds: number }) {
  return { from: time - milliseconds, to: time };
}

function within({ part, from, to }: Span, least: number, most: number): Span {
  return { part, from: Math.max(from, least), to: Math.min(to, most) };
}

/** Each moment counts once. */
function partsOf(spans: readonly Span[], from: number, to: number): Record<Part | 'rest', number> {
  const parts = { model: 0, planning: 0, tools: 0, starts: 0, hubMemory: 0, spokeMemory: 0, rest: 0 };
  const edges = [...new Set([from, to, ...spans.flatMap((span) => [span.from, span.to])])]
    .filter((edge) => edge >= from && edge <= to)
    .sort((a, b) => a - b);
  for (const [index, edge] of edges.entries()) {
    const next = edges[index + 1];
    if (next === undefined) break;
    const going = new Set(
      spans.filter((span) => span.from <= edge && span.to >= next).map(({ part }) => part),
    );
    parts[FIRST.find((part) => going.has(part)) ?? 'rest'] += next - edge;
  }
  return parts;
}

function total(usages: readonly Usage[]): Usage {
  return {
    inputTokens: usages.reduce((sum, { inputTokens }) => sum + inputTokens, 0),
    outputTokens: usages.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
  };
}
