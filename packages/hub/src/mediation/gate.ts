/**
 * The one way from a proposal to an effect: recorded as proposed, decided by the monitor, by the user where
 * permission is due, recorded as decided. What comes out is proof for exactly this effect, or reasons.
 *
 * INVARIANT (complete mediation): no effect happens without an `Allowed` from here. Errors on the way deny.
 */
import { setImmediate } from 'node:timers/promises';
import {
  type Allowed,
  type AnswerPart,
  type Clock,
  type DecidedBody,
  type Decision,
  type Effect,
  type EventId,
  type ExecutedBody,
  type Fault,
  fault,
  id,
  type Label,
  ok,
  type Proposal,
  type Question,
  type Reason,
  type Result,
  type RuleId,
  type Ruling,
} from '@cordon/core';
import type { EventPlace, Judged, ReferenceMonitor } from '@cordon/monitor';
import type { ConsentRequirement, QuoteEvents } from '../consent/consent-requirement.ts';
import type { Permissions } from '../consent/permission.ts';
import { repetitionRequirement } from '../consent/requirements.ts';
import type { Revise, Revised } from '../consent/revision.ts';
import type { Context } from '../context/context.ts';
import { failureOf, REACHES_OTHERS } from '../journal/interruption.ts';
import type { Recorded, Recorder } from '../journal/recorder.ts';

export interface Circumstances<P extends Proposal = Proposal> {
  readonly causes: readonly EventId[];
  /** Label of the proposal's content. */
  readonly label: Label;
  /** What the permission model requires, apart from the policy; null: nothing. */
  readonly requirement: ConsentRequirement | null;
  /** What the user may make of it before allowing it; absent: it flows as it is, or not at all. */
  readonly revise?: Revise<P>;
  /** Quotes what led to it, for a rule that asks because of it; absent: nothing is quoted. */
  readonly quote?: QuoteEvents;
  /** Whether its effect happens at once, and is over before anything else does; absent: no. */
  readonly isDelivery?: boolean;
}

/** What was settled about a proposal before its content was changed by the user. */
interface Settled {
  readonly rules: ReadonlySet<RuleId>;
  readonly permission: DecidedBody['permission'];
}

const NOTHING_SETTLED: Settled = { rules: new Set(), permission: 'not-needed' };

interface Decided<P extends Proposal> {
  readonly ruling: Ruling<P>;
  readonly event: EventId;
  /** As it stands in the journal. */
  readonly proposal: P;
}

/** What a monitor says; takes the questions that stand in the way. */
export type Decide<D extends Decision> = (awaited: Map<string, Question>) => D;

/** Has the questions of rules answered, so that a rule that waits for an answer can be decided. */
export interface RuleQuestions {
  /** Decides until nobody is waited for, or time is up: then what is undecided denies. `about`: the event of the proposal. */
  settle<D extends Decision>(context: Context, about: EventId, decide: Decide<D>): Promise<D>;
}

/** What became of a proposal. */
export type Carried<T> =
  /** `event` is the `proposed` event; what follows from the effect names it as its cause. */
  | { readonly kind: 'done'; readonly value: T; readonly event: EventId }
  | { readonly kind: 'refused'; readonly reasons: readonly Reason[] }
  | { readonly kind: 'failed'; readonly fault: Fault; readonly event: EventId };

export interface GateParts {
  readonly monitor: ReferenceMonitor;
  /** Asks the user where the permission model or a rule wants it. */
  readonly permissions: Pick<Permissions, 'obtain' | 'isStillGiven'>;
  readonly recorder: Recorder;
  readonly now: Clock;
  /** Null, or absent: nobody answers questions of rules. */
  readonly ruleQuestions?: () => RuleQuestions | null;
}

/**
 * Carries out what was allowed. It gets the proof for this one proposal and nothing else to go by, and spends it where the
 * effect happens. `event` is the proposal's.
 */
type CarryOut<P extends Proposal, T> = (
  allowance: Allowed<P>,
  event: EventId,
) => Promise<Result<T, Fault>> | Result<T, Fault>;

export class Gate {
  readonly #parts: GateParts;
  readonly #underWay = new Set<Promise<void>>();

  constructor(parts: GateParts) {
    this.#parts = parts;
  }

  /** Proposes, decides and, if allowed, carries out. */
  async carryOut<P extends Proposal, T>(
    context: Context,
    given: P,
    circumstances: Circumstances<P>,
    effect: CarryOut<P, T>,
    resultOf: (value: T) => Pick<ExecutedBody, 'usage' | 'output'> = () => ({}),
  ): Promise<Carried<T>> {
    const { recorder, now } = this.#parts;
    const over = Promise.withResolvers<void>();
    this.#underWay.add(over.promise);
    try {
      const { ruling, event, proposal } = await this.#decide(context, given, circumstances);
      if (!ruling.allowed) return { kind: 'refused', reasons: ruling.reasons };
      const began = now();
      const result = await this.#attempt(context, proposal, event, () => effect(ruling.allowance, event));
      if (!result.ok) {
        recorder.record(context, failureOf(proposal, result.fault), { causes: [event] });
        return { kind: 'failed', fault: result.fault, event };
      }
      const kind: ExecutedBody['kind'] = `${proposal.effect}.executed`;
      const executed = { kind, milliseconds: now() - began, ...resultOf(result.value) };
      recorder.record(context, executed, { causes: [event] });
      return { kind: 'done', value: result.value, event };
    } finally {
      this.#underWay.delete(over.promise);
      over.resolve();
    }
  }

  /**
   * Carries out what consists of handing over the proposal itself, within the hub: nothing comes between its decision and
   * its effect, and both are recorded in one transaction before the proposer gets it back.
   */
  deliver<P extends Proposal>(
    context: Context,
    given: P,
    circumstances: Omit<Circumstances<P>, 'isDelivery'>,
  ): Promise<Carried<P>> {
    const delivery = { ...circumstances, isDelivery: true };
    return this.carryOut(context, given, delivery, (allowance) => ok(this.spend(allowance)));
  }

  /**
   * Shows a part of a message to the user, if an answer that ends with it would be allowed as it is; false: it was not shown. The
   * user is asked nothing about it: what a rule asks is asked about the whole answer.
   * @param before what the user has seen of the same message
   */
  show(context: Context, given: AnswerPart, before: string, label: Label): boolean {
    const { recorder, monitor } = this.#parts;
    const { causes } = context;
    const { event } = recorder.propose(context, given, { causes, label }, () => false);
    const ruling = monitor.admitPart(given, before, { event, app: context.app, causes });
    const decided = { kind: 'answer-part.decided', warnings: [], permission: 'not-needed' } as const;
    if (!ruling.allowed) {
      const body = { ...decided, verdict: 'deny', reasons: ruling.reasons } as const;
      recorder.record(context, body, { causes: [event] });
      return false;
    }
    monitor.spend(ruling.allowance);
    // Whoever prints it reads it from the journal.
    recorder.recordWithNext(context, { ...decided, verdict: 'allow', reasons: [] }, { causes: [event] });
    recorder.record(context, { kind: 'answer-part.executed', milliseconds: 0 }, { causes: [event] });
    return true;
  }

  /** Resolves when nothing that was proposed is under way any more, and nothing has followed from it. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) {
      await Promise.allSettled(this.#underWay);
      await setImmediate();
    }
  }

  /** What throws in the middle of an effect is a bug, and may have had its effect: the trace says so first. */
  async #attempt<T>(
    context: Context,
    proposal: Proposal,
    event: EventId,
    attempt: () => Promise<Result<T, Fault>> | Result<T, Fault>,
  ): Promise<Result<T, Fault>> {
    try {
      return await attempt();
    } catch (error) {
      const broken = fault('app-unavailable', 'the hub failed while it was carried out');
      const unknown: Fault = { ...broken, outcome: 'unknown' };
      this.#parts.recorder.record(context, failureOf(proposal, unknown), { causes: [event] });
      throw error;
    }
  }

  async #decide<P extends Proposal>(
    context: Context,
    given: P,
    circumstances: Circumstances<P>,
    settled: Settled = NOTHING_SETTLED,
  ): Promise<Decided<P>> {
    const { recorder, monitor, permissions } = this.#parts;
    const { causes, label, requirement, revise, quote, isDelivery = false } = circumstances;
    const recorded = recorder.propose(context, given, { causes, label }, (...known) =>
      this.#stillHolds(context, ...known, circumstances, settled),
    );
    const { event, proposal, decided } = recorded;
    if (decided !== null) return this.#asDecided(context, { ...recorded, decided }, circumstances);
    const frame = { event, app: context.app, causes: recorded.causes };
    const conclude = (
      ruling: Ruling<P>,
      permission: DecidedBody['permission'],
      warnings: readonly Reason[],
    ) => {
      const reasons = ruling.allowed ? [] : ruling.reasons;
      const verdict = ruling.allowed ? 'allow' : 'deny';
      const kind: `${Effect}.decided` = `${proposal.effect}.decided`;
      const body: DecidedBody = { kind, verdict, reasons, warnings, permission };
      // What is delivered is recorded as such before anybody has it, and its decision with it. What the user changed is denied
      // together with the proposal of what they made of it: a hub that is killed leaves both or none.
      if ((ruling.allowed && isDelivery) || isRevised(body))
        recorder.recordWithNext(context, body, { causes: [event] });
      else recorder.record(context, body, { causes: [event] });
      return { ruling, event, proposal };
    };

    try {
      const answered = new Set<RuleId>(settled.rules);
      const doubt = recorder.doubtAbout(proposal);
      const required =
        doubt === null ? requirement : repetitionRequirement(proposal, context.app, requirement, doubt);
      let due = required;
      let permission = settled.permission;
      /** Warnings of rules that stood on the question which was answered; null: none was put yet. */
      let shown: ReadonlySet<string> | null = null;
      for (;;) {
        // Decided anew after each answer: the trace may have grown meanwhile, and a yes to one rule is no yes to another.
        const awaited = new Map<string, Question>();
        const first = monitor.decide(proposal, frame, awaited);
        const decision = awaited.size === 0 ? first : await this.#answered(context, proposal, frame, first);
        const { warnings } = decision;
        if (decision.verdict === 'deny')
          return conclude({ allowed: false, reasons: decision.reasons }, permission, warnings);
        if (shown !== null && !warnings.every(({ message }) => shown?.has(message))) {
          // Attack: what would have been told with the question comes up while it stands, and the yes is to the old one.
          due = required;
          answered.clear();
          for (const rule of settled.rules) answered.add(rule);
        }
        const asks =
          decision.verdict === 'ask' ? decision.reasons.filter(({ rule }) => !answered.has(rule)) : [];
        if (due === null && asks.length === 0) {
          const consent = permission === 'not-needed' ? 'not-needed' : 'given';
          return conclude(monitor.admit(decision, consent), permission, warnings);
        }
        // What is asked about is in the journal before anybody is asked.
        recorder.writeHeld();
        const isAfterText = recorder.nameOutput([...asks, ...warnings]);
        const quoting = quote === undefined ? {} : { quote };
        const request = { context, proposal, due, asks, warnings, isAfterText, ...quoting };
        const obtained = await permissions.obtain(request, revise ?? null, event);
        if (!obtained.granted)
          return conclude({ allowed: false, reasons: [obtained.reason] }, 'denied', warnings);
        for (const { rule } of asks) answered.add(rule);
        shown = new Set(warnings.map(({ message }) => message));
        const revised = obtained.edits.length === 0 ? null : revise?.(obtained.edits);
        if (revised?.ok) {
          // What was proposed does not happen, but what the user made of it may.
          conclude({ allowed: false, reasons: [REVISED] }, obtained.by, warnings);
          const agreed = { rules: answered, permission: obtained.by };
          return await this.#decideRevised(context, revised.value, circumstances, agreed);
        }
        if (revised !== null) return conclude({ allowed: false, reasons: [UNFIT] }, 'denied', warnings);
        due = null;
        permission = obtained.by;
      }
    } catch (error) {
      // The boundary of this file: whatever broke while deciding, the answer is no.
      return conclude({ allowed: false, reasons: [faultReason(error)] }, 'not-needed', []);
    }
  }

  /** The rules of a decision wait for answers: those are fetched, and it is made again. */
  async #answered<P extends Proposal>(
    context: Context,
    proposal: P,
    frame: EventPlace,
    first: Judged<P>,
  ): Promise<Judged<P>> {
    const { monitor, ruleQuestions } = this.#parts;
    const decide: Decide<Judged<P>> = (awaited) => monitor.decide(proposal, frame, awaited);
    return (await ruleQuestions?.()?.settle(context, frame.event, decide)) ?? first;
  }

  /** What was decided before the query was interrupted stays decided: nobody is asked again, and nothing is counted twice. */
  async #asDecided<P extends Proposal>(
    context: Context,
    { event, proposal, decided }: Recorded<P> & { readonly decided: DecidedBody },
    circumstances: Circumstances<P>,
  ): Promise<Decided<P>> {
    const { monitor, recorder } = this.#parts;
    if (decided.verdict === 'allow') {
      const ruling = monitor.readmit(proposal, event);
      if (ruling.allowed) context.advanceTo(event);
      return { ruling, event, proposal };
    }
    const edits = isRevised(decided) ? (recorder.cursor?.edits(event) ?? null) : null;
    const revised = edits === null ? undefined : circumstances.revise?.(edits);
    if (revised?.ok !== true)
      return { ruling: { allowed: false, reasons: decided.reasons }, event, proposal };
    // What the user made of it then stands behind it in the journal, or is asked about if it was not decided any more.
    const answered = recorder.cursor?.agreed(event).flatMap(({ question }) => question.rules) ?? [];
    const rules = new Set(answered.map((rule): RuleId => id(rule)));
    const agreed = { rules, permission: decided.permission };
    return this.#decideRevised(context, revised.value, circumstances, agreed);
  }

  /** What the user made of a proposal is decided like everything else; no question is due about the user's own words. */
  #decideRevised<P extends Proposal>(
    context: Context,
    { proposal, label }: Revised<P>,
    { causes, isDelivery = false }: Circumstances<P>,
    settled: Settled,
  ): Promise<Decided<P>> {
    return this.#decide(context, proposal, { causes, label, requirement: null, isDelivery }, settled);
  }

  /**
   * Whether what was decided before the query was interrupted would be decided now. Attack: while no hub ran, a rule was
   * added, a grant revoked, or another program put behind the name of an app; what is delivered once more is delivered to
   * what is there now.
   */
  #stillHolds<P extends Proposal>(
    context: Context,
    { event, proposal }: Recorded<P>,
    decided: DecidedBody,
    { requirement }: Circumstances<P>,
    settled: Settled,
  ): boolean {
    // Other effects have happened, and are not made again.
    if (REACHES_OTHERS[proposal.effect]) return true;
    if (decided.verdict === 'deny' && !isRevised(decided)) return true;
    const { recorder, permissions } = this.#parts;
    const { cursor } = recorder;
    const now = cursor?.hindsight(event);
    if (now?.verdict === 'deny') return false;
    const asks = now?.verdict === 'ask' ? now.reasons.filter(({ rule }) => !settled.rules.has(rule)) : [];
    if (requirement === null && asks.length === 0) return true;
    const agreed = cursor?.agreed(event) ?? [];
    const warnings = now?.warnings ?? [];
    const isAfterText = recorder.nameOutput([...asks, ...warnings]);
    const request = { context, proposal, due: requirement, asks, warnings, isAfterText };
    return permissions.isStillGiven(request, agreed);
  }

  /** Gives the proposal of an allowance back, once; throws for a forged or spent one. */
  spend<P extends Proposal>(allowance: Allowed<P>): P {
    return this.#parts.monitor.spend(allowance);
  }
}

function isRevised({ reasons }: DecidedBody): boolean {
  return reasons.some(({ rule, message }) => rule === REVISED.rule && message === REVISED.message);
}

const REVISED: Reason = {
  rule: id('permission/edited'),
  message: 'the user replaced it',
  events: [],
  because: 'permission',
};
const UNFIT: Reason = { ...REVISED, message: 'what the user put in its place does not fit' };

function faultReason(error: unknown): Reason {
  const message = error instanceof Error ? error.message : 'unknown fault';
  return { rule: id('cordon/fault'), message: `deciding failed: ${message}`, events: [], because: 'fault' };
}
