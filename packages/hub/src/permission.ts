/**
 * Permissions: what must be asked whatever the policy says, how it is asked, and what is kept of the answer (paper,
 * Appendix A-D). An answer is a grant for equal questions; irreversible actions and rules that ask are never
 * granted permanently.
 *
 * Ring 0.
 */
import {
  type AppId,
  type Consent,
  canonicalJson,
  type Grant,
  type GrantDuration,
  id,
  type PermissionAnswer,
  type PermissionPrompt,
  type PermissionSubject,
  type PromptDatum,
  type Proposal,
  type Reason,
  type SessionId,
  toJson,
} from '@cordon/core';
import type { Context } from './context.ts';
import type { Recorder } from './recorder.ts';

/** A question that the permission model requires. */
export interface PermissionNeed {
  readonly subject: PermissionSubject;
  /** One sentence in the hub's words. */
  readonly question: string;
  readonly data: readonly PromptDatum[];
  readonly expected: boolean;
  readonly warnings: readonly string[];
}

export type Permission =
  | { readonly granted: true; readonly by: 'user' | 'grant' }
  | { readonly granted: false; readonly reason: Reason };

/** The grants of one session's user; implemented by the store. */
export interface Grants {
  find(subject: PermissionSubject, digest: string): Grant | null;
  give(subject: PermissionSubject, duration: GrantDuration, digest: string): Grant;
  /** Uses a grant for one action; false when it was revoked or already used. */
  consume(grant: Grant): boolean;
}

export interface PermissionParts {
  readonly session: SessionId;
  readonly consent: Consent;
  readonly grants: Grants;
  readonly recorder: Recorder;
  readonly digest: (text: string) => string;
  readonly signal: () => AbortSignal;
}

/** A refusal, and whether it was of something that the plan expected. */
export interface Refusal {
  readonly reason: Reason;
  readonly expected: boolean;
}

const UNANSWERED: PermissionAnswer = Object.freeze({ allow: false, reason: 'no-answer' });

/**
 * After so many refusals in one query the rest is refused without asking. Attack: a context that asks for the same thing
 * in other words until the user is tired of saying no.
 */
const MOST_REFUSED = 12;

export class Permissions {
  readonly #parts: PermissionParts;
  /** How often something was refused, for each query: its signal stands for it. */
  readonly #refused = new WeakMap<AbortSignal, number>();

  constructor(parts: PermissionParts) {
    this.#parts = parts;
  }

  /**
   * Finds a grant or asks. `asked` are rules of the policy that want a question; they can be the only reason for
   * one. A grant counts only for the same subject with the same warnings: what was agreed to without a warning
   * is not agreed to with one.
   */
  async obtain(
    context: Context,
    proposal: Proposal,
    need: PermissionNeed | null,
    asked: readonly Reason[],
    warned: readonly Reason[],
  ): Promise<Permission> {
    const question = need === null ? policyNeed(context, proposal, asked) : withRules(need, asked);
    const warnings = [...question.warnings, ...warned.map((reason) => reason.message)];
    const rules = [...asked, ...warned].map((reason) => reason.rule);
    const digest = this.#parts.digest(canonicalJson(toJson({ subject: question.subject, warnings, rules })));

    const grant = this.#parts.grants.find(question.subject, digest);
    if (grant !== null && grant.digest === digest && this.#parts.grants.consume(grant)) {
      this.#parts.recorder.record(context, { kind: 'grant.used', grant: grant.id });
      return { granted: true, by: 'grant' };
    }

    const signal = this.#parts.signal();
    const refused = this.#refused.get(signal) ?? 0;
    if (refused >= MOST_REFUSED) {
      return { granted: false, reason: refusal(question.subject, 'too much of this query was refused') };
    }

    const durations = allowedDurations(question.subject, asked.length > 0);
    const answer = await this.#ask(context, { ...question, warnings }, rules, durations, digest);
    if (!answer.allow || !durations.includes(answer.duration)) {
      this.#refused.set(signal, (this.#refused.get(signal) ?? 0) + 1);
      const by = answer.allow
        ? 'this cannot be allowed for so long'
        : answer.reason === 'user'
          ? 'the user said no'
          : 'nobody answered';
      return { granted: false, reason: refusal(question.subject, by) };
    }
    return this.#give(context, question.subject, answer.duration, digest);
  }

  async #ask(
    context: Context,
    need: PermissionNeed,
    rules: readonly string[],
    durations: readonly GrantDuration[],
    digest: string,
  ): Promise<PermissionAnswer> {
    const { consent, recorder, session } = this.#parts;
    const signal = this.#parts.signal();
    const content = { session, context: context.id, ...need, rules, durations, digest };
    const asked = recorder.record(context, { kind: 'permission.asked', prompt: content });
    const prompt: PermissionPrompt = { ...content, id: asked.id };
    const said = signal.aborted ? UNANSWERED : await consent.permission(prompt, signal);
    // A yes that comes when the query is over is a yes to nothing, whatever the surface makes of the signal.
    const answer = signal.aborted ? UNANSWERED : said;
    recorder.record(
      context,
      {
        kind: 'permission.answered',
        prompt: asked.id,
        allow: answer.allow,
        duration: answer.allow ? answer.duration : null,
        by: answer.allow || answer.reason === 'user' ? 'user' : 'no-answer',
      },
      { causes: [asked.id] },
    );
    return answer;
  }

  #give(context: Context, subject: PermissionSubject, duration: GrantDuration, digest: string): Permission {
    const { grants, recorder } = this.#parts;
    const grant = grants.give(subject, duration, digest);
    recorder.record(context, { kind: 'grant.given', grant: grant.id, subject, duration });
    if (duration === 'once' && !grants.consume(grant)) {
      return { granted: false, reason: refusal(subject, 'the permission was revoked') };
    }
    return { granted: true, by: 'user' };
  }
}

/** Paper, A-D1: "we do not allow users to set permanent preferences for irreversible actions". */
function allowedDurations(subject: PermissionSubject, ruleAsks: boolean): readonly GrantDuration[] {
  const mustStayShort = subject.scope === 'irreversible-action' || subject.scope === 'policy' || ruleAsks;
  return mustStayShort ? ['once', 'session'] : ['once', 'session', 'permanent'];
}

/** One question for both: what is due anyway, and why rules ask. */
function withRules(need: PermissionNeed, asked: readonly Reason[]): PermissionNeed {
  const question = [need.question, ...asked.map(({ message }) => `A rule asks: ${message}.`)].join(' ');
  return { ...need, question };
}

function policyNeed(context: Context, proposal: Proposal, asked: readonly Reason[]): PermissionNeed {
  return {
    subject: {
      scope: 'policy',
      from: context.app,
      to: targetOf(proposal),
      what: asked.map((reason) => reason.rule).join(' '),
    },
    question: asked.map((reason) => reason.message).join('; '),
    data: [{ name: proposal.effect, value: canonicalJson(toJson(contentOf(proposal))) }],
    expected: true,
    warnings: [],
  };
}

function targetOf(proposal: Proposal): AppId | null {
  switch (proposal.effect) {
    case 'tool-call':
    case 'tool-output':
    case 'egress':
      return proposal.app;
    case 'app-request':
    case 'app-response':
    case 'data-release':
      return proposal.to;
    case 'model-call':
    case 'answer':
      return null;
    default:
      proposal satisfies never;
      return null;
  }
}

function contentOf(proposal: Proposal): unknown {
  switch (proposal.effect) {
    case 'tool-call':
      return { tool: proposal.tool, arguments: proposal.arguments };
    case 'tool-output':
    case 'answer':
      return proposal.text;
    case 'app-request':
    case 'app-response':
      return { functionality: proposal.functionality, message: proposal.message };
    case 'data-release':
      return proposal.items.map(({ name, value }) => ({ name, value }));
    case 'egress':
      return { method: proposal.method, host: proposal.host, path: proposal.path };
    case 'model-call':
      return { model: proposal.model };
    default:
      proposal satisfies never;
      return null;
  }
}

function refusal(subject: PermissionSubject, message: string): Reason {
  return { rule: id(`permission/${subject.scope}`), message, events: [], because: 'permission' };
}
