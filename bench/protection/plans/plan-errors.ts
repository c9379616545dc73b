/** What a planner gets wrong, at a stated rate: the same errors each time, whoever asks. */
import { createHash } from 'node:crypto';
import type { ArgumentSource, PlannedSources } from '@cordon/core';
import type { ScriptedPlan, ScriptedPlans } from './scripted-plans.ts';

/** Percent of the steps and sources that are wrong. */
export const ERROR_RATES = [0, 5, 10, 20] as const;
/** Errors fall here or there: what they cost is the mean of so many throws. */
const THROWS = 3;

/** The plans of tasks, with errors or without. */
export interface PlanVariant {
  /** `10 % 2`: the rate, and the number of the throw. */
  readonly name: string;
  readonly plans: ScriptedPlans;
}

/** The plans that name the tools alone. */
export const TOOLS_ONLY = 'tools only';

/** The plans as they are first; empty: there are none. */
export function variantsOf(plans: ScriptedPlans): readonly PlanVariant[] {
  if ([...plans.values()].every((tasks) => tasks.size === 0)) return [];
  const withRates = ERROR_RATES.flatMap((percent) =>
    namesOfThrows(percent).map((name, index) => ({ name, plans: withErrors(plans, percent, index + 1) })),
  );
  return [...withRates, { name: TOOLS_ONLY, plans: changed(plans, withoutSources) }];
}

/** The names of the variants with so many percent of errors. */
export function namesOfThrows(percent: number): readonly string[] {
  return Array.from({ length: percent === 0 ? 1 : THROWS }, (_, index) => `${percent} % ${index + 1}`);
}

function withoutSources(plan: ScriptedPlan): ScriptedPlan {
  return new Map([...plan.keys()].map((tool) => [tool, null]));
}

type Change = (plan: ScriptedPlan, key: string, tools: readonly string[]) => ScriptedPlan;

/** Each plan changed. `tools`: those that the plans of its suite name. */
function changed(plans: ScriptedPlans, change: Change): ScriptedPlans {
  return new Map(
    [...plans].map(([suite, tasks]) => {
      const tools = [...new Set([...tasks.values()].flatMap((plan) => [...plan.keys()]))];
      const all = [...tasks].map(([task, plan]) => [task, change(plan, `${suite}\n${task}`, tools)] as const);
      return [suite, new Map(all)];
    }),
  );
}

/**
 * The plans with errors: so many percent of the steps are missing, so many have no sources, so many of the plans have a step too many,
 * and so many of the sources are texts of another tool.
 *
 * @param number of the throw: another one has other errors
 */
export function withErrors(plans: ScriptedPlans, percent: number, number: number): ScriptedPlans {
  if (percent === 0) return plans;
  return changed(plans, (plan, key, tools) => wrong(plan, new Dice(`${number}\n${key}`, percent), tools));
}

function wrong(plan: ScriptedPlan, dice: Dice, tools: readonly string[]): ScriptedPlan {
  const kept = [...plan].filter(([tool]) => !dice.falls(`missing ${tool}`));
  const steps = new Map(kept.map(([tool, sources]) => [tool, wrongSources(tool, sources, dice, tools)]));
  const superfluous = dice.falls('superfluous') ? dice.oneOf('superfluous', tools) : undefined;
  if (superfluous !== undefined && !plan.has(superfluous)) steps.set(superfluous, null);
  return steps;
}

function wrongSources(
  tool: string,
  sources: PlannedSources | null,
  dice: Dice,
  tools: readonly string[],
): PlannedSources | null {
  if (sources === null || dice.falls(`no sources ${tool}`)) return null;
  const entries = Object.entries(sources).map(([argument, all]) => {
    const what = `${tool} ${argument}`;
    return [
      argument,
      all.map((source, index) => wrongSource(source, `${what} ${index}`, dice, tools)),
    ] as const;
  });
  return Object.fromEntries(entries);
}

function wrongSource(
  source: ArgumentSource,
  what: string,
  dice: Dice,
  tools: readonly string[],
): ArgumentSource {
  const tool = dice.falls(what) ? dice.oneOf(what, tools) : undefined;
  return tool === undefined ? source : { kind: 'result', app: null, tool, within: 'text' };
}

/** Falls by the digest of what it is thrown for. */
export class Dice {
  readonly #key: string;
  readonly #percent: number;

  constructor(key: string, percent: number) {
    this.#key = key;
    this.#percent = percent;
  }

  falls(what: string): boolean {
    return this.#number(`falls ${what}`) % 100 < this.#percent;
  }

  oneOf(what: string, all: readonly string[]): string | undefined {
    return all[this.#number(`chooses ${what}`) % all.length];
  }

  #number(what: string): number {
    return createHash('sha256')
      .update(`cordon\n${this.#percent}\n${this.#key}\n${what}`)
      .digest()
      .readUInt32BE(0);
  }
}
