/**
 * The events that rules speak about, in the one form that every source of traces is turned into: chat logs,
 * the hub's proposals, recorded sessions.
 */
import type { CalledLabels, Json, JsonObject, Label, PlannedSources } from '@cordon/core';

/** What every event may have. A chat log has none of it: then there is one context, in the order of the list. */
export interface EventFrame {
  readonly id?: string;
  readonly context?: string;
  readonly app?: string | null;
  /** Ids of events that were visible where this one arose, besides those of its context. */
  readonly causes?: readonly string[];
  /** A context whose knowledge it carries although it arises elsewhere: the app process behind a tool's output. */
  readonly bornFrom?: string;
  /** A context that learns of it at once: the app process that a tool call is given to. */
  readonly deliveredTo?: string;
  /** Absent: see `TraceEvent` kinds; what comes from outside is untrusted and private. */
  readonly label?: Label;
  readonly metadata?: JsonObject;
  /** Where it stood in the original input, e.g. `2.tool_calls.0`. */
  readonly path?: string;
  /** Field to its path in the input, where that is not `<path>.<field>` (of a call: `<path>.function.<field>`). */
  readonly parts?: Readonly<Record<string, string>>;
}

export type TraceEvent = MessageEvent | ToolCallEvent | ToolOutputEvent | ToolEvent | HubEvent | CarrierEvent;

/** No rule sees it, but what was visible where it arose flows on through it. */
export interface CarrierEvent extends EventFrame {
  readonly type: 'Carrier';
}

/** A message of the user, the system or the model; its calls are events behind it. */
export interface MessageEvent extends EventFrame {
  readonly type: 'Message';
  readonly role: string;
  readonly content: Content;
  readonly toolCalls: readonly ToolCallEvent[];
}

/** A tool is about to be called. */
export interface ToolCallEvent extends EventFrame {
  readonly type: 'ToolCall';
  /** Links the output to the call. */
  readonly callId: string | null;
  /** `type` in rules; `function` in nearly all logs. */
  readonly kind: string;
  readonly name: string;
  readonly arguments: JsonObject;
  readonly irreversible?: boolean;
  /** Whether the plan does not name it; absent: no plan is known. */
  readonly isOffPlan?: boolean;
  /** Where the plan says that its arguments come from; absent: it does not say. */
  readonly sources?: PlannedSources;
  /** What is known of the tool; absent: nothing is. */
  readonly tool?: CalledTool;
}

/** The labels of a tool that speak of its calls; those of its output are the output's own. */
export type CalledTool = CalledLabels;

/** What a tool returned. */
export interface ToolOutputEvent extends EventFrame {
  readonly type: 'ToolOutput';
  /** `tool` in nearly all logs. */
  readonly role: string;
  /** Of the call that it answers; null: unknown. */
  readonly callId: string | null;
  readonly content: Content | JsonObject;
  readonly structured?: Json;
  readonly isError?: boolean;
}

/** A tool's description, as it was shown to the model. */
export interface ToolEvent extends EventFrame {
  readonly type: 'Tool';
  readonly name: string;
  readonly description: string;
  readonly inputSchema: readonly ToolParameter[];
  readonly server: string | null;
}

/** One argument that a tool takes, by its schema. */
export interface ToolParameter {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  readonly required: boolean;
  readonly schema: JsonObject;
}

/** Text, chunks, or nothing. */
export type Content = string | readonly Chunk[] | null;

export type Chunk = {
  /** Where it stood in the original input; absent: at its position in the content. */
  readonly path?: string;
} & (
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: JsonObject }
);

/** The events of the hub-and-spoke world (an addition to the seed language). */
export type HubEvent = EventFrame &
  (
    | (Exchange & { readonly type: 'AppRequest' })
    | (Exchange & { readonly type: 'AppResponse' })
    | { readonly type: 'DataRelease'; readonly to: string | null; readonly items: readonly Released[] }
    | {
        readonly type: 'Egress';
        readonly method: string;
        readonly host: string;
        readonly port: number;
        readonly resource: string | null;
        readonly bytes: number | null;
        /** Absent: the app may hold private data of others. */
        readonly holdsOwnOnly?: boolean;
      }
    /** The user has seen these values in a question, and allowed what was asked with them. */
    | { readonly type: 'Endorsement'; readonly values: readonly Endorsed[] }
    | {
        readonly type: 'Plan';
        readonly steps: readonly Json[];
        readonly candidates: readonly string[];
        readonly origin: string;
      }
  );

interface Exchange {
  readonly from: string | null;
  readonly to: string | null;
  readonly functionality: string;
  readonly message: Json;
  readonly callId: string | null;
}

/** One value that the user has allowed, by the name under which it was shown. */
export interface Endorsed {
  readonly name: string;
  readonly value: string;
}

/** One piece of data that becomes visible in a context. */
export interface Released {
  readonly name: string;
  readonly value: string;
  readonly origin: string | null;
  readonly labels: readonly string[];
}
