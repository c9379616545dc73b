/**
 * What a query may use, and what models cost: `limits` and `prices` of the configuration, `--max-…` of the command
 * line. A price that is not there is unknown, and never nothing.
 */
import { DEFAULT_TURN_LIMITS, type ModelPrice, type TurnLimits } from '@cordon/core';
import { type Bounds, type Located, type ObjectReader, quoted } from '../reading/config-reader.ts';
import { modelProblem, OBEDIENT_MODEL, type OutsideProblem } from './provider-config.ts';

/** The built-in model runs on this machine. */
export const BUILT_IN_PRICES: ReadonlyMap<string, ModelPrice> = new Map([
  [OBEDIENT_MODEL, { input: 0, output: 0 }],
]);

type Counted = 'steps' | 'tokens' | 'seconds';

const BOUNDS: Readonly<Record<Counted, Bounds>> = {
  steps: [1, 1_000],
  tokens: [1, 100_000_000],
  seconds: [1, 604_800],
};

const MOST_MONEY = 1_000_000;

/** `limits`; core's where it is silent. */
export function readLimits(at: Located): TurnLimits {
  const object = at.object();
  if (object === null) return DEFAULT_TURN_LIMITS;
  const counted = object.wholes(BOUNDS, DEFAULT_TURN_LIMITS);
  const limits: TurnLimits = { ...DEFAULT_TURN_LIMITS, ...counted, cost: readMoney(object, 'cost') };
  object.finish();
  return limits;
}

/** `prices`: by `provider/model`, for a million tokens each. */
export function readPrices(at: Located): ReadonlyMap<string, ModelPrice> {
  const prices = new Map<string, ModelPrice>();
  for (const [model, inner] of at.entries()) {
    // A price under a name that no model can have would leave the model's own unknown. Providers may have any name.
    const problem = modelProblem(model, [], true);
    if (problem !== null) inner.reportKey(problem);
    const object = inner.object();
    if (object === null) continue;
    const input = readMoney(object, 'input');
    const output = readMoney(object, 'output');
    for (const name of ['input', 'output']) object.required(name, 'write what a million tokens cost');
    object.finish();
    if (problem === null && input !== null && output !== null) prices.set(model, { input, output });
  }
  return prices;
}

/** An amount that is not negative; null where the key is missing, or after a report. */
function readMoney(object: ObjectReader, name: string): number | null {
  const at = object.get(name);
  const value = at?.number() ?? null;
  if (at === null || value === null || isMoney(value)) return value;
  return at.report({
    code: 'CFG015',
    message: `${quoted(name)} must be an amount from 0 to ${MOST_MONEY}`,
  });
}

function isMoney(value: number): boolean {
  return Number.isFinite(value) && value >= 0 && value <= MOST_MONEY;
}

/** As commander parses them. */
export interface LimitOptions {
  readonly maxSteps?: string | undefined;
  readonly maxTokens?: string | undefined;
  readonly maxSeconds?: string | undefined;
  readonly maxCost?: string | undefined;
}

/** The command line's limits take the place of the file's. */
export function withLimitOptions(
  limits: TurnLimits,
  options: LimitOptions,
  report: (problem: OutsideProblem) => void,
): TurnLimits {
  const wrong = (name: string, message: string) => {
    report({ code: 'CFG015', source: 'command line', name, message });
    return null;
  };
  const counted = (given: string | undefined, name: Counted) => {
    if (given === undefined) return limits[name];
    const [least, most] = BOUNDS[name];
    const value = /^\d{1,12}$/.test(given) ? Number(given) : Number.NaN;
    if (value >= least && value <= most) return value;
    return wrong(`--max-${name}`, `it must be a whole number from ${least} to ${most}`) ?? limits[name];
  };
  const money = (given: string | undefined) => {
    if (given === undefined) return limits.cost;
    const value = /^\d{1,12}(\.\d{1,12})?$/.test(given) ? Number(given) : Number.NaN;
    return isMoney(value) ? value : wrong('--max-cost', `it must be an amount from 0 to ${MOST_MONEY}`);
  };
  return {
    ...limits,
    steps: counted(options.maxSteps, 'steps'),
    tokens: counted(options.maxTokens, 'tokens'),
    seconds: counted(options.maxSeconds, 'seconds'),
    cost: money(options.maxCost),
  };
}
