/**
 * What the user is asked, what they may answer, and what is kept of it (paper, Appendix A-D).
 *
 * Ring 0.
 */
import type { AppId, ContextId, EventId, GrantId, SessionId } from './id.ts';

/** What a permission is for. */
export type PermissionScope =
  | 'app-selection' // this app serves the query
  | 'exchange' // this context may ask that app for this functionality
  | 'response' // that app's answer is delivered to this context
  | 'data-release' // these data become visible in this app's context
  | 'irreversible-action' // this tool is called with these arguments
  | 'egress' // this app talks to this site
  | 'policy'; // a rule of the policy asks

/** How long an answer holds. Irreversible actions and rules that ask are never permanent. */
export type GrantDuration = 'once' | 'session' | 'permanent';

/** Who may do what: two prompts with equal subjects are the same question. */
export interface PermissionSubject {
  readonly scope: PermissionScope;
  /** The app that acts or sends; null: a context without app, or the hub. */
  readonly from: AppId | null;
  /** The app that receives or serves; null: the user or nobody. */
  readonly to: AppId | null;
  /** Functionality, tool, site, fact names or rule: what exactly. */
  readonly what: string;
}

export interface PermissionPrompt {
  readonly id: EventId;
  readonly session: SessionId;
  readonly context: ContextId;
  readonly subject: PermissionSubject;
  /** One sentence in the hub's words. */
  readonly question: string;
  /** The data that would flow, as they are: shown framed and escaped, because others may have written them. */
  readonly data: readonly PromptDatum[];
  /** Did the plan expect it? */
  readonly expected: boolean;
  /** One sentence each; a prompt with warnings should be denied when in doubt. */
  readonly warnings: readonly string[];
  /** The rules that asked. */
  readonly rules: readonly string[];
  readonly durations: readonly GrantDuration[];
  /**
   * SHA-256 of subject, warnings and rules: a grant covers the same question with the same warnings, whatever the data.
   * A yes for once is spent on the data that were shown.
   */
  readonly digest: string;
}

export interface PromptDatum {
  readonly name: string;
  readonly value: string;
}

/** The user picks among several apps, or none. */
export interface ChoicePrompt {
  readonly id: EventId;
  readonly session: SessionId;
  readonly question: string;
  readonly choices: readonly AppId[];
}

export type PermissionAnswer =
  | { readonly allow: true; readonly duration: GrantDuration }
  | { readonly allow: false; readonly reason: 'user' | 'no-answer' };

/** Whoever shows questions to the user: terminal, answers file, test. What does not answer, denies. */
export interface Consent {
  permission(prompt: PermissionPrompt, signal: AbortSignal): Promise<PermissionAnswer>;
  choose(prompt: ChoicePrompt, signal: AbortSignal): Promise<AppId | null>;
}

export interface Grant {
  readonly id: GrantId;
  readonly subject: PermissionSubject;
  readonly duration: GrantDuration;
  /** Null for permanent grants. */
  readonly session: SessionId | null;
  /** What was shown when it was given. */
  readonly digest: string;
  /** Milliseconds since the epoch. */
  readonly givenAt: number;
  readonly revokedAt: number | null;
}
