/** The plan where no answer of a model is one, by the words of the query alone. */
import type { AppId, InstalledApp } from '@cordon/core';
import { contentWords } from '@cordon/hub/words';
import { isDescribed } from './app-index.ts';

/**
 * Who serves the query when the planner's answer cannot be read: the apps whose id or vetted words occur in the query. An app of
 * which the user's configuration says nothing cannot be ruled out by words, so all such apps are in, unless one that
 * is described fits.
 */
export function fallbackApps(query: string, apps: readonly InstalledApp[]): readonly AppId[] {
  const asked = new Set(contentWords(query));
  const scored = apps
    .map((app) => ({ app, score: score(app, asked) }))
    .filter(({ score: points }) => points > 0)
    .sort((a, b) => b.score - a.score);
  const best = scored[0]?.score ?? 0;
  const chosen = scored.filter(({ score: points }) => points * 2 >= best).map(({ app }) => app);
  const picked = chosen.some(isDescribed) ? chosen : withUndescribed(chosen, apps);
  return picked.map(({ id }) => id);
}

/** More than these would fill a context with tools and start programs that the query does not need. */
const MOST_UNDESCRIBED = 6;

function withUndescribed(
  chosen: readonly InstalledApp[],
  apps: readonly InstalledApp[],
): readonly InstalledApp[] {
  // With nothing to go by, a single app is what the user configured Cordon for.
  if (chosen.length === 0 && apps.length === 1) return apps;
  const others = apps.filter((app) => !isDescribed(app) && !chosen.includes(app));
  return chosen.length + others.length > MOST_UNDESCRIBED ? chosen : [...chosen, ...others];
}

function score({ id, manifest }: InstalledApp, asked: ReadonlySet<string>): number {
  const hits = (text: string) => new Set(contentWords(text).filter((word) => asked.has(word))).size;
  const served = manifest.functionalities.map(({ name, description }) => `${name} ${description}`).join(' ');
  return 3 * hits(id) + hits(`${manifest.description ?? ''} ${served}`);
}
