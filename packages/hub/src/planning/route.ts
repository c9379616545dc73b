/**
 * From a plan to who serves it (paper, IV-A2 and IV-C4): no app, one app with helpers, or a coordinator over apps
 * that do not depend on each other.
 */
import type { AppId, StepPlan } from '@cordon/core';

export type Route =
  | { readonly kind: 'vanilla' }
  /** The app's own context serves the query; helpers are reached by exchange. */
  | { readonly kind: 'app'; readonly app: AppId; readonly helpers: readonly AppId[] }
  /** A context without app sees the results only; the apps do not see each other's data. */
  | { readonly kind: 'coordinator'; readonly apps: readonly AppId[] };

export function routeOf(plan: StepPlan): Route {
  const apps = [...new Set(plan.steps.flatMap(({ app }) => app ?? []))];
  const first = apps[0];
  if (first === undefined) return { kind: 'vanilla' };
  if (apps.length === 1) return { kind: 'app', app: first, helpers: [] };
  const roots = new Set(plan.steps.filter(({ after }) => after.length === 0).flatMap(({ app }) => app ?? []));
  const [root] = roots;
  if (roots.size !== 1 || root === undefined) return { kind: 'coordinator', apps };
  return { kind: 'app', app: root, helpers: apps.filter((app) => app !== root) };
}

/** The plan with another of its candidates: what it said of uses holds for the app that it was said of only. */
export function withCandidate(plan: StepPlan, chosen: AppId): StepPlan {
  const planned = plan.candidates[0];
  if (planned === undefined || planned === chosen) return plan;
  const steps = plan.steps.map((step) => {
    if (step.app !== planned) return step;
    const { sources: _sources, passes: _passes, follows: _follows, ...rest } = step;
    return { ...rest, app: chosen, uses: [] };
  });
  return { ...plan, steps };
}
