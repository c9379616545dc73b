/**
 * Permissions: how the user is asked for what needs their consent, and what is kept of the answer (paper, Appendix A-D). An
 * answer is a grant for equal questions about the same apps. For what cannot be undone, and for what a rule asks, it lasts for
 * the session at most.
 */
import {
  canonicalJson,
  canonicalJsonOf,
  type EventId,
  type Grant,
  type GrantDuration,
  type GrantTerm,
  id,
  type Json,
  type PermissionAnswer,
  type PermissionSubject,
  type PromptDatum,
  type PromptEdit,
  type Reason,
  type Result,
} from '@cordon/core';
import type { Context } from '../context/context.ts';
import type { Agreed } from '../journal/resume-cursor.ts';
import type { ConsentRequest, ConsentRequirement } from './consent-requirement.ts';
import {
  bindingOf,
  type Grants,
  type IdentityParts,
  identityThen,
  keepGrant,
  termOf,
  usedGrant,
} from './grants.ts';
import { requirementOf } from './policy-requirement.ts';
import { type Question, StandingQuestions, type StandingQuestionsParts } from './standing-questions.ts';

/** Whether what the user typed can flow; else what is wrong with it. */
export type CheckEdits = (edits: readonly PromptEdit[]) => Result<unknown, string>;

export type Permission =
  | {
      readonly granted: true;
      readonly by: 'user' | 'grant';
      /** What the user typed over the shown data; empty: the data flow as they are. */
      readonly edits: readonly PromptEdit[];
    }
  | { readonly granted: false; readonly reason: Reason };

export interface PermissionsParts extends StandingQuestionsParts, IdentityParts {
  readonly grants: Grants;
}

/**
 * After so many refusals in one query the rest is refused without asking. Attack: a context that asks for the same thing
 * in other words until the user is tired of saying no.
 */
const MOST_REFUSED = 12;

/** What an answer is bound to. */
interface DigestedQuestion {
  readonly subject: PermissionSubject;
  readonly warnings: readonly string[];
  readonly rules: readonly string[];
  readonly same: Json;
  readonly binding: string | null;
}

export class Permissions {
  readonly #parts: PermissionsParts;
  readonly #questions: StandingQuestions;
  /** How often something was refused, for each query: its signal stands for it. */
  readonly #refused = new WeakMap<AbortSignal, number>();
  /** What the user has said no to, by the digest of what that answer covers; of each query. */
  readonly #refusedMore = new WeakMap<AbortSignal, Set<string>>();

  constructor(parts: PermissionsParts) {
    this.#parts = parts;
    this.#questions = new StandingQuestions(parts);
  }

  /**
   * Finds a grant or asks. A grant counts only for the same subject with the same warnings: consent that was given without a
   * warning does not cover the same effect with one.
   *
   * @param check what the user may type over the data; null: nothing
   * @param proposed the event of the proposal, by which a resumed query finds the answer
   */
  async obtain(request: ConsentRequest, check: CheckEdits | null, proposed: EventId): Promise<Permission> {
    const { context } = request;
    const requirement = requirementOf(request);
    const { subject, data } = requirement;
    let question = this.#question(requirement, request, check !== null);
    for (;;) {
      const grant = this.#granted(question);
      if (grant !== null) {
        this.#parts.recorder.record(context, { kind: 'grant.used', grant: grant.id });
        return { granted: true, by: 'grant', edits: [] };
      }
      const signal = this.#parts.signal();
      if (question.onceDigest !== null && this.#refusedMore.get(signal)?.has(question.onceDigest) === true)
        return refused(subject, 'the user said no to the same before');
      if ((this.#refused.get(signal) ?? 0) >= MOST_REFUSED)
        return refused(subject, 'too many requests of this query were refused');
      const answered = await this.#questions.ask(context, question, proposed);
      if (answered.kind === 'covered') continue;
      const { answer, asked, isOwn } = answered;
      if (!answer.allow || !question.durations.includes(answer.duration)) {
        // Nobody is tired of what nobody answers, and an unattended query has many such questions of its text.
        const isUnread = subject.scope === 'delegation' && !answer.allow && answer.reason === 'no-answer';
        if (!isUnread) this.#countRefusal(signal);
        if (!answer.allow && answer.reason === 'user') this.#keepRefusal(signal, question);
        return refused(subject, refusedBecause(answer), [asked]);
      }
      // The user answered an equal question of another effect: a yes for once does not cover this one.
      if (!isOwn) continue;
      const edits = changesOf(data, answer.edits ?? []);
      const problem = problemOf(edits, check);
      if (problem === null) return this.#give(context, question, { answer, asked, edits });
      this.#countRefusal(signal);
      const corrected = `${requirement.question} What you typed does not fit: ${problem}.`;
      question = { ...question, requirement: { ...question.requirement, question: corrected } };
    }
  }

  /**
   * Whether what was permitted before the query was interrupted still is, for what stands behind the names of the apps now:
   * `agreed` is what the user said yes to then. A yes for longer than once counts as long as its grant does.
   */
  isStillGiven(request: ConsentRequest, agreed: readonly Agreed[]): boolean {
    const { due, asks } = request;
    if (this.#granted(this.#question(requirementOf(request), request, false)) !== null) return true;
    const isAboutDue = ({ question }: Agreed) =>
      due !== null && this.#isAbout(question, due.subject, due.covers.same);
    const given = agreed.filter(
      (one) => isForOnce(one) && (isAboutDue(one) || this.#isAbout(one.question, one.question.subject, null)),
    );
    const shown = new Set(given.flatMap(({ question }) => question.warnings));
    const answered = new Set(given.flatMap(({ question }) => question.rules));
    const warnings = [...(due?.warnings ?? []), ...messagesOf(request.warnings)];
    return (
      (due === null || given.some(isAboutDue)) &&
      asks.every(({ rule }) => answered.has(rule)) &&
      warnings.every((warning) => shown.has(warning))
    );
  }

  /** Whether it was this that was asked, and about the apps as they are. */
  #isAbout(question: Agreed['question'], subject: PermissionSubject, same: Json): boolean {
    const binding = bindingOf(subject, this.#parts);
    if (binding === null) return false;
    const then = bindingOf(subject, { ...this.#parts, identityOf: identityThen(this.#parts) });
    const warnings = question.warnings.filter((warning) => warning !== OUTDATED);
    const { rules } = question;
    return [binding, then].some(
      (one) => question.digest === this.#digestOf({ subject, warnings, rules, same, binding: one }),
    );
  }

  #digestOf(question: DigestedQuestion): string {
    return this.#parts.digest(canonicalJsonOf(question));
  }

  #countRefusal(signal: AbortSignal): void {
    this.#refused.set(signal, (this.#refused.get(signal) ?? 0) + 1);
  }

  #keepRefusal(signal: AbortSignal, { onceDigest }: Question): void {
    if (onceDigest === null) return;
    const refusals = this.#refusedMore.get(signal) ?? new Set();
    this.#refusedMore.set(signal, refusals.add(onceDigest));
  }

  #question(
    requirement: ConsentRequirement,
    { asks, warnings: warned }: ConsentRequest,
    isEditable: boolean,
  ): Question {
    const { digest, grants, identityOf } = this.#parts;
    const { subject, covers, data, notes = [] } = requirement;
    const warnings = [...requirement.warnings, ...messagesOf(warned)];
    const rules = [...asks, ...warned].map(({ rule }) => rule);
    const binding = bindingOf(subject, this.#parts);
    const flows = requirement.flows.map(({ from, to, words }) => {
      const source = from === null ? 'the user' : (identityOf(from) ?? from);
      return { words, digest: digest(canonicalJson([source, to])) };
    });
    const unknown = flows.filter((flow) => !grants.hasFlowed(flow.digest));
    return {
      requirement: {
        ...requirement,
        warnings,
        data: isEditable ? data.map((datum) => ({ ...datum, isEditable })) : data,
      },
      rules,
      newRecipients: [...new Set([...notes, ...unknown.map(({ words }) => words)])],
      passing: binding !== null && grants.isOutdated(subject, binding) ? [OUTDATED] : [],
      durations: allowedDurations(subject, asks.length > 0, covers.mayLast && binding !== null),
      digest: this.#digestOf({ subject, warnings, rules, same: covers.same, binding }),
      onceDigest:
        covers.once === undefined
          ? null
          : this.#digestOf({ subject, warnings, rules, same: { once: covers.once.within }, binding }),
      binding: binding ?? '',
      flows: flows.map((flow) => flow.digest),
    };
  }

  #granted({ requirement: { subject }, digest, onceDigest, durations }: Question): Grant | null {
    const { grants } = this.#parts;
    const lasting = durations.length > 1 ? usedGrant(grants, subject, digest) : null;
    return lasting ?? (onceDigest === null ? null : usedGrant(grants, subject, onceDigest));
  }

  #give(context: Context, question: Question, yes: Yes): Permission {
    const { answer, asked: prompt, edits } = yes;
    const { binding, flows, onceDigest } = question;
    const { subject } = question.requirement;
    // Attack: what the user struck out is proposed again, and finds the yes that was for something else.
    const isAsShown = edits.length === 0;
    // Bound to a context or a call, it ends with that; nobody has agreed to an app without a binding, so it is asked about each time.
    const coversMore = onceDigest !== null && answer.duration === 'once' && binding !== '';
    const digest = coversMore ? onceDigest : question.digest;
    const whole: GrantTerm = coversMore ? { duration: 'session' } : termOf(answer);
    const term: GrantTerm = isAsShown ? whole : { duration: 'once' };
    const gift = { subject, ...term, digest, binding, prompt, flows: isAsShown ? flows : [] };
    const grant = keepGrant(this.#parts, context, gift);
    if (grant === null) return refused(subject, 'the permission could not be kept', [prompt]);
    if (!this.#parts.grants.consume(grant))
      return refused(subject, 'the permission was taken back', [prompt]);
    if (term.duration !== 'once') this.#questions.cover(digest);
    return { granted: true, by: 'user', edits };
  }
}

/** The user's yes: for how long, to which question, and what the user changed. */
interface Yes {
  readonly answer: GrantTerm;
  readonly asked: EventId;
  readonly edits: readonly PromptEdit[];
}

/** A yes to changed data covers those data once, whatever duration the user chose. */
function isForOnce({ question, answer }: Agreed): boolean {
  return answer.duration === 'once' || changesOf(question.data, answer.edits ?? []).length > 0;
}

function messagesOf(reasons: readonly Reason[]): readonly string[] {
  return reasons.map(({ message }) => message);
}

const OUTDATED = 'you allowed this before, but one of the apps has changed since then';

/** INVARIANT (irreversible is short): what cannot be undone, and what a rule asks, is permitted for the session at most. */
function allowedDurations(
  { scope }: PermissionSubject,
  ruleAsks: boolean,
  mayLast: boolean,
): readonly GrantDuration[] {
  if (!mayLast) return ['once'];
  const mustStayShort =
    scope === 'irreversible-action' || scope === 'policy' || scope === 'delegation' || ruleAsks;
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

/** The no to a question, with its reason. */
export function refused(
  subject: PermissionSubject,
  message: string,
  events: readonly EventId[] = [],
): Permission {
  const reason: Reason = { rule: id(`permission/${subject.scope}`), message, events, because: 'permission' };
  return { granted: false, reason };
}
