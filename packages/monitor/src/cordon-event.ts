/**
 * How the hub's proposals and facts look to rules, one mapping each, and how each is connected with what was
 * before: an app's process is a separate context (`app:<id>`), so that what one spoke puts into an app and
 * another takes out of it is a flow.
 */
import {
  type AppId,
  type AppRequest,
  type AppResponse,
  type ContextId,
  type EventBody,
  type EventId,
  joinLabels,
  type Label,
  labelNames,
  namedArguments,
  type PromptDatum,
  type Proposal,
  parseJson,
} from '@cordon/core';
import { type Endorsed, leavesOf, type TraceEvent } from '@cordon/policy';

/** What has happened without a decision. `carried`: rules do not see it, but what it carries flows on. */
export type HubFact =
  | (Extract<EventBody, { kind: 'user.message' | 'plan.made' | 'model.message' }> & {
      readonly context: ContextId;
    })
  /** The user was shown these data in a question about a tool call, or about a right of an app, and allowed it as it is. */
  | {
      readonly kind: 'values.endorsed';
      readonly context: ContextId;
      readonly data: readonly PromptDatum[];
      /** The text that the user saw. */
      readonly shown: string;
    }
  | { readonly kind: 'carried'; readonly context: ContextId; readonly label?: Label };

/** What the hub says about a proposal or fact besides its content; the context is the proposal's or fact's own. */
export interface EventPlace {
  readonly event: EventId;
  /** The app whose context it is; null: none. */
  readonly app: AppId | null;
  /**
   * Events that this one carries on from other contexts. An id that the monitor has never been given counts as
   * having seen everything; see `EventFrame.causes`.
   */
  readonly causes: readonly EventId[];
}

/** Never the name of a spoke's context: those are made by the hub and hold no colon. */
function appContext(app: AppId): string {
  return `app:${app}`;
}

/** The event that rules judge; for what rules have no type for, one that only carries. */
export function proposalEvent(proposal: Proposal, frame: EventPlace): TraceEvent {
  const base = { id: frame.event, context: proposal.context, app: frame.app, causes: frame.causes };
  switch (proposal.effect) {
    case 'model-call':
      return { ...base, type: 'Carrier' };
    case 'tool-call':
      return {
        ...base,
        type: 'ToolCall',
        app: proposal.app,
        callId: proposal.callId,
        kind: 'function',
        name: proposal.tool,
        arguments: proposal.arguments,
        irreversible: proposal.irreversible,
        ...(proposal.isOffPlan === undefined ? {} : { isOffPlan: proposal.isOffPlan }),
        ...(proposal.sources === undefined ? {} : { sources: proposal.sources }),
        ...(proposal.labels === undefined ? {} : { tool: proposal.labels }),
        deliveredTo: appContext(proposal.app),
      };
    case 'tool-output':
      return {
        ...base,
        type: 'ToolOutput',
        app: proposal.app,
        role: 'tool',
        callId: proposal.callId,
        content: proposal.text,
        structured: proposal.structured,
        isError: proposal.isError,
        label: proposal.label,
        bornFrom: appContext(proposal.app),
      };
    case 'app-request':
      return { ...base, type: 'AppRequest', ...exchanged(proposal) };
    case 'app-response':
      return { ...base, type: 'AppResponse', ...exchanged(proposal), label: proposal.label };
    case 'data-release':
      return {
        ...base,
        type: 'DataRelease',
        to: proposal.to,
        items: proposal.items.map(({ name, value, origin, label }) => {
          return { name, value, origin, labels: labelNames(label) };
        }),
        ...releaseLabel(proposal.items.map((item) => item.label)),
      };
    case 'egress':
      // It arises in the app's process, whichever context's call led to it.
      return {
        ...base,
        type: 'Egress',
        app: proposal.app,
        context: appContext(proposal.app),
        method: proposal.method,
        host: proposal.host,
        port: proposal.port,
        resource: proposal.path,
        bytes: proposal.bytes,
        ...(proposal.holdsOwnOnly === undefined ? {} : { holdsOwnOnly: proposal.holdsOwnOnly }),
      };
    case 'answer':
      return { ...base, type: 'Message', role: 'assistant', content: proposal.text, toolCalls: [] };
  }
}

/** What requests to other apps and their responses have in common. */
function exchanged({ from, to, functionality, message, callId }: AppRequest | AppResponse) {
  return { from, to, functionality, message, callId };
}

/** A release of nothing has no label. */
function releaseLabel(labels: readonly Label[]): { readonly label?: Label } {
  const [first, ...rest] = labels;
  return first === undefined ? {} : { label: rest.reduce(joinLabels, first) };
}

/** Longer texts are read over: who allowed a letter has seen whom it goes to, not each line of it. */
const MOST_ENDORSED = 500;

/**
 * The values that stood in a question, each for itself: arguments are shown one by one, or as JSON. Attack: a long text
 * pushes the recipient behind the lines that are shown at once, and a yes without a look at the rest would be one to it.
 */
function endorsedValues({ name, value, identifying }: PromptDatum, seen: string): readonly Endorsed[] {
  if (identifying !== undefined) return endorsedArguments(name, value, seen);
  if (!seen.includes(unframed(value))) return [];
  const parsed = /^\s*[[{]/.test(value) ? parseJson(value) : null;
  const leaves = parsed?.ok === true ? (leavesOf(parsed.value, MOST_ENDORSED) ?? []) : [value];
  return leaves.filter((leaf) => leaf.length <= MOST_ENDORSED).map((leaf) => ({ name, value: leaf }));
}

/** Of arguments that are shown one by one, those that were shown whole. */
function endorsedArguments(name: string, value: string, seen: string): readonly Endorsed[] {
  const parsed = parseJson(value);
  return (parsed.ok ? namedArguments(parsed.value) : [])
    .filter(({ path, text }) => seen.includes(unframed(`${path}: ${text.replaceAll('\t', '<tab>')}`)))
    .flatMap((argument) => leavesOf(argument.value, MOST_ENDORSED) ?? [])
    .filter((leaf) => leaf.length <= MOST_ENDORSED)
    .map((leaf) => ({ name, value: leaf }));
}

/** Without what lines are broken and framed by. */
function unframed(text: string): string {
  return text.replace(/[\s▐│]+/gu, '');
}

export function factEvent(fact: HubFact, frame: EventPlace): TraceEvent {
  const base = { id: frame.event, context: fact.context, app: frame.app, causes: frame.causes };
  switch (fact.kind) {
    case 'user.message':
      return { ...base, type: 'Message', role: 'user', content: fact.text, toolCalls: [] };
    case 'model.message':
      // Its calls are separate proposals.
      return { ...base, type: 'Message', role: 'assistant', content: fact.text, toolCalls: [] };
    case 'plan.made':
      return {
        ...base,
        type: 'Plan',
        steps: fact.plan.steps.map((step) => ({ ...step })),
        candidates: fact.plan.candidates,
        origin: fact.origin,
      };
    case 'values.endorsed': {
      const seen = unframed(fact.shown);
      const values = fact.data.flatMap((datum) => endorsedValues(datum, seen));
      return { ...base, type: 'Endorsement', values };
    }
    case 'carried':
      return { ...base, type: 'Carrier', ...(fact.label === undefined ? {} : { label: fact.label }) };
  }
}
