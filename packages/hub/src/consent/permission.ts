/**
 * Permissions: what must be asked whatever the policy says, how it is asked, and what is kept of the answer (paper,
 * Appendix A-D). An answer is a grant for equal questions about the same apps; what cannot be undone and what a rule
 * asks hold for the session at most. Questions come at the same time, and equal ones are one.
 *
 * Ring 0.
 */
import {
  type AppId,
  type Consent,
  canonicalJson,
  canonicalJsonOf,
  type EventBody,
  type EventId,
  type Grant,
  type GrantDuration,
  type GrantTerm,
  id,
  type Json,
  type PermissionAnswer,
  type PermissionPrompt,
  type PermissionSubject,
  type PromptDatum,
  type PromptEdit,
  type Proposal,
  type Reason,
  type Result,
  type SessionId,
} from '@cordon/core';
import type { Context } from '../context/context.ts';
import type { Recorder } from '../journal/recorder.ts';
import type { Agreed } from '../journal/resume-cursor.ts';
import { type FirstAnswer, firstAnswer, type OpenQuestionParts } from './open-question.ts';

/** A question that the permission model requires. */
export interface ConsentRequirement {
  readonly subject: PermissionSubject;
  /** One sentence in the hub's words. */
  readonly question: string;
  readonly data: readonly PromptDatum[];
  readonly expected: boolean;
  readonly warnings: readonly string[];
  /** One sentence for each thing that is no warning and that the user should see; absent: none. */
  readonly notes?: readonly string[];
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
}

/** Data of one source for one recipient. */
export interface Flow {
  /** The app whose data they are; null: the user's own. */
  readonly from: AppId | null;
  /** An app, a site, or the value of an argument. */
  readonly to: string;
  /** What the user is told where this was never permitted before. */
  readonly words: string;
}

export type Permission =
  | {
      readonly granted: true;
      readonly by: 'user' | 'grant';
      /** What the user put in the place of the data; empty: they flow as they are. */
      readonly edits: readonly PromptEdit[];
    }
  | { readonly granted: false; readonly reason: Reason };

/** Whether what the user typed can flow; else what is wrong with it. */
export type CheckEdits = (edits: readonly PromptEdit[]) => Result<unknown, string>;

/** The grants of one session's user; implemented by the store. */
export interface Grants {
  find(subject: PermissionSubject, digest: string): Grant | null;
  /** Null: the store refuses it, and it authorises nothing. */
  give(gift: GrantGift): Grant | null;
  /** Uses a grant for one action; false when it was revoked, is over or was used. */
  consume(grant: Grant): boolean;
  /** Whether a flow was ever permitted and not taken back. */
  hasFlowed(flow: string): boolean;
  /** Whether a lasting grant of this subject was given when its apps were something else. */
  isOutdated(subject: PermissionSubject, binding: string): boolean;
}

export type GrantGift = GrantTerm & {
  readonly subject: PermissionSubject;
  readonly digest: string;
  readonly binding: string;
  readonly prompt: EventId;
  readonly flows: readonly string[];
};

export interface PermissionsParts extends OpenQuestionParts {
  readonly session: SessionId;
  readonly consent: Consent;
  readonly grants: Grants;
  readonly recorder: Recorder;
  readonly digest: (text: string) => string;
  readonly signal: () => AbortSignal;
  /** Digest of what an app is: its command, its manifest, what it says of itself. Null: nobody has agreed to it. */
  readonly identityOf: (app: AppId) => string | null;
  /** Layers of the sandbox that the session goes without. */
  readonly weaker?: readonly string[];
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
/** Of the text that the user saw, in the journal; its digest is of all of it. */
const MOST_SHOWN = 16 * 1024;

/** A need with what the policy adds to it, and what an answer to it is good for. */
interface Inquiry {
  readonly requirement: ConsentRequirement;
  readonly rules: readonly string[];
  readonly newRecipients: readonly string[];
  /** Warnings that agreeing ends, so that no grant depends on them. */
  readonly passing: readonly string[];
  readonly durations: readonly GrantDuration[];
  readonly digest: string;
  readonly binding: string;
  readonly flows: readonly string[];
}

/** What an answer is bound to. */
interface DigestedQuestion {
  readonly subject: PermissionSubject;
  readonly warnings: readonly string[];
  readonly rules: readonly string[];
  readonly same: Json;
  readonly binding: string | null;
}

/** A question that stands before the user. */
interface Standing {
  readonly digest: string;
  readonly end: Promise<Answered>;
  /** A grant that lasts has made it superfluous. */
  readonly cover: () => void;
}

type Answered =
  | { readonly kind: 'covered' }
  | { readonly kind: 'answered'; readonly answer: PermissionAnswer; readonly asked: EventId };

export class Permissions {
  readonly #parts: PermissionsParts;
  /** How often something was refused, for each query: its signal stands for it. */
  readonly #refused = new WeakMap<AbortSignal, number>();
  /** By what is asked and shown. */
  readonly #standing = new Map<string, Standing>();

  constructor(parts: PermissionsParts) {
    this.#parts = parts;
  }

  /**
   * Finds a grant or asks. `asked` are rules of the policy that want a question; they can be the only reason for
   * one. A grant counts only for the same subject with the same warnings: what was agreed to without a warning
   * is not agreed to with one. `check`: what the user may type in the place of the data; null: nothing. `proposed`: the
   * event of the proposal, by which a query that goes on finds the answer.
   */
  async obtain(
    context: Context,
    proposal: Proposal,
    due: ConsentRequirement | null,
    asked: readonly Reason[],
    warned: readonly Reason[],
    check: CheckEdits | null,
    proposed: EventId,
  ): Promise<Permission> {
    const requirement = requirementOf(context, proposal, due, asked);
    let inquiry = this.#inquiry(requirement, asked, warned, check !== null);
    for (;;) {
      const grant = this.#granted(inquiry);
      if (grant !== null) {
        this.#parts.recorder.record(context, { kind: 'grant.used', grant: grant.id });
        return { granted: true, by: 'grant', edits: [] };
      }
      const signal = this.#parts.signal();
      if ((this.#refused.get(signal) ?? 0) >= MOST_REFUSED) {
        return {
          granted: false,
          reason: refusal(requirement.subject, 'too many requests of this query were refused'),
        };
      }
      const { answered, isOwn } = await this.#ask(context, inquiry, proposed);
      if (answered.kind === 'covered') continue;
      const { answer, asked: prompt } = answered;
      if (!answer.allow || !inquiry.durations.includes(answer.duration)) {
        this.#countRefusal(signal);
        return { granted: false, reason: refusal(requirement.subject, refusedBecause(answer), [prompt]) };
      }
      // Whoever joined another's question has no yes of its own: a yes for once is for one effect.
      if (!isOwn) continue;
      const edits = changesOf(requirement.data, answer.edits ?? []);
      const problem = problemOf(edits, check);
      if (problem === null) return this.#give(context, inquiry, answer, prompt, edits);
      this.#countRefusal(signal);
      inquiry = {
        ...inquiry,
        requirement: { ...inquiry.requirement, question: corrected(requirement.question, problem) },
      };
    }
  }

  /**
   * Whether what was permitted before the query was interrupted still is, for what stands behind the names of the apps now:
   * `agreed` is what the user said yes to then. A yes for longer than once counts as long as its grant does.
   */
  isStillGiven(
    context: Context,
    proposal: Proposal,
    due: ConsentRequirement | null,
    asked: readonly Reason[],
    warned: readonly Reason[],
    agreed: readonly Agreed[],
  ): boolean {
    const requirement = requirementOf(context, proposal, due, asked);
    if (this.#granted(this.#inquiry(requirement, asked, warned, false)) !== null) return true;
    const isAboutDue = ({ question }: Agreed) =>
      due !== null && this.#isAbout(question, due.subject, due.covers.same);
    const given = agreed.filter(
      (one) => isForOnce(one) && (isAboutDue(one) || this.#isAbout(one.question, one.question.subject, null)),
    );
    const shown = new Set(given.flatMap(({ question }) => question.warnings));
    const answered = new Set(given.flatMap(({ question }) => question.rules));
    const warnings = [...(due?.warnings ?? []), ...warned.map(({ message }) => message)];
    return (
      (due === null || given.some(isAboutDue)) &&
      asked.every(({ rule }) => answered.has(rule)) &&
      warnings.every((warning) => shown.has(warning))
    );
  }

  /** Whether it was this that was asked, and about the apps as they are. */
  #isAbout(question: Agreed['question'], subject: PermissionSubject, same: Json): boolean {
    const { identityOf, digest } = this.#parts;
    const binding = bindingOf(subject, identityOf, digest);
    const warnings = question.warnings.filter((warning) => warning !== OUTDATED);
    const { rules } = question;
    if (binding === null) return false;
    const bindings = [binding, bindingOf(subject, identityThen(this.#parts), digest)];
    return bindings.some(
      (one) => question.digest === this.#digestOf({ subject, warnings, rules, same, binding: one }),
    );
  }

  #digestOf(question: DigestedQuestion): string {
    return this.#parts.digest(canonicalJsonOf(question));
  }

  #countRefusal(signal: AbortSignal): void {
    this.#refused.set(signal, (this.#refused.get(signal) ?? 0) + 1);
  }

  #inquiry(
    requirement: ConsentRequirement,
    asked: readonly Reason[],
    warned: readonly Reason[],
    isEditable: boolean,
  ): Inquiry {
    const { digest, grants, identityOf } = this.#parts;
    const { subject, covers } = requirement;
    const warnings = [...requirement.warnings, ...warned.map(({ message }) => message)];
    const rules = [...asked, ...warned].map(({ rule }) => rule);
    const binding = bindingOf(subject, identityOf, digest);
    const flows = requirement.flows.map(({ from, to, words }) => {
      const source = from === null ? 'the user' : (identityOf(from) ?? from);
      return { words, digest: digest(canonicalJson([source, to])) };
    });
    const isNew = (flow: string) => !grants.hasFlowed(flow);
    return {
      requirement: {
        ...requirement,
        warnings,
        data: isEditable ? requirement.data.map((datum) => ({ ...datum, isEditable })) : requirement.data,
      },
      rules,
      newRecipients: [
        ...new Set([
          ...(requirement.notes ?? []),
          ...flows.filter((flow) => isNew(flow.digest)).map(({ words }) => words),
        ]),
      ],
      passing: binding !== null && grants.isOutdated(subject, binding) ? [OUTDATED] : [],
      durations: allowedDurations(subject, asked.length > 0, covers.mayLast && binding !== null),
      digest: this.#digestOf({ subject, warnings, rules, same: covers.same, binding }),
      binding: binding ?? '',
      flows: flows.map((flow) => flow.digest),
    };
  }

  #granted({ requirement, digest, durations }: Inquiry): Grant | null {
    if (durations.length < 2) return null;
    const { grants } = this.#parts;
    const grant = grants.find(requirement.subject, digest);
    // A yes for once is for the data that were shown and is spent when it is given: one that a crash left is worth nothing.
    if (grant === null || grant.digest !== digest || grant.duration === 'once') return null;
    return grants.consume(grant) ? grant : null;
  }

  /** One question for equal ones. `isOwn`: it was put for this caller. */
  async #ask(
    context: Context,
    inquiry: Inquiry,
    proposed: EventId,
  ): Promise<{ readonly answered: Answered; readonly isOwn: boolean }> {
    const { digest } = inquiry;
    // Attack: a question that was answered while the hub was dead comes back with a line that nobody has seen.
    const { session: _session, context: _context, ...shown } = this.#contentOf(context, inquiry);
    const fingerprint = this.#parts.digest(canonicalJsonOf(shown));
    const standing = this.#standing.get(fingerprint);
    if (standing !== undefined) return { answered: await standing.end, isOwn: false };
    const covered = new AbortController();
    const end = this.#put(context, inquiry, proposed, fingerprint, covered.signal).finally(() =>
      this.#standing.delete(fingerprint),
    );
    this.#standing.set(fingerprint, { digest, end, cover: () => covered.abort() });
    return { answered: await end, isOwn: true };
  }

  async #put(
    context: Context,
    inquiry: Inquiry,
    proposed: EventId,
    fingerprint: string,
    covered: AbortSignal,
  ): Promise<Answered> {
    const { recorder, consent } = this.#parts;
    const signal = this.#parts.signal();
    const content = this.#contentOf(context, inquiry);
    const body = { kind: 'permission.asked', prompt: content } as const;
    const asked = recorder.record(context, body, { causes: [proposed] }).id;
    const prompt: PermissionPrompt = { ...content, id: asked };
    const first = await firstAnswer(
      this.#parts,
      { kind: 'permission', prompt },
      fingerprint,
      AbortSignal.any([signal, covered]),
      async (shown, waiting) => ({
        kind: 'permission',
        answer: await consent.permission({ ...prompt, id: shown }, waiting),
      }),
    ).catch((broken: unknown) => {
      // Nobody is waited for any more: a question that is open for ever would stop the query's clock for ever.
      recorder.record(context, this.#answeredBody(asked, UNANSWERED, null), { causes: [asked] });
      throw broken;
    });
    const isCovered = first === null && covered.aborted && !signal.aborted;
    // A yes that comes when the query is over is a yes to nothing, whatever the surface makes of the signal.
    const answer = first?.answer.kind === 'permission' && !signal.aborted ? first.answer.answer : UNANSWERED;
    const told: EventBody = isCovered
      ? { kind: 'permission.answered', prompt: asked, allow: true, duration: null, by: 'grant' }
      : this.#answeredBody(asked, answer, first);
    recorder.record(context, told, { causes: [asked] });
    return isCovered ? { kind: 'covered' } : { kind: 'answered', answer, asked };
  }

  #contentOf(
    context: Context,
    { requirement, rules, newRecipients, passing, durations, digest }: Inquiry,
  ): Omit<PermissionPrompt, 'id'> {
    const { subject, question, data, expected } = requirement;
    const { weaker = [] } = this.#parts;
    return {
      session: this.#parts.session,
      context: context.id,
      subject,
      question,
      data,
      expected,
      warnings: [...requirement.warnings, ...passing],
      newRecipients,
      covers: requirement.covers.words,
      rules,
      durations,
      ...(weaker.length === 0 ? {} : { weaker }),
      digest,
    };
  }

  #answeredBody(prompt: EventId, answer: PermissionAnswer, first: FirstAnswer | null): EventBody {
    const { shown } = answer;
    const text = shownOf(answer);
    return {
      kind: 'permission.answered',
      prompt,
      allow: answer.allow,
      ...(answer.allow ? termOf(answer) : { duration: null }),
      by: answer.allow || answer.reason === 'user' ? 'user' : 'no-answer',
      ...(first === null ? {} : { from: first.from }),
      ...(shown === undefined || text === null ? {} : { shown: { text, digest: this.#parts.digest(shown) } }),
      ...(answer.allow && answer.edits !== undefined ? { edits: answer.edits } : {}),
    };
  }

  #give(
    context: Context,
    { requirement, digest, binding, flows }: Inquiry,
    answer: GrantTerm,
    prompt: EventId,
    edits: readonly PromptEdit[],
  ): Permission {
    const { grants, recorder } = this.#parts;
    const { subject } = requirement;
    // Attack: what the user struck out is proposed again, and finds the yes that was for something else.
    const isAsShown = edits.length === 0;
    const term: GrantTerm = isAsShown ? termOf(answer) : { duration: 'once' };
    const gift = { subject, ...term, digest, binding, prompt, flows: isAsShown ? flows : [] };
    const grant = grants.give(gift);
    if (grant === null)
      return { granted: false, reason: refusal(subject, 'the permission could not be kept', [prompt]) };
    const given = { kind: 'grant.given', grant: grant.id, subject, ...term } as const;
    recorder.record(context, given, { causes: [prompt] });
    if (!grants.consume(grant))
      return { granted: false, reason: refusal(subject, 'the permission was taken back', [prompt]) };
    if (term.duration !== 'once') this.#coverOthers(digest);
    return { granted: true, by: 'user', edits };
  }

  /** Questions of the same kind that stand before the user need no answer of their own any more. */
  #coverOthers(digest: string): void {
    for (const standing of this.#standing.values()) if (standing.digest === digest) standing.cover();
  }
}

/** What the journal keeps of what the user saw; null: nobody saw any. */
function shownOf({ shown }: PermissionAnswer): string | null {
  return shown?.slice(0, MOST_SHOWN) ?? null;
}

/** What was changed is good for itself, however long was said. */
function isForOnce({ question, answer }: Agreed): boolean {
  return answer.duration === 'once' || changesOf(question.data, answer.edits ?? []).length > 0;
}

/** What the apps of a subject are. Null: one of them is nothing that anybody has agreed to, so no answer about it lasts. */
export function bindingOf(
  { from, to }: PermissionSubject,
  identityOf: PermissionsParts['identityOf'],
  digest: PermissionsParts['digest'],
): string | null {
  const identities = [from, to].map((app) => (app === null ? 'none' : identityOf(app)));
  return identities.includes(null) ? null : digest(canonicalJsonOf(identities));
}

/**
 * What an app was when it was asked about before the query was interrupted: nothing that anybody had agreed to, if the user
 * agreed to it, as it is now, later in the same query.
 */
export function identityThen({
  identityOf,
  recorder,
}: Pick<PermissionsParts, 'identityOf' | 'recorder'>): PermissionsParts['identityOf'] {
  const pinned = recorder.cursor?.pinned;
  return (app) => {
    const identity = identityOf(app);
    return identity !== null && pinned?.get(app) === identity ? null : identity;
  };
}

export function termOf(term: GrantTerm): GrantTerm {
  return term.duration === 'until'
    ? { duration: term.duration, until: term.until }
    : { duration: term.duration };
}

const OUTDATED = 'you allowed this before, but one of the apps has changed since then';

/** INVARIANT (irreversible is short): what cannot be undone, and what a rule asks, is permitted for the session at most. */
function allowedDurations(
  { scope }: PermissionSubject,
  ruleAsks: boolean,
  mayLast: boolean,
): readonly GrantDuration[] {
  if (!mayLast) return ['once'];
  const mustStayShort = scope === 'irreversible-action' || scope === 'policy' || ruleAsks;
  return mustStayShort ? ['once', 'session'] : ['once', 'session', 'until', 'permanent'];
}

function refusedBecause(answer: PermissionAnswer): string {
  if (answer.allow) return 'this cannot be allowed for that long';
  return answer.reason === 'user' ? 'the user said no' : 'nobody answered';
}

/** What really differs from what was shown; an edit of something that was not shown is left for the check to refuse. */
function changesOf(data: readonly PromptDatum[], edits: readonly PromptEdit[]): readonly PromptEdit[] {
  return edits.filter(
    (edit) => !data.some((datum) => datum.name === edit.name && datum.value === edit.value),
  );
}

function problemOf(edits: readonly PromptEdit[], check: CheckEdits | null): string | null {
  if (edits.length === 0) return null;
  if (check === null) return 'this cannot be changed';
  const checked = check(edits);
  return checked.ok ? null : checked.fault;
}

function corrected(question: string, problem: string): string {
  return `${question} What you typed does not fit: ${problem}.`;
}

function requirementOf(
  context: Context,
  proposal: Proposal,
  due: ConsentRequirement | null,
  asked: readonly Reason[],
): ConsentRequirement {
  return due === null ? policyRequirement(context, proposal, asked) : withRules(due, asked);
}

/** One question for both: what is due anyway, and why rules ask. */
function withRules(requirement: ConsentRequirement, asked: readonly Reason[]): ConsentRequirement {
  const question = [requirement.question, ...asked.map(({ message }) => `A rule asks: ${message}.`)].join(
    ' ',
  );
  return { ...requirement, question };
}

function policyRequirement(
  context: Context,
  proposal: Proposal,
  asked: readonly Reason[],
): ConsentRequirement {
  return {
    subject: {
      scope: 'policy',
      from: context.app,
      to: targetOf(proposal),
      what: asked.map((reason) => reason.rule).join(' '),
    },
    question: asked.map((reason) => reason.message).join('; '),
    data: [policyDatum(proposal)],
    expected: true,
    warnings: [],
    covers: { same: null, words: 'whatever else this rule asks about between the same apps', mayLast: true },
    flows: [],
  };
}

/** Arguments one by one; texts of answers and outputs as they are. */
function policyDatum(proposal: Proposal): PromptDatum {
  const content = contentOf(proposal);
  const datum = { name: proposal.effect, value: canonicalJsonOf(content) };
  return typeof content === 'string' ? datum : { ...datum, identifying: [] };
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

function refusal(subject: PermissionSubject, message: string, events: readonly EventId[] = []): Reason {
  return { rule: id(`permission/${subject.scope}`), message, events, because: 'permission' };
}
