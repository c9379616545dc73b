/**
 * `cordon bench --model` and `--replay`: the model that plays instead of the obedient one, what it may spend, and what
 * the user is told before the first call.
 */

import { type Configuration, OBEDIENT_MODEL } from '@cordon/config';
import { type Fault, failed, fault, type ModelPrice, ok, type Result } from '@cordon/core';
import { openModels, openProviders, type Providers, sandboxOnDemand } from '@cordon/runtime';
import { duration } from '@cordon/scan';
import {
  type Estimate,
  type PlayedModel,
  type ProviderModelParts,
  providerModel,
  Spending,
  type SpendingLimits,
} from '../../model/index.ts';
import type { BenchRequest, Suite } from '../suite.ts';
import { SUITES } from '../suites.ts';
/** As commander hands them over. */
export interface PlayOptions {
  readonly model?: string;
  readonly replay?: string;
  readonly maxCalls?: string;
  readonly maxCost?: string;
  readonly yes?: boolean;
}

export interface AskedModel {
  readonly played: PlayedModel;
  readonly spending: Spending;
  readonly price: ModelPrice | null;
  readonly close: Providers['close'];
}

/** What of the options cannot be; null: they can, and one of the two may be given. */
export function playRefusal(suites: readonly Suite[], options: PlayOptions): Fault | null {
  const { model, replay, maxCalls, maxCost, yes } = options;
  if (model === undefined && replay === undefined) {
    const [left] = [
      maxCalls === undefined ? [] : ['--max-calls'],
      maxCost === undefined ? [] : ['--max-cost'],
      yes === undefined ? [] : ['--yes'],
    ].flat();
    if (left === undefined) return null;
    return fault(
      'usage',
      `\`${left}\` needs a model of a provider, and the command names none`,
      'name it with `--model`',
    );
  }
  if (model !== undefined && replay !== undefined)
    return fault('usage', '`--replay` asks no model', 'leave `--model` or `--replay` out');
  const whole = suites.find(({ playsModels }) => playsModels !== true);
  if (whole === undefined) return null;
  const players = SUITES.filter(({ playsModels }) => playsModels === true).map(({ id }) => `\`${id}\``);
  return fault('usage', `no model of a provider can play \`${whole.id}\``, `measure ${players.join(' or ')}`);
}

/** The model of a provider. Refused without a limit, or where it is known before the first call that none can succeed. */
export function askedModel(
  configuration: Configuration,
  { model: id = '', maxCalls, maxCost }: PlayOptions,
  { now, onStop }: Pick<ProviderModelParts, 'now' | 'onStop'>,
): Result<AskedModel, Fault> {
  if (id === OBEDIENT_MODEL)
    return failed(fault('usage', 'without `--model` the obedient model plays', 'leave `--model` out'));
  const price = configuration.prices.get(id) ?? null;
  const limits = limitsOf(id, price, maxCalls, maxCost);
  if (!limits.ok) return limits;
  const providers = openProviders(configuration, sandboxOnDemand(configuration, []));
  const models = openModels(configuration, [], providers);
  const problem = models.check(id);
  if (problem !== null) return failed(fault('model-failure', problem.message, problem.help));
  const spending = new Spending(limits.value, price);
  const played = providerModel({ id, model: models, spending, onStop, now });
  return ok({ played, spending, price, close: providers.close });
}

function limitsOf(
  id: string,
  price: ModelPrice | null,
  maxCalls: string | undefined,
  maxCost: string | undefined,
): Result<SpendingLimits, Fault> {
  if (maxCalls === undefined && maxCost === undefined) {
    const help = 'add `--max-calls NUMBER` or `--max-cost AMOUNT`';
    return failed(fault('usage', 'a run with a model of a provider needs a limit', help));
  }
  const calls = maxCalls === undefined ? null : /^\d{1,9}$/.test(maxCalls) ? Number(maxCalls) : Number.NaN;
  if (calls !== null && !(calls >= 1))
    return failed(fault('usage', '`--max-calls` must be a whole number from 1 on'));
  const cost =
    maxCost === undefined ? null : /^\d{1,6}(\.\d{1,6})?$/.test(maxCost) ? Number(maxCost) : Number.NaN;
  if (Number.isNaN(cost)) return failed(fault('usage', '`--max-cost` must be an amount, such as 2.50'));
  if (cost !== null && price === null) {
    const help = `add it to \`prices\` of the configuration: {"${id}": {"input": …, "output": …}}, for a million tokens each`;
    return failed(fault('usage', `the price of \`${id}\` is not known, so its cost cannot be limited`, help));
  }
  return ok({ calls, cost });
}

/** What the run will come to, in words. */
export function estimateText({ id }: PlayedModel, estimate: Estimate, cost: number | null): string {
  const { units, calls, inputTokens, outputTokens, seconds, isMeasured } = estimate;
  const basis = isMeasured ? 'as measured so far' : 'by assumption, 3 s a call';
  const money =
    cost === null ? 'cost unknown, since `prices` does not have it' : `cost about ${cost.toPrecision(3)}`;
  const tokens = `${counted(inputTokens)} tokens in and ${counted(outputTokens)} out`;
  return `${units} units with \`${id}\`: about ${counted(calls)} model calls, ${tokens}, ${duration(seconds)}; ${money} (${basis})`;
}

function counted(number: number): string {
  return number.toLocaleString('en');
}

/** Nothing has been asked yet. */
export const NOT_AGREED = fault('usage', 'the run was not started', 'add `--yes` to start it');

/** A request for a run in which a model of a provider plays. */
export function requestWith(request: BenchRequest, { id }: PlayedModel): BenchRequest {
  return { ...request, model: id };
}
