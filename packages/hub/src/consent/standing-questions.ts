/**
 * Permission questions while they stand before the user. Equal questions that stand at the same time are one, and the journal
 * has each question and its answer.
 */
import {
  type Consent,
  canonicalJsonOf,
  type EventBody,
  type EventId,
  type GrantDuration,
  type PermissionAnswer,
  type PermissionPrompt,
  type SessionId,
} from '@cordon/core';
import type { Context } from '../context/context.ts';
import type { Recorder } from '../journal/recorder.ts';
import type { ConsentRequirement } from './consent-requirement.ts';
import { termOf } from './grants.ts';
import { type FirstAnswer, firstAnswer, type OpenQuestionParts } from './open-question.ts';

export interface StandingQuestionsParts extends OpenQuestionParts {
  readonly session: SessionId;
  readonly consent: Consent;
  readonly recorder: Recorder;
  /** Aborts with the query; a question that outlives its query is over. */
  readonly signal: () => AbortSignal;
  readonly digest: (text: string) => string;
  /** Layers of the sandbox that the session goes without. */
  readonly weaker?: readonly string[];
}

/** A requirement with what the policy adds to it, and what an answer to it is good for. */
export interface Question {
  readonly requirement: ConsentRequirement;
  readonly rules: readonly string[];
  readonly newRecipients: readonly string[];
  /** Warnings that agreeing ends, so that no grant depends on them. */
  readonly passing: readonly string[];
  readonly durations: readonly GrantDuration[];
  readonly digest: string;
  /** Of what an answer for once covers; null: only what is shown. */
  readonly onceDigest: string | null;
  readonly binding: string;
  readonly flows: readonly string[];
}

export type Answered =
  /** A grant that lasts has made the question superfluous. */
  | { readonly kind: 'covered' }
  | {
      readonly kind: 'answered';
      readonly answer: PermissionAnswer;
      readonly asked: EventId;
      /** Whether the question was put for this caller; another's yes for once is for another effect. */
      readonly isOwn: boolean;
    };

/** A question that stands before the user. */
interface Standing {
  readonly digests: readonly (string | null)[];
  readonly end: Promise<Answered>;
  readonly cover: () => void;
}

const UNANSWERED: PermissionAnswer = Object.freeze({ allow: false, reason: 'no-answer' });
/** Of the text that the user saw, in the journal; its digest is of all of it. */
const MOST_SHOWN = 16 * 1024;

export class StandingQuestions {
  readonly #parts: StandingQuestionsParts;
  /** By what is asked and shown. */
  readonly #standing = new Map<string, Standing>();

  constructor(parts: StandingQuestionsParts) {
    this.#parts = parts;
  }

  /** Asks, or waits for the answer to an equal question. `proposed`: the event of the proposal. */
  async ask(context: Context, question: Question, proposed: EventId): Promise<Answered> {
    const content = this.#contentOf(context, question);
    // Attack: a question that was answered while the hub was dead comes back with a line that nobody has seen.
    const { session: _session, context: _context, ...shown } = content;
    const fingerprint = this.#parts.digest(canonicalJsonOf(shown));
    const standing = this.#standing.get(fingerprint);
    if (standing !== undefined) {
      const answered = await standing.end;
      return answered.kind === 'covered' ? answered : { ...answered, isOwn: false };
    }
    const covered = new AbortController();
    const body = { kind: 'permission.asked', prompt: content } as const;
    const asked = this.#parts.recorder.record(context, body, { causes: [proposed] }).id;
    const end = this.#put(context, { ...content, id: asked }, fingerprint, covered.signal).finally(() =>
      this.#standing.delete(fingerprint),
    );
    const digests = [question.digest, question.onceDigest];
    this.#standing.set(fingerprint, { digests, end, cover: () => covered.abort() });
    return await end;
  }

  /** The user gave a grant that lasts: standing questions of the same digest need no separate answer. */
  cover(digest: string): void {
    for (const standing of this.#standing.values()) if (standing.digests.includes(digest)) standing.cover();
  }

  async #put(
    context: Context,
    prompt: PermissionPrompt,
    fingerprint: string,
    covered: AbortSignal,
  ): Promise<Answered> {
    const { recorder, consent } = this.#parts;
    const signal = this.#parts.signal();
    const asked = prompt.id;
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
    return isCovered ? { kind: 'covered' } : { kind: 'answered', answer, asked, isOwn: true };
  }

  #contentOf(
    context: Context,
    { requirement, rules, newRecipients, passing, durations, digest }: Question,
  ): Omit<PermissionPrompt, 'id'> {
    const { subject, question, data, expected, warnings, covers, asks = [], quotes = [] } = requirement;
    const isPlanned = requirement.isPlanned === true && !expected;
    const { session, weaker = [] } = this.#parts;
    return {
      session,
      context: context.id,
      subject,
      question,
      data,
      expected,
      ...(isPlanned ? { isPlanned } : {}),
      warnings: [...warnings, ...passing],
      newRecipients,
      covers: covers.words,
      ...(covers.once === undefined ? {} : { coversMore: true as const, onceCovers: covers.once.words }),
      rules,
      ...(asks.length === 0 ? {} : { asks }),
      ...(quotes.length === 0 ? {} : { quotes }),
      durations,
      ...(weaker.length === 0 ? {} : { weaker }),
      digest,
    };
  }

  #answeredBody(prompt: EventId, answer: PermissionAnswer, first: FirstAnswer | null): EventBody {
    const { shown } = answer;
    return {
      kind: 'permission.answered',
      prompt,
      allow: answer.allow,
      ...(answer.allow ? termOf(answer) : { duration: null }),
      by: answer.allow || answer.reason === 'user' ? 'user' : 'no-answer',
      ...(first === null ? {} : { from: first.from }),
      ...(shown === undefined
        ? {}
        : { shown: { text: shown.slice(0, MOST_SHOWN), digest: this.#parts.digest(shown) } }),
      ...(answer.allow && answer.edits !== undefined ? { edits: answer.edits } : {}),
    };
  }
}
