/**
 * The model that replaces the obedient one in a run: a provider's model, whose answers are kept with the records, or the kept
 * answers of an earlier run. Each unit gets a separate model object, which reports its questions and answers at the end.
 *
 * INVARIANT (whole units): a unit in which the model could not be asked, or had no kept answer, is not measured.
 */
import { setTimeout as wait } from 'node:timers/promises';
import {
  failed,
  isJsonObject,
  type Json,
  type JsonObject,
  type Model,
  type ModelFault,
  type ModelFaultKind,
  type ModelResponse,
  ok,
  type Result,
} from '@cordon/core';
import type { KeptRecords } from '../evaluation/running/run-store.ts';
import type { DataFile } from '../evaluation/suite.ts';
import type { Spending } from './spending.ts';
import {
  decodeEntry,
  type Entry,
  encodeEntry,
  givenAnswer,
  keptAnswer,
  knownQuestion,
} from './transcript.ts';

export interface PlayedModel {
  /** `provider/model` */
  readonly id: string;
  /** Whether it answers from what an earlier run kept. */
  readonly isReplay: boolean;
  /** Identifies the kept answers; empty: a provider answers. */
  readonly data: readonly DataFile[];
  begin(key: string): UnitModel;
}

export interface UnitModel {
  readonly model: Model;
  /** What is kept with the unit's record. Refused with a reason where the unit was not measured. */
  end(): Result<JsonObject, string>;
}

/** The field of a record that holds what `end` gave. */
export const ASKED = 'asked';

/** How a unit counts whose model call failed. `measured`: the model itself is at fault, and that is the unit's result. */
type Consequence = 'measured' | 'not measured' | 'run ends';

const CONSEQUENCES: Readonly<Record<ModelFaultKind, Consequence>> = {
  unauthorised: 'run ends',
  'unknown-model': 'run ends',
  'rate-limited': 'not measured',
  unavailable: 'not measured',
  'bad-request': 'not measured',
  'cut-stream': 'not measured',
  'invalid-response': 'not measured',
  timeout: 'not measured',
  // The hub does so: with what nobody waits for any more, and at the end of a query.
  cancelled: 'measured',
};

/** Whether a failure says that a question was too long for a model; servers say it in words of their own. */
export function saysContextExceeded(message: string): boolean {
  return /context.{0,20}(?:length|window|size)|too many tokens|prompt is too long/i.test(message);
}

/** Units one after the other without a measurement; then something is wrong that goes on being wrong. */
const MOST_FAILED_UNITS = 5;

export interface ProviderModelParts {
  readonly id: string;
  readonly model: Model;
  readonly spending: Spending;
  /** Told once, with a reason in words: nothing more is to be measured in this run. */
  readonly onStop: (reason: string) => void;
  /** Milliseconds that never go back. */
  readonly now: () => number;
}

export function providerModel(parts: ProviderModelParts): PlayedModel {
  let failedUnits = 0;
  return {
    id: parts.id,
    isReplay: false,
    data: [],
    begin: () =>
      new AskedUnit(parts, (isMeasured) => {
        failedUnits = isMeasured ? 0 : failedUnits + 1;
        if (failedUnits >= MOST_FAILED_UNITS)
          parts.onStop(`the model could not be asked in ${MOST_FAILED_UNITS} units, one after the other`);
      }),
  };
}

class AskedUnit implements UnitModel {
  readonly #parts: ProviderModelParts;
  readonly #onEnd: (isMeasured: boolean) => void;
  readonly #entries: Entry[] = [];
  #tokens = { inputTokens: 0, outputTokens: 0 };
  #problem: string | null = null;
  readonly model: Model = { complete: (request, options) => this.#complete(request, options) };

  constructor(parts: ProviderModelParts, onEnd: (isMeasured: boolean) => void) {
    this.#parts = parts;
    this.#onEnd = onEnd;
  }

  end(): Result<JsonObject, string> {
    this.#onEnd(this.#problem === null);
    if (this.#problem !== null) return failed(this.#problem);
    return ok({
      calls: this.#entries.length,
      ...this.#tokens,
      answers: this.#entries.map(encodeEntry),
    });
  }

  async #complete(
    ...[request, options]: Parameters<Model['complete']>
  ): Promise<Result<ModelResponse, ModelFault>> {
    const { model, spending, now } = this.#parts;
    const underWay = spending.begin(request);
    if (typeof underWay === 'string') {
      this.#stop(underWay);
      return failed({ kind: 'unavailable', message: underWay, attempts: 0 });
    }
    const began = now();
    const question = knownQuestion(request);
    const result = await model.complete(request, options);
    const used = underWay.settle(result.ok ? result.value.usage : null);
    this.#tokens = {
      inputTokens: this.#tokens.inputTokens + used.inputTokens,
      outputTokens: this.#tokens.outputTokens + used.outputTokens,
    };
    const milliseconds = Math.round(now() - began);
    if (result.ok)
      this.#entries.push({
        question: question.digest,
        answer: keptAnswer(result.value, question),
        milliseconds,
      });
    else this.#failed(result.fault, question.digest, milliseconds);
    return result;
  }

  #failed({ kind, message }: ModelFault, question: string, milliseconds: number): void {
    const isTooLong = kind === 'bad-request' && saysContextExceeded(message);
    const consequence = isTooLong ? 'measured' : CONSEQUENCES[kind];
    const answer = isTooLong ? 'context exceeded' : 'cancelled';
    if (consequence === 'measured') this.#entries.push({ question, answer, milliseconds });
    else this.#problem ??= `the model could not be asked: ${message}`;
    if (consequence === 'run ends') this.#stop(message);
  }

  #stop(reason: string): void {
    this.#problem ??= reason;
    this.#parts.onStop(reason);
  }
}

/**
 * Answers as the records of an earlier run hold them: no provider is asked.
 *
 * @param waits whether an answer takes as long as it took then; where time is measured
 */
export function replayedModel({ model, records, data }: KeptRecords, waits: boolean): PlayedModel {
  return {
    id: model,
    isReplay: true,
    data: [data],
    begin: (key) => new ReplayedUnit(records.get(key)?.[ASKED], waits),
  };
}

class ReplayedUnit implements UnitModel {
  readonly #asked: JsonObject;
  readonly #left: Entry[];
  readonly #waits: boolean;
  #problem: string | null;
  readonly model: Model = { complete: (request, options) => this.#complete(request, options) };

  constructor(asked: Json | undefined, waits: boolean) {
    const answers = isJsonObject(asked) && Array.isArray(asked.answers) ? asked.answers : null;
    const entries = answers?.map(decodeEntry) ?? [];
    this.#asked = isJsonObject(asked) ? asked : {};
    this.#left = entries.filter((entry) => entry !== null);
    this.#waits = waits;
    this.#problem =
      answers === null || this.#left.length < entries.length ? 'no answers were kept of this unit' : null;
  }

  end(): Result<JsonObject, string> {
    return this.#problem === null ? ok(this.#asked) : failed(this.#problem);
  }

  async #complete(
    ...[request, { signal }]: Parameters<Model['complete']>
  ): Promise<Result<ModelResponse, ModelFault>> {
    const question = knownQuestion(request);
    const at = this.#left.findIndex((entry) => entry.question === question.digest);
    const [entry] = at < 0 ? [] : this.#left.splice(at, 1);
    if (entry === undefined) {
      this.#problem ??= 'the model was asked something that no answer was kept of';
      return failed({ kind: 'unavailable', message: this.#problem, attempts: 0 });
    }
    const { answer, milliseconds } = entry;
    const span = answer === 'cancelled' ? FOREVER : this.#waits ? milliseconds : 0;
    const isOver = await wait(span, true, { signal }).catch(() => false);
    if (!isOver || answer === 'cancelled')
      return failed({ kind: 'cancelled', message: 'the model call was cancelled', attempts: 0 });
    if (answer === 'context exceeded') return failed({ kind: 'bad-request', message: TOO_LONG, attempts: 1 });
    return ok(givenAnswer(answer, question));
  }
}

const TOO_LONG = 'the question was too long for the context window of the model';
/** As long as a timer can. */
const FOREVER = 2 ** 31 - 1;
