/**
 * The reference monitor of the hub: decides every effect before it happens, remembers what happened, and is the
 * only maker of the proofs without which no effect can be carried out.
 */
import {
  type Allowed,
  type AnswerPart,
  type AnyProposal,
  canonicalJsonOf,
  type Decision,
  type EventId,
  id,
  type Proposal,
  type Question,
  type Reason,
  type Ruling,
  settledTexts,
} from '@cordon/core';
import { type Evaluation, type Finding, type Policy, type PolicyMonitor, verdictOf } from '@cordon/policy';
import { type EventPlace, factEvent, type HubFact, proposalEvent } from './cordon-event.ts';

declare const ABOUT: unique symbol;
/** A decision, and what it takes to admit exactly what it is about, once. */
export type Judged<P extends Proposal> = Decision & { readonly [ABOUT]: P };

interface Evaluated {
  readonly decision: Decision;
  /** Null: evaluating it failed. */
  readonly evaluation: Evaluation | null;
}

/** What a decision is about. */
interface Case extends Pick<Evaluated, 'evaluation'> {
  readonly proposal: Proposal;
  readonly frame: EventPlace;
}

export class ReferenceMonitor {
  readonly #monitor: PolicyMonitor;
  /** INVARIANT (one decision, one proof): a decision is in here until it is admitted. */
  readonly #cases = new WeakMap<object, Case>();
  /** INVARIANT (one proof, one effect): an allowance is in here from its minting until it is spent. */
  readonly #allowances = new WeakMap<object, AnyProposal>();
  /** What an interrupted query has done, by event: it is in the trace already. */
  readonly #unfinished = new Map<EventId, Proposal>();

  constructor({ policy }: { readonly policy: Policy }) {
    this.#monitor = policy.monitor();
  }

  /**
   * What the policy says about letting this happen now; changes nothing. Throws for what is not plain data.
   * @param awaited takes the questions, by digest, whose answers could change it
   */
  decide<P extends Proposal>(given: P, frame: EventPlace, awaited?: Map<string, Question>): Judged<P> {
    // The caller keeps its object; what was decided is what will be spent.
    const proposal = frozenCopy(given);
    const { decision, evaluation } = this.#evaluated(proposal, frame, awaited);
    const judged = decision as Judged<P>;
    this.#cases.set(judged, { proposal, frame, evaluation });
    return judged;
  }

  /**
   * If what was decided on may happen, appends it and mints the proof, once for each decision. It is decided again where the
   * trace has grown since. `given`: the user agrees to what the rules of this decision ask. Deny stays deny, and so does what
   * another rule asks since then; a refusal changes nothing.
   */
  admit<P extends Proposal>(judged: Judged<P>, consent: 'not-needed' | 'given'): Ruling<P> {
    const found = this.#cases.get(judged);
    if (found === undefined) throw new Error('this monitor did not decide so, or has admitted it before');
    this.#cases.delete(judged);
    const { proposal, frame } = found;
    const agreed = new Set(consent === 'given' ? asking(judged).map(({ rule }) => rule) : []);
    const isCurrent = found.evaluation !== null && this.#monitor.isCurrent(found.evaluation);
    const { decision, evaluation } = isCurrent
      ? { decision: judged, evaluation: found.evaluation }
      : this.#evaluated(proposal, frame);
    if (decision.verdict === 'deny') return { allowed: false, reasons: decision.reasons };
    // Attack: what another rule asks comes up while the decision waits, and passes with the yes to the first.
    const open = asking(decision).filter(({ rule }) => !agreed.has(rule));
    if (open.length > 0) return { allowed: false, reasons: open };
    try {
      if (evaluation === null) throw new Error('it was not evaluated');
      this.#monitor.append(evaluation);
    } catch (error) {
      return { allowed: false, reasons: [faultReason(error)] };
    }
    // What was stored under a `Judged<P>` is the `P` that `decide` was given.
    return { allowed: true, allowance: this.#mint(proposal as P), warnings: decision.warnings };
  }

  /**
   * Whether a part of a message may be shown before the rest exists: as an answer that consists of it and of what was shown
   * `before`. What a rule denies, asks or warns about, or cannot decide yet, is not shown. The trace stays as it is, because it gets
   * the whole message.
   */
  admitPart(given: AnswerPart, before: string, frame: EventPlace): Ruling<AnswerPart> {
    const part = frozenCopy(given);
    const { context, text } = part;
    const { decision } = this.#evaluated({ effect: 'answer', context, text: before + text }, frame);
    if (decision.verdict !== 'allow') return { allowed: false, reasons: decision.reasons };
    if (decision.warnings.length > 0) return { allowed: false, reasons: decision.warnings };
    return { allowed: true, allowance: this.#mint(part), warnings: [] };
  }

  /** Something has happened that needs no decision: a user's message, a plan, a model's message, a new context. */
  record(fact: HubFact, frame: EventPlace): void {
    this.#monitor.append([factEvent(frozenCopy(fact), frame)]);
  }

  /** An effect that was allowed and carried out before this monitor began: remembered, never carried out again. */
  happened(proposal: Proposal, frame: EventPlace): void {
    this.#monitor.append([proposalEvent(frozenCopy(proposal), frame)]);
  }

  /**
   * These effects belong to a query that is resumed, and are in the trace already; those of an earlier one count no more. Each may be
   * readmitted once.
   */
  resume(effects: ReadonlyMap<EventId, Proposal>): void {
    this.#unfinished.clear();
    for (const [event, proposal] of effects) this.#unfinished.set(event, frozenCopy(proposal));
  }

  /**
   * A proof for an effect that was decided, and told with `happened`, before this process began: for exactly what was
   * decided then, once. Refused for anything else.
   */
  readmit<P extends Proposal>(proposal: P, event: EventId): Ruling<P> {
    const known = this.#unfinished.get(event);
    const judged = frozenCopy(proposal);
    if (known === undefined || contentOf(known) !== contentOf(judged))
      return { allowed: false, reasons: [NOT_DECIDED] };
    this.#unfinished.delete(event);
    return { allowed: true, allowance: this.#mint(judged), warnings: [] };
  }

  /** Gives the proposal back, once for each allowance. Throws for one that is forged or spent: a bug, or an attack. */
  spend<P extends AnyProposal>(allowance: Allowed<P>): P {
    const proposal = this.#allowances.get(allowance);
    if (proposal === undefined)
      throw new Error('the allowance was not made by this monitor, or was spent before');
    this.#allowances.delete(allowance);
    // What was stored under an `Allowed<P>` is the `P` that `#mint` was given.
    return proposal as P;
  }

  #mint<P extends AnyProposal>(proposal: P): Allowed<P> {
    const allowance = Object.freeze({}) as Allowed<P>;
    this.#allowances.set(allowance, proposal);
    return allowance;
  }

  /** The boundary that fails closed: whatever goes wrong while a rule is evaluated, the effect does not happen. */
  #evaluated(proposal: Proposal, frame: EventPlace, awaited?: Map<string, Question>): Evaluated {
    try {
      const evaluation = this.#monitor.evaluate([proposalEvent(proposal, frame)], awaited);
      return { decision: verdictOf(evaluation.findings, reasonOf), evaluation };
    } catch (error) {
      return { decision: { verdict: 'deny', reasons: [faultReason(error)], warnings: [] }, evaluation: null };
    }
  }
}

const NOT_DECIDED: Reason = {
  rule: id('monitor/resumed'),
  message: 'the journal has no decision about exactly this',
  events: [],
  because: 'fault',
};

/** Without its label: the journal keeps the join of it with that of the context. */
function contentOf(proposal: Proposal): string {
  const { label: _, ...content } = { label: null, ...proposal };
  return canonicalJsonOf(content);
}

/** Rule, the author's own words, and event ids: never a value of the trace, which may be protected. */
function reasonOf(finding: Finding): Reason {
  const events = [
    ...new Set(finding.bound.flatMap(({ entry }) => (entry === null ? [] : [entry.reference]))),
  ];
  const { rule, open } = finding;
  return {
    rule: id(rule.id),
    message: open === null ? rule.staticMessage : `${rule.staticMessage} (undecided: ${open.why.reason})`,
    events: events.map((event) => id(event)),
    because: open === null ? 'rule' : 'undecided',
  };
}

function asking(decision: Decision): readonly Reason[] {
  return decision.verdict === 'ask' ? decision.reasons : [];
}

function faultReason(error: unknown): Reason {
  const kind = error instanceof Error ? error.name : 'unknown';
  return {
    rule: id('monitor/fault'),
    message: `the policy could not be evaluated (${kind})`,
    events: [],
    because: 'undecided',
  };
}

/**
 * A copy of plain data that nobody can change, so that what was decided is what happens. Texts, and what is settled, are not
 * copied. A structured clone would take ten times as long.
 */
export function frozenCopy<T>(value: T): T {
  // A copy of plain data has the type of what was copied.
  return copyOf(value) as T;
}

function copyOf(value: unknown): unknown {
  if (typeof value === 'function' || typeof value === 'symbol')
    throw new Error('proposals and facts are plain data');
  if (typeof value !== 'object' || value === null || settledTexts(value) !== null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(copyOf));
  // Entry by entry: an argument of the name `__proto__` is a key like any other.
  return Object.freeze(Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, copyOf(inner)])));
}
