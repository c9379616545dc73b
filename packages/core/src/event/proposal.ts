/**
 * The effects that exist. An effect is proposed, decided, and only then happens; there is no other way for
 * anything to leave the context in which it arose.
 */

import type { Json, JsonObject } from '../json/json.ts';
import type { CalledLabels } from '../manifest/tool-label.ts';
import type { AppId, ContextId, EphemeralId, FunctionalityName } from '../values/id.ts';
import type { Label } from '../values/label.ts';
import type { PlannedSources } from './plan.ts';

export type Proposal =
  | ModelCall
  | ToolCall
  | ToolOutput
  | AppRequest
  | AppResponse
  | DataRelease
  | Egress
  | Answer;

/** What rules decide, and parts of an answer, which they decide as answers. */
export type AnyProposal = Proposal | AnswerPart;

export type Effect = AnyProposal['effect'];

interface ProposalBase {
  /** The context in which it arose; identity comes from the channel, never from a message. */
  readonly context: ContextId;
}

/** The next word of a context is computed by its model. */
export interface ModelCall extends ProposalBase {
  readonly effect: 'model-call';
  /** `provider/model` */
  readonly model: string;
  readonly messages: number;
  readonly tools: readonly string[];
  /** SHA-256 of the whole prompt, so that the journal can prove what was sent without keeping it twice. */
  readonly digest: string;
}

/** A tool of an app is called. */
export interface ToolCall extends ProposalBase {
  readonly effect: 'tool-call';
  readonly app: AppId;
  readonly tool: string;
  readonly arguments: JsonObject;
  /** Links the output to the call, unique in the session. */
  readonly callId: string;
  readonly irreversible: boolean;
  /** Whether the plan does not name this use of the app; absent: there is no plan, or the journal is of before it was kept. */
  readonly isOffPlan?: boolean;
  /** Where the plan says that the arguments come from; absent: it does not say. */
  readonly sources?: PlannedSources;
  /** What is known of the tool; absent in journals of before it was: nothing is. */
  readonly labels?: CalledLabels;
}

/** What a tool returned is delivered to the context that called it. */
export interface ToolOutput extends ProposalBase {
  readonly effect: 'tool-output';
  readonly app: AppId;
  readonly tool: string;
  readonly callId: string;
  readonly text: string;
  /** The typed result, where the tool has an output schema. */
  readonly structured: Json;
  readonly isError: boolean;
  readonly label: Label;
}

/** One context asks the app behind a functionality for something (paper, IV-C4 step 3). */
export interface AppRequest extends ProposalBase {
  readonly effect: 'app-request';
  readonly from: AppId | null;
  readonly to: AppId;
  readonly peer: EphemeralId;
  readonly functionality: FunctionalityName;
  readonly message: Json;
  readonly callId: string;
}

/** Its answer is delivered to the asking context (step 6). */
export interface AppResponse extends ProposalBase {
  readonly effect: 'app-response';
  readonly from: AppId;
  /** The app whose context receives it; null: a context without app. */
  readonly to: AppId | null;
  readonly peer: EphemeralId;
  readonly functionality: FunctionalityName;
  readonly message: Json;
  readonly callId: string;
  readonly label: Label;
}

/** Data of the hub's memory, or text held behind a reference, becomes visible in a context. */
export interface DataRelease extends ProposalBase {
  readonly effect: 'data-release';
  readonly to: AppId | null;
  readonly items: readonly ReleasedItem[];
}

export interface ReleasedItem {
  readonly name: string;
  readonly value: string;
  /** Where it came from: the app in whose conversation it was learnt, or null for the user and the hub. */
  readonly origin: AppId | null;
  readonly label: Label;
}

/** Bytes leave the machine. */
export interface Egress extends ProposalBase {
  readonly effect: 'egress';
  readonly app: AppId;
  readonly method: string;
  readonly host: string;
  readonly port: number;
  /** Null inside a TLS tunnel, where it cannot be seen. */
  readonly path: string | null;
  /** Of the request's body, as declared; no more leave. Null: unknown, only the app's budget bounds it. */
  readonly bytes: number | null;
  /** The app was given nothing private of other apps in this session; absent: it may have been. */
  readonly holdsOwnOnly?: boolean;
}

/** Text reaches the user. */
export interface Answer extends ProposalBase {
  readonly effect: 'answer';
  readonly text: string;
}

/**
 * Text of a message that is not complete yet reaches the user. The monitor decides it as an answer that ends with this part. Rules
 * do not find it in the trace: they find the message and, if it becomes the answer, the answer.
 */
export interface AnswerPart extends ProposalBase {
  readonly effect: 'answer-part';
  readonly text: string;
  /** How many characters of the same message the user has seen before. */
  readonly from: number;
}
