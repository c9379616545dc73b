/** A question that the permission model requires before an effect, and how far an answer to it reaches. */
import type {
  AppId,
  EventId,
  Json,
  PermissionSubject,
  PromptDatum,
  PromptQuote,
  Proposal,
  Reason,
} from '@cordon/core';
import type { Context } from '../context/context.ts';

/** A question that the permission model requires. */
export interface ConsentRequirement {
  readonly subject: PermissionSubject;
  /** One sentence in the hub's words. */
  readonly question: string;
  readonly data: readonly PromptDatum[];
  readonly expected: boolean;
  /** The plan lets the app do it; absent: as `expected`. */
  readonly isPlanned?: boolean;
  readonly warnings: readonly string[];
  /** One sentence for each thing that is no warning and that the user should see; absent: none. */
  readonly notes?: readonly string[];
  /** Texts of others that the user should see; absent: none. */
  readonly quotes?: readonly PromptQuote[];
  /** What rules say that ask; absent: none does, or the question says it. */
  readonly asks?: readonly string[];
  readonly covers: Coverage;
  /** Whose data would get to whom. */
  readonly flows: readonly Flow[];
}

/** What a permission that lasts is good for besides what is shown. */
export interface Coverage {
  /** What must be the same of the data. */
  readonly same: Json;
  /** What may be other, in the hub's words. */
  readonly words: string;
  /** False: too much may be other; it is permitted once and no longer. */
  readonly mayLast: boolean;
  /** What the answer for once, yes or no, covers besides what is shown; absent: nothing. */
  readonly once?: OnceCoverage;
}

/** The answer holds for whatever is the same within something that ends, such as a context or a call. */
export interface OnceCoverage {
  readonly within: Json;
  /** In the hub's words. */
  readonly words: string;
}

/** Data of one source for one recipient. */
export interface Flow {
  /** The app whose data they are; null: the user's own. */
  readonly from: AppId | null;
  /** An app, a site, or the value of an argument. */
  readonly to: string;
  /** Shown to the user where this was never permitted before. */
  readonly words: string;
}

/** An effect for which consent is due: by the permission model, by rules of the policy, or by both. */
export interface ConsentRequest {
  readonly context: Context;
  readonly proposal: Proposal;
  /** What the permission model requires; null: rules alone ask. */
  readonly due: ConsentRequirement | null;
  /** Rules that want a question. */
  readonly asks: readonly Reason[];
  /** Rules that want a warning with the question. */
  readonly warnings: readonly Reason[];
  /** Whether the rules speak of what an app returned, in this query or before it. */
  readonly isAfterText: boolean;
  /** The text that one of these events brought, where it is about what is proposed; absent: nothing is quoted. */
  readonly quote?: QuoteEvents;
}

/** Quotes the text that one of these events brought; null: none of them brought a text. */
export type QuoteEvents = (events: readonly EventId[]) => PromptQuote | null;
