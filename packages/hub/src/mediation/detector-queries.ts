/**
 * Questions of rules: where a rule cannot be decided because a detector waits for an answer, somebody is asked, and the
 * rule is decided again. To ask is an effect like any other: proposed in a separate context, decided, recorded. While
 * nobody has answered, and when nobody does in time, the rule is undecided, which denies.
 *
 * What is answered is ring 1, and no better than the detectors that it is for.
 */
import {
  type Allowed,
  type AnswerBook,
  canonicalJsonOf,
  type Decision,
  type EventId,
  type Fault,
  failed,
  fault,
  type Json,
  type ModelCall,
  ok,
  type Question,
  type Result,
  type Service,
  type ServiceName,
  type TextJudge,
} from '@cordon/core';
import type { Context } from '../context/context.ts';
import type { Recorder } from '../journal/recorder.ts';
import { abortable } from './abortable.ts';
import type { Decide, Gate, RuleQuestions } from './gate.ts';
import type { ModelCalls, Spending } from './model-calls.ts';

/** Who answers questions of rules; handed in by the composition root. */
export interface Answering {
  /** Shared with the detectors of the policy: they read what is kept here. */
  readonly book: AnswerBook;
  /** `provider/model` that answers questions for a model; null: none does. */
  readonly model: string | null;
  readonly services: ReadonlyMap<Exclude<ServiceName, 'llm'>, Service>;
  /** How long one decision waits for all its answers. */
  readonly seconds: number;
}

export interface DetectorQueriesParts {
  /** Null: nobody outside. */
  readonly answering: Answering | null;
  /** Looks at long texts; null: nobody has to. */
  readonly texts: TextJudge | null;
  readonly gate: Gate;
  readonly models: ModelCalls;
  readonly recorder: Recorder;
  /** A context of kind `inquiry`, for one question about one proposal. */
  readonly newContext: (model: string, about: EventId) => Context;
  /** Whose budget the questions count for, and whose end ends them. */
  readonly query: () => Spending;
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** An answer may lead to the next question; a policy for which that never ends is undecided. */
const MOST_ROUNDS = 8;
/** Of one decision. Attack: an output of a thousand lines, each of which somebody is paid to read. */
const MOST_QUESTIONS = 64;
const AT_ONCE = 4;
/** How long one decision waits for all long texts, and how many questions about them it has. */
const TEXT_SECONDS = 60;
const MOST_TEXT_QUESTIONS = 1_000;
const NOTHING = Promise.resolve();

/** A decision that waits for answers. */
interface Asker {
  readonly context: Context;
  /** The event of the proposal. */
  readonly about: EventId;
  /** The query that it is for: another may run before the last answer comes. */
  readonly spending: Spending;
  /** Aborts when the query is over, or time is up. */
  readonly signal: AbortSignal;
}

/** A longer answer is not in the journal: vectors, or whole texts of pictures. */
const MOST_RECORDED = 4_000;

export class DetectorQueries implements RuleQuestions {
  readonly #parts: DetectorQueriesParts;
  /** One question is put once, however many wait for its answer. */
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(parts: DetectorQueriesParts) {
    this.#parts = parts;
  }

  /** Decides until nobody is waited for, or time is up. `about`: the event of the proposal. */
  async settle<D extends Decision>(context: Context, about: EventId, decide: Decide<D>): Promise<D> {
    const { answering, query } = this.#parts;
    const spending = query();
    using answers = this.#timeLimit(answering?.seconds ?? 0, spending.signal);
    using looks = this.#timeLimit(TEXT_SECONDS, spending.signal);
    const { signal } = answers;
    let rounds = 0;
    let asked = 0;
    const texts = new Set<string>();
    for (;;) {
      const { decision, others } = await this.#looked(decide, texts, looks.signal);
      asked += others.length;
      const isTooMuch = ++rounds > MOST_ROUNDS || asked > MOST_QUESTIONS || signal.aborted;
      if (others.length === 0 || isTooMuch || context.kind === 'inquiry') return decision;
      await this.#answerAll({ context, about, spending, signal }, others);
    }
  }

  /** Decides until each text that it waits for has been looked at, or time is up; nobody else is asked. */
  async look<D extends Decision>(decide: Decide<D>, signal: AbortSignal): Promise<D> {
    using looks = this.#timeLimit(TEXT_SECONDS, signal);
    return (await this.#looked(decide, new Set(), looks.signal)).decision;
  }

  /** Aborts with `signal`, and after so many seconds. Disposing of it stops the clock, and whoever still waits for it. */
  #timeLimit(seconds: number, signal: AbortSignal): Disposable & { readonly signal: AbortSignal } {
    const over = new AbortController();
    void this.#parts.pause(seconds * 1000, over.signal).then(() => over.abort());
    return { signal: AbortSignal.any([signal, over.signal]), [Symbol.dispose]: () => over.abort() };
  }

  /** The same. `others`: who else is waited for; nobody is asked about what a look at a text may settle. */
  async #looked<D extends Decision>(
    decide: Decide<D>,
    texts: Set<string>,
    signal: AbortSignal,
  ): Promise<{ readonly decision: D; readonly others: readonly Question[] }> {
    for (;;) {
      const awaited = new Map<string, Question>();
      const decision = decide(awaited);
      const open = isSettled(decision) ? [] : [...awaited.values()];
      const own = open.filter(({ service }) => service === 'text');
      if (own.length === 0) return { decision, others: open };
      const unseen = own.filter(({ digest }) => !texts.has(digest));
      for (const { digest } of unseen) texts.add(digest);
      if (unseen.length === 0 || texts.size > MOST_TEXT_QUESTIONS || signal.aborted)
        return { decision, others: [] };
      await abortable(() => this.#lookAll(unseen), signal, undefined);
    }
  }

  /** No effect: nothing leaves this process. */
  async #lookAll(questions: readonly Question[]): Promise<void> {
    const { texts } = this.#parts;
    await Promise.all(
      questions.map((question) => this.#once(question, () => texts?.answer(question) ?? NOTHING)),
    );
  }

  async #answerAll(asker: Asker, questions: readonly Question[]): Promise<void> {
    const left = [...questions];
    const work = async () => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        const question = next;
        // Whoever is asked is not waited for beyond the signal; what is left is the record of it.
        await this.#once(question, () => this.#answer(asker, question));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  }

  async #once({ digest }: Question, begin: () => Promise<void>): Promise<void> {
    const begun = this.#underWay.get(digest) ?? begin();
    this.#underWay.set(digest, begun);
    try {
      await begun;
    } finally {
      this.#underWay.delete(digest);
    }
  }

  /** Never rejects for what the model or service does. */
  async #answer(asker: Asker, question: Question): Promise<void> {
    const { answering, recorder, newContext } = this.#parts;
    const { context, about, spending } = asker;
    const { service } = question;
    if (answering === null || service === 'text') return;
    const asked = service === 'llm' ? answering.model : (answering.services.get(service) ?? null);
    if (asked === null) return answering.book.keep(question, failed(`nobody answers for \`${service}\``));
    const inquiry = newContext(typeof asked === 'string' ? asked : asked.name, about);
    // The question may hold whatever a rule can look at, of any context.
    inquiry.sees({ integrity: 'untrusted', confidentiality: 'private' }, context.app);
    const answer =
      typeof asked === 'string'
        ? await this.#askModel(inquiry, question, asker)
        : await this.#askService(inquiry, question, asked, asker);
    const said = answer.ok ? canonicalJsonOf(answer.value) : '';
    const shown = answer.ok && said.length <= MOST_RECORDED ? answer.value : null;
    const reason = answer.ok ? null : answer.fault;
    const { label, causes } = inquiry;
    recorder.record(
      inquiry,
      { kind: 'question.answered', service, answer: shown, reason },
      { causes, label },
    );
    recorder.end(inquiry, 'answered');
    // That a query was stopped says nothing of whom was asked: the next one asks.
    if (answer.ok || !spending.signal.aborted) answering.book.keep(question, answer);
  }

  async #askModel(inquiry: Context, { input }: Question, asker: Asker): Promise<Result<Json, string>> {
    const { spending, signal } = asker;
    const reserve: Spending['reserve'] = (model, characters) => spending.reserve(model, characters);
    const messages = [
      { role: 'system', text: textIn(input.system) },
      { role: 'user', text: textIn(input.prompt) },
    ] as const;
    const prompt = { role: 'agent', messages, tools: [] } as const;
    const answer = await this.#parts.models.ask(inquiry, { reserve, signal }, prompt);
    if (answer.ok) return ok(answer.value.response.text);
    return failed(answer.fault.kind === 'refused' ? REFUSED : reasonOf(answer.fault.fault, asker));
  }

  async #askService(
    inquiry: Context,
    question: Question,
    service: Service,
    asker: Asker,
  ): Promise<Result<Json, string>> {
    const { gate } = this.#parts;
    const { about, signal } = asker;
    const proposal: ModelCall = {
      effect: 'model-call',
      context: inquiry.id,
      model: service.name,
      messages: 1,
      tools: [],
      digest: question.digest,
    };
    const effect = async (allowance: Allowed<ModelCall>): Promise<Result<Json, Fault>> => {
      if (gate.spend(allowance).digest !== question.digest) throw new Error('another question was decided');
      return abortable(() => answerOf(service, question, signal), signal, failed(STOPPED));
    };
    const circumstances = { causes: [about], label: inquiry.label, requirement: null };
    const carried = await gate.carryOut(inquiry, proposal, circumstances, effect);
    if (carried.kind === 'done') return ok(carried.value);
    return failed(carried.kind === 'refused' ? REFUSED : reasonOf(carried.fault, asker));
  }
}

/** Nothing that anybody says changes what a rule has denied. */
function isSettled(decision: Decision): boolean {
  return decision.verdict === 'deny' && decision.reasons.some(({ because }) => because === 'rule');
}

/** Services are outside of what the hub trusts: one that throws is one that fails. */
async function answerOf(
  service: Service,
  question: Question,
  signal: AbortSignal,
): Promise<Result<Json, Fault>> {
  try {
    return await service.answer(question, signal);
  } catch {
    return failed(fault('model-failure', `\`${service.name}\` broke`));
  }
}

const REFUSED = 'the policy forbids asking';
const STOPPED = fault('cancelled', 'it was stopped');

function reasonOf({ kind, message }: Fault, { spending, signal }: Asker): string {
  const isLate = kind === 'cancelled' && signal.aborted && !spending.signal.aborted;
  return isLate ? 'no answer came in time' : message;
}

function textIn(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
