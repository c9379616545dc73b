/**
 * Events: everything that happens, in one append-only trace for each session. An effect appears as
 * `<effect>.proposed`, then `<effect>.decided`, and if it was allowed `<effect>.executed` or `<effect>.failed`.
 * `--json` prints these objects, one a line; the journal keeps them.
 */

import type { Json } from '../json/json.ts';
import type { QueryLimit, QueryUse } from '../manifest/limits.ts';
import type { ModelToolCall, Usage } from '../model/model.ts';
import type { ServiceName } from '../model/question.ts';
import type { Fault } from '../values/fault.ts';
import type {
  AppId,
  ContextId,
  EphemeralId,
  EventId,
  FunctionalityName,
  GrantId,
  SessionId,
} from '../values/id.ts';
import type { Label } from '../values/label.ts';
import type { Reason } from './decision.ts';
import type {
  GrantDuration,
  GrantTerm,
  PermissionPrompt,
  PermissionSubject,
  PromptEdit,
} from './permission.ts';
import type { PlanOrigin, StepPlan } from './plan.ts';
import type { AnyProposal, Effect } from './proposal.ts';

/** What every event has. */
export interface EventFrame {
  readonly id: EventId;
  readonly session: SessionId;
  /** Position in the session's trace, from 0. */
  readonly sequence: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** The context in which it arose; null: the operator itself. */
  readonly context: ContextId | null;
  /** The app whose context that is. */
  readonly app: AppId | null;
  /** Events that this one carries on: the decision its proposal, the response its request. */
  readonly causes: readonly EventId[];
  readonly label: Label;
}

/** A fact of the user's own words, as it is kept. */
export interface LearntFact {
  readonly name: string;
  readonly value: string;
  /** Whether nobody was told this value under this name before. */
  readonly isNew: boolean;
  /** What was known in its place, as stated to the same app; null: nothing. */
  readonly before: string | null;
}

/**
 * `tool-planner`: names the tools of one app that a step of the plan calls for.
 * `delegation`: reads a text that the user asked to follow, and says which calls it asks for.
 * `errand`: carries one tool call that another context asked for. `reader`: reads one text for another context.
 * `summary`: sums up the older turns of one owner. `facts`: finds what one message of the user states about them.
 * `inquiry`: puts one question of a rule to a model or a service. `shared`: the baseline's one context for everything.
 */
export type ContextKind =
  | 'planner'
  | 'tool-planner'
  | 'delegation'
  | 'standard'
  | 'vanilla'
  | 'coordinator'
  | 'errand'
  | 'reader'
  | 'summary'
  | 'facts'
  | 'inquiry'
  | 'shared';

/** What the manifest of an app gives it. */
export interface GrantedRight {
  readonly right: 'read' | 'write' | 'network' | 'variable';
  /** A path, a host, or the name of a variable. */
  readonly value: string;
}

export type EventBody =
  | {
      readonly kind: 'session.started';
      readonly isolation: 'spokes' | 'none';
      readonly model: string;
      readonly notices: readonly string[];
    }
  | {
      readonly kind: 'session.resumed';
      readonly events: number;
      /** As at the start, of the process that goes on; absent in journals of before there were any. */
      readonly notices?: readonly string[];
      /** How many acknowledged events the journal lacks, which the user knows; null: it is not known. Absent: none. */
      readonly lost?: number | null;
    }
  | { readonly kind: 'session.ended' }
  /**
   * `private`: asked without context, and nothing of it goes into memory; what the journal has of it stays. `undoes`: no model
   * serves it; the call of this event is undone.
   */
  | {
      readonly kind: 'user.message';
      readonly text: string;
      readonly private?: true;
      readonly undoes?: EventId;
      /** The model in use; absent in journals of before it was told. */
      readonly model?: string;
    }
  /** The user's words, or the request that a context serves, become visible in it. */
  | { readonly kind: 'query.delivered'; readonly text: string }
  | { readonly kind: 'plan.made'; readonly plan: StepPlan; readonly origin: PlanOrigin }
  | {
      readonly kind: 'context.created';
      readonly of: ContextKind;
      readonly apps: readonly AppId[];
    }
  | { readonly kind: 'context.ended'; readonly reason: string }
  /** What was too old to be shown again is summed up: by a model, or as the beginnings of what was said. */
  | {
      readonly kind: 'summary.made';
      readonly turns: number;
      readonly by: 'model' | 'extract';
      /** SHA-256 of the summary; absent in journals of before there were any. */
      readonly digest?: string;
    }
  /**
   * Facts of the user's own words are kept: those that patterns found, those that a model found besides, or what the user typed
   * into a form. `toldTo`: the app in whose conversation, or into whose form, the user stated them; null: none.
   */
  | {
      readonly kind: 'facts.learnt';
      readonly by: 'patterns' | 'model' | 'form';
      readonly toldTo: AppId | null;
      readonly facts: readonly LearntFact[];
    }
  /** A closed value of an output or of a call, as the manifest says, is remembered. */
  | { readonly kind: 'fact.observed'; readonly name: string }
  | { readonly kind: 'app.started'; readonly milliseconds: number; readonly layers: readonly string[] }
  /** It could not be started. */
  | { readonly kind: 'app.unavailable'; readonly fault: Fault }
  | { readonly kind: 'app.stopped'; readonly reason: string }
  /** What it says of itself was agreed to: shown to the user, by its digest in the configuration, or unseen by an option. */
  | {
      readonly kind: 'app.pinned';
      readonly digest: string;
      readonly by: 'user' | 'configuration' | 'option';
    }
  /** The user chose it, it was fetched, and what it says of itself was agreed to. */
  | { readonly kind: 'app.installed' }
  /** The app had failed for want of it; its next process has it. */
  | ({ readonly kind: 'right.granted' } & GrantedRight)
  /** It says something else than what is pinned, and is stopped until it has been reviewed. */
  | { readonly kind: 'app.changed'; readonly pinned: string; readonly found: string }
  | {
      readonly kind: 'model.message';
      readonly text: string;
      readonly calls: readonly ModelToolCall[];
      /** Why its words end where they do, where the model did not choose to end there. */
      readonly cut?: 'length' | 'refusal';
    }
  /** The answer to a rule's question, or why it has none. `answer` null: there is none, or it is too long for the journal. */
  | {
      readonly kind: 'question.answered';
      readonly service: ServiceName;
      readonly answer: Json;
      readonly reason: string | null;
    }
  | ProposedBody
  | DecidedBody
  | ExecutedBody
  | { readonly kind: `${Effect}.failed`; readonly fault: Fault }
  /** Instead of `tool-call.failed`: a call that cannot be undone was made, and its outcome is unknown. */
  | { readonly kind: 'tool-call.in-doubt'; readonly fault: Fault }
  | { readonly kind: 'probe.received'; readonly functionality: string }
  | {
      readonly kind: 'offer.made';
      readonly functionality: FunctionalityName;
      readonly peer: EphemeralId;
      /** The app that the id stands for. Absent in journals of earlier versions: then no later id is this one. */
      readonly to?: AppId;
    }
  | { readonly kind: 'probe.refused'; readonly functionality: string }
  /** Nothing that is installed serves it, and the user's own list knows what would. The spoke is not told. */
  | {
      readonly kind: 'install.proposed';
      readonly functionality: FunctionalityName;
      readonly apps: readonly string[];
    }
  /** A request that was stopped: exchanges nest too deep, or the query has made all that it may. */
  | {
      readonly kind: 'request.refused';
      readonly functionality: FunctionalityName;
      readonly reason: 'depth' | 'budget';
    }
  /** A reader was refused before it read anything: the context has used all that it may, or the text is too long. */
  | { readonly kind: 'read.refused'; readonly reference: string; readonly reason: 'budget' | 'length' }
  | { readonly kind: 'permission.asked'; readonly prompt: Omit<PermissionPrompt, 'id'> }
  | {
      readonly kind: 'permission.answered';
      readonly prompt: EventId;
      readonly allow: boolean;
      readonly duration: GrantDuration | null;
      /** When the permission ends, if it was given until a time. */
      readonly until?: number;
      readonly by: 'user' | 'grant' | 'no-answer';
      /** From where the answer came: the session's own surface, or another process. Absent: the former. */
      readonly from?: 'here' | 'elsewhere';
      /** What the user saw, as it was drawn, and SHA-256 of all of it; absent: nobody saw a question. */
      readonly shown?: { readonly text: string; readonly digest: string };
      /** What the user typed instead of the proposed data. */
      readonly edits?: readonly PromptEdit[];
    }
  | {
      readonly kind: 'choice.asked';
      readonly question: string;
      readonly choices: readonly AppId[];
      /** SHA-256 of what the apps are: an answer is to these. */
      readonly binding?: string;
      /** It is about installing one of them; absent: they are installed. */
      readonly installs?: true;
    }
  | {
      readonly kind: 'choice.answered';
      readonly choice: AppId | null;
      /** How long the choice is to hold; absent: for this once. */
      readonly term?: GrantTerm;
    }
  | {
      readonly kind: 'grant.given';
      readonly grant: GrantId;
      readonly subject: PermissionSubject;
      readonly duration: GrantDuration;
      readonly until?: number;
    }
  | { readonly kind: 'grant.used'; readonly grant: GrantId }
  /** A query that was interrupted goes on: from here on there are the events that it had not come to. */
  | {
      readonly kind: 'query.resumed';
      readonly finished: number;
      readonly inDoubt: number;
      /** The model in use from here on; absent in journals of before it was told. */
      readonly model?: string;
    }
  | { readonly kind: 'message.dropped'; readonly reason: string; readonly bytes: number }
  /**
   * An app's way out refused it by itself: before there was anything to decide, or after a yes because of where the name leads.
   * `times`: how often so far; told at 1, 10, 100, …
   */
  | {
      readonly kind: 'egress.refused';
      readonly host: string | null;
      /** Null: the app only looked up a name. */
      readonly port: number | null;
      readonly reason: string;
      /** The entry of `network` that the app's manifest lacks; absent: none would help. */
      readonly lacks?: string;
      readonly times: number;
    }
  /** What was let out is over. Heads and bodies count. `cut`: why, if it did not end by itself. */
  | {
      readonly kind: 'egress.closed';
      readonly bytesUp: number;
      readonly bytesDown: number;
      readonly cut: string | null;
    }
  | {
      readonly kind: 'query.ended';
      readonly outcome: 'answered' | 'refused' | 'failed' | 'cancelled';
      readonly reason: string | null;
      /** Absent where it was not this process that ended the query. */
      readonly used?: QueryUse;
      /** The limit that ended it; absent: none did. */
      readonly limit?: QueryLimit;
      /** It was answered, and an app still lacks what it asked the user for; absent: none does. */
      readonly asksForData?: true;
    };

/** The proposal's own fields stand in the event; its `context` is the frame's. */
export type ProposedBody = AnyProposal extends infer P
  ? P extends AnyProposal
    ? { readonly kind: `${P['effect']}.proposed` } & Omit<P, 'context'>
    : never
  : never;

export interface ExecutedBody {
  readonly kind: `${Effect}.executed`;
  readonly milliseconds: number;
  readonly usage?: Usage;
  /** Of a tool call, what the app returned: recorded before anything is made of it. */
  readonly output?: ToolReturn;
}

/** What a tool returned, as the hub read it. */
export interface ToolReturn {
  readonly text: string;
  readonly structured: Json;
  readonly isError: boolean;
}

export interface DecidedBody {
  readonly kind: `${Effect}.decided`;
  readonly verdict: 'allow' | 'deny';
  readonly reasons: readonly Reason[];
  readonly warnings: readonly Reason[];
  /** How permission came, where it was needed. */
  readonly permission: 'not-needed' | 'user' | 'grant' | 'denied';
}

export type Event = EventFrame & EventBody;
export type EventKind = EventBody['kind'];
