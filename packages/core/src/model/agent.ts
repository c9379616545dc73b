/**
 * What an LLM context is given and what it can do besides calling its own app's tools. The agent loop offers
 * these tools, the hub serves them, and the obedient model knows them as any model would: by name and schema.
 */

import type { Json } from '../json/json.ts';

/**
 * - `probe {functionality}` asks whether somebody serves a functionality. Answer: `{"peer", "request", "response"}`
 *   with an ephemeral id and the two JSON Schemas, or a refusal.
 * - `request {peer, message}` sends a message in that format. Answer: the response, in which every free text is a
 *   reference `{"ref": "$3", "length": 120}`.
 * - `open {ref}` asks to read the text behind a reference: a data release, decided by policy and permission.
 * - `need {kinds, for}` asks for data of the user that are lacking (`data-kind`); `for` is the name of an own tool or of an offer.
 *   Answer: `{"values": {"name": "Ada"}}`, with what the user let go and nothing of what they did not.
 * - `read {ref, schema}` has a quarantined reader answer from the text in a closed schema (`closed-schema`): a context
 *   of its own, without tools, memory and exchanges. Answer: the value, or a refusal.
 *
 * A reference (`$3`) may stand inside any string of a tool call's arguments, of a request's message or of the
 * answer; the hub puts the text in its place without the context ever seeing it.
 */
export const AGENT_TOOLS = {
  probe: 'probe',
  request: 'request',
  need: 'need',
  open: 'open',
  read: 'read',
} as const;

/** What stands in a tool's result when an effect was refused; it says no more than that (architecture, Permissions). */
export const REFUSED_TEXT = 'refused: not permitted';

/**
 * How a query ended, as later ones are told. `asked for data`: it was answered, and an app still lacks something that it asked the
 * user for, in a form or in words.
 */
export const EARLIER_OUTCOMES = ['answered', 'asked for data', 'refused', 'failed', 'cancelled'] as const;
export type EarlierOutcome = (typeof EARLIER_OUTCOMES)[number];

/** The last user message of a planner's request is this object as JSON; the answer is a `PlannerAnswer` as JSON. */
export interface PlannerInput {
  readonly query: string;
  /** The user's own earlier words in this session, oldest first, and which app served each. */
  readonly earlier: readonly {
    readonly query: string;
    readonly app: string | null;
    /** Null: the user has corrected it to something else. */
    readonly outcome: EarlierOutcome | null;
  }[];
  /** Vetted texts only. */
  readonly apps: readonly {
    readonly id: string;
    readonly description: string | null;
    readonly uses: readonly { readonly name: string; readonly description: string }[];
  }[];
  /** Apps that the user could install, in the user's own words; absent: none. */
  readonly installable?: PlannerInput['apps'];
  /** Names of the facts that the user stated, and `app/name` of what an app's output stated; never their values. */
  readonly facts: readonly string[];
  /** What the user asked before that in this session, summed up from the user's own words; absent: nothing. */
  readonly summary?: string;
  /** How many installed apps are not among `apps`; absent: none. */
  readonly unlisted?: number;
  /** What the user has said no to in this query: the app and what it wanted to do; absent: nothing. */
  readonly declined?: readonly { readonly app: string; readonly what: string }[];
}

/** What the planner of one step's tools is shown, as JSON in the last user message; it answers with a `ToolPlannerAnswer`. */
export interface ToolPlannerInput {
  /** The user's query, if the app is told it; absent: it is told the task alone. */
  readonly query?: string;
  /** Of the step, in the planner's words. */
  readonly task: string;
  readonly tools: readonly ShownTool[];
}

/** A tool of one app, as the user agreed to it. */
export interface ShownTool {
  readonly name: string;
  /** One line of the app's words; absent: it says nothing, or the list is long. */
  readonly does?: string;
  /** The arguments that say whom or what a call acts upon; absent: there are none, or the list is long. */
  readonly about?: readonly string[];
}

/** The answer counts as far as it names tools and arguments that were shown. */
export interface ToolPlannerAnswer {
  readonly uses: readonly string[];
  /** Where arguments come from; absent: it is not said. */
  readonly from?: readonly {
    readonly tool: string;
    readonly argument: string;
    /** `user`, `asked`, `field of TOOL`, `field of TOOL beside NAME`, `text of TOOL`, and `another app` instead of TOOL. */
    readonly sources: readonly string[];
  }[];
  /** Those of `uses` whose results are to be sent on; absent: of none. */
  readonly passes?: readonly string[];
  /** Those of `uses` whose results are to be carried out; absent: of none. */
  readonly follows?: readonly string[];
}

/** What the reader of a text that the user asked to follow is shown, as JSON in the last user message; it answers with a `DelegationAnswer`. */
export interface DelegationInput {
  readonly query: string;
  readonly text: string;
  readonly tools: readonly DelegatedTool[];
}

/** A tool of the app that returned the text. */
export interface DelegatedTool {
  readonly name: string;
  /** One line of the app's words; absent: it says nothing, or the list is long. */
  readonly does?: string;
  readonly arguments: readonly string[];
}

/** The answer counts if each call names a tool and arguments that were shown. */
export interface DelegationAnswer {
  readonly calls: readonly {
    readonly tool: string;
    /** Values are texts, numbers, true or false, or lists of texts and numbers. */
    readonly arguments: readonly { readonly name: string; readonly value: Json }[];
  }[];
}

/** Characters of one value of such a call. */
const MOST_OF_VALUE = 2_000;

/** Whether such a call may have this value: one that a line can show. */
export function isDelegatedValue(value: Json): boolean {
  const isLeaf = (leaf: Json) => leaf !== null && typeof leaf !== 'object';
  const isOne = isLeaf(value) || (Array.isArray(value) && value.every(isLeaf));
  return isOne && JSON.stringify(value).length <= MOST_OF_VALUE;
}

/** The answer is checked against the installed apps before it becomes a `StepPlan`. What is empty may be left out. */
export type PlannerAnswer = PlannerRemarks & ({ readonly steps: readonly PlannerStep[] } | PlannerStep);

/** The only step may stand for the plan: the user waits for each word of it. */
export interface PlannerStep {
  readonly app: string | null;
  /** Left out: the step is the whole query, or the one use that it names. */
  readonly task?: string;
  readonly uses?: readonly string[];
  /** Those of `uses` whose results the query asks to send on; absent: of none. */
  readonly passes?: readonly string[];
  /** Those of `uses` whose results the query asks to carry out; absent: of none. */
  readonly follows?: readonly string[];
  /** Of an app that lists no uses: whether the query asks to change something there. */
  readonly acts?: boolean;
  readonly needs?: readonly string[];
  /** Pieces of the query, word for word. */
  readonly inputs?: readonly string[];
  /** Numbers of other steps, counted from 1; no step waits for itself, however indirectly. */
  readonly after?: readonly number[];
}

interface PlannerRemarks {
  readonly candidates?: readonly string[];
  /** Where apps are unlisted: one that the query needs is not among those that were listed, show more. */
  readonly more?: boolean;
}
