/**
 * A local index over the vetted words of the installed apps: which of many are shown to the planner first. Okapi BM25
 * over three fields (Robertson and Zaragoza, 2009), computed anew for each query: some hundred apps take less than a
 * millisecond or two.
 *
 * What an app says of itself is not in it: an app could write itself to the top.
 */
import type { AppId, InstalledApp } from '@cordon/core';
import { contentWords, describedWords, nameWords } from '@cordon/hub/words';

/** So often does a word of each field count. */
const WEIGHTS = { name: 3, functionality: 2, description: 1 };
/** BM25's usual constants: how soon more of the same word says nothing more, and how much long texts are held back. */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.75;

interface Document {
  readonly app: InstalledApp;
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
}

/**
 * All of `apps`: those whose name stands in the query, then the best first; of those that score alike the ones in
 * `first`, and then the order that they came in. Nothing is left out.
 */
export function rankApps(
  query: string,
  apps: readonly InstalledApp[],
  first: readonly AppId[] = [],
): readonly InstalledApp[] {
  const documents = apps.map(documentOf);
  const asked = new Set(contentWords(query));
  const average = documents.reduce((sum, { length }) => sum + length, 0) / Math.max(1, documents.length) || 1;
  const rarity = new Map([...asked].map((word) => [word, rarityOf(word, documents)]));
  const preferred = new Set(first);
  return documents
    .map((document, place) => ({
      document,
      place,
      isNamed: query.toLowerCase().includes(document.app.id.toLowerCase()),
      points: score(document, rarity, average),
    }))
    .sort(
      (a, b) =>
        Number(b.isNamed) - Number(a.isNamed) ||
        b.points - a.points ||
        Number(preferred.has(b.document.app.id)) - Number(preferred.has(a.document.app.id)) ||
        a.place - b.place,
    )
    .map(({ document }) => document.app);
}

/** Whether the configuration says what the app is for. One that it says nothing of cannot be ruled out by words. */
export function isDescribed({ manifest }: InstalledApp): boolean {
  return manifest.description !== null || manifest.functionalities.length > 0;
}

function documentOf(app: InstalledApp): Document {
  const { id, manifest } = app;
  const counts = new Map<string, number>();
  const add = (text: string, weight: number) => {
    for (const word of describedWords(text)) counts.set(word, (counts.get(word) ?? 0) + weight);
  };
  add(`${id} ${nameWords(id).join(' ')}`, WEIGHTS.name);
  for (const { name, description } of manifest.functionalities) {
    add(name, WEIGHTS.functionality);
    add(description, WEIGHTS.description);
  }
  add(manifest.description ?? '', WEIGHTS.description);
  const length = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return { app, counts, length };
}

function rarityOf(word: string, documents: readonly Document[]): number {
  const holding = documents.filter(({ counts }) => counts.has(word)).length;
  return Math.log(1 + (documents.length - holding + 0.5) / (holding + 0.5));
}

function score({ counts, length }: Document, rarity: ReadonlyMap<string, number>, average: number): number {
  let points = 0;
  for (const [word, weight] of rarity) {
    const count = counts.get(word) ?? 0;
    const held = SATURATION * (1 - LENGTH_SHARE + (LENGTH_SHARE * length) / average);
    points += (weight * count * (SATURATION + 1)) / (count + held);
  }
  return points;
}
