/** What the user is asked, what they may answer, and what is kept of it (paper, Appendix A-D). */
import type { DataKind } from '../values/data-kind.ts';
import type { AppId, ContextId, EventId, GrantId, SessionId } from '../values/id.ts';

/** What a permission is for. */
export const PERMISSION_SCOPES = [
  'app-selection', // this app serves the query
  'exchange', // this context may ask that app for this functionality
  'response', // that app's answer is delivered to this context
  'data-release', // these data become visible in this app's context
  'irreversible-action', // this tool is called with these arguments
  'egress', // this app talks to this site
  'policy', // a rule of the policy asks
  'delegation', // these calls are made because a text asks for them
] as const;
export type PermissionScope = (typeof PERMISSION_SCOPES)[number];

/**
 * Whether a yes endorses the values that it was shown, so that they count as the user's: one to a tool call does, and one
 * to a request that is a single call which cannot be undone, and one to the calls that a text asks for. A yes to a text that
 * is delivered does not: an attacker may have written it.
 * @param proposed kind of the event that was asked about: `tool-call.proposed`, …
 */
export function endorsesValues(proposed: string, scope: unknown): boolean {
  return (
    proposed === 'tool-call.proposed' ||
    (proposed === 'app-request.proposed' && scope === 'irreversible-action') ||
    (proposed === 'data-release.proposed' && scope === 'delegation')
  );
}

/** How long an answer holds. What cannot be undone and what a rule asks hold for the session at most. */
export type GrantDuration = 'once' | 'session' | 'until' | 'permanent';

/** `until`: milliseconds since the epoch; from that moment on it authorises nothing, and it never does so again. */
export type GrantTerm =
  | { readonly duration: Exclude<GrantDuration, 'until'> }
  | { readonly duration: 'until'; readonly until: number };

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
  /**
   * Whether the user asked for it, as far as Cordon can tell: the plan names the tool or functionality, and whom or what it is
   * about comes from the user's words, or from where they pointed.
   */
  readonly expected: boolean;
  /** The plan lets the app do it, though not all of it is expected; absent: the plan does not, or it is expected. */
  readonly isPlanned?: true;
  /** One sentence each; a prompt with warnings should be denied when in doubt. */
  readonly warnings: readonly string[];
  /** One sentence for each recipient that never had permission for data from this source, or that the user has not named. */
  readonly newRecipients: readonly string[];
  /** What a permission that lasts covers besides what is shown, in the hub's words. */
  readonly covers: string;
  /** An answer for once covers more than what is shown, too; absent: it does not. */
  readonly coversMore?: true;
  /** What it covers, in the hub's words; absent: what a permission that lasts does. */
  readonly onceCovers?: string;
  /** The rules that asked. */
  readonly rules: readonly string[];
  /** What those rules say, one sentence each; absent: the question says it, or no rule asks. */
  readonly asks?: readonly string[];
  /** Texts of others that the question is about; absent: none. */
  readonly quotes?: readonly PromptQuote[];
  readonly durations: readonly GrantDuration[];
  /** Layers of the sandbox that the session goes without, which a question is answered otherwise for; absent: none. */
  readonly weaker?: readonly string[];
  /**
   * SHA-256 of subject, warnings, rules, what must stay the same of the data, and what the apps are: a grant covers the
   * same question about the same apps with the same warnings. A yes for once is spent on the data that were shown.
   */
  readonly digest: string;
}

/**
 * A text of others that the question is about, as they wrote it: it names whom a call reaches, or a rule found instructions in it.
 */
export interface PromptQuote {
  /** Who returned it. */
  readonly app: AppId;
  readonly tool: string;
  /** As the record that holds the text names its sender and its title; null: it names none. */
  readonly sender: string | null;
  readonly title: string | null;
  /** One sentence or line of it, shortened. */
  readonly text: string;
}

export interface PromptDatum {
  readonly name: string;
  readonly value: string;
  /**
   * The value is JSON with arguments, of which those of these names say whom or what an action reaches: they are shown
   * first. Absent: a text.
   */
  readonly identifying?: readonly string[];
  /** Each value in it stands in the user's own words. Absent: others may have written some of it. */
  readonly isUsers?: true;
  /** The apps whose texts the hub has put in place of references. Absent: there were no references. */
  readonly sources?: readonly DatumSource[];
  /** Whether the user may put something else in its place; absent: no. */
  readonly isEditable?: boolean;
  /**
   * A field of a form: what the user is asked for, under the hub's label as its name; an empty value waits for the user to type
   * one. Absent: a datum that is there.
   */
  readonly field?: DataKind;
}

/** Which app's text stands where in a datum: the user sees which app an attachment comes from. */
export interface DatumSource {
  /** The app that returned the text, or whose words may stand in it. */
  readonly app: AppId;
  /** Paths of the arguments, as `NamedArgument` writes them. */
  readonly arguments: readonly string[];
}

/** What the user wrote instead of a datum. */
export interface PromptEdit {
  readonly name: string;
  readonly value: string;
}

/** The user picks among several apps, or none. */
export interface ChoicePrompt {
  readonly id: EventId;
  readonly session: SessionId;
  readonly question: string;
  readonly choices: readonly AppId[];
  /** The app that is picked is installed, so only a person answers; absent: the apps are installed. */
  readonly installs?: true;
}

/** The app that the user picked, and for how long. */
export type Choice = GrantTerm & { readonly app: AppId };

export type PermissionAnswer = (
  | ({ readonly allow: true; readonly edits?: readonly PromptEdit[] } & GrantTerm)
  | { readonly allow: false; readonly reason: 'user' | 'no-answer' }
) & {
  /** The text that the user saw, as it was drawn; absent: nobody saw one. */
  readonly shown?: string;
};

/**
 * Whoever shows questions to the user: terminal, answers file, test. What does not answer, denies. Questions come at the
 * same time, each with an answer of its own; the signal aborts when a question needs none any more.
 */
export interface Consent {
  permission(prompt: PermissionPrompt, signal: AbortSignal): Promise<PermissionAnswer>;
  /** Null: none of them. */
  choose(prompt: ChoicePrompt, signal: AbortSignal): Promise<Choice | null>;
}

export interface Grant {
  readonly id: GrantId;
  readonly subject: PermissionSubject;
  readonly duration: GrantDuration;
  /** Null for grants that outlive their session: `until`, `permanent`. */
  readonly session: SessionId | null;
  /** From when on it authorises nothing; null: no such time is set. Milliseconds since the epoch. */
  readonly endsAt: number | null;
  /** What was shown when it was given. */
  readonly digest: string;
  /** Milliseconds since the epoch. */
  readonly givenAt: number;
  readonly revokedAt: number | null;
}
