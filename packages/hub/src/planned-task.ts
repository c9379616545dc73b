/**
 * The planner's task for an app. An app that serves a query by itself hears the query as the user put it, and one beside
 * others its task alone. Where the query points back at what the user told somebody else ("on the days I am away") the task
 * says more than the query: that is released like a fact, by a question that shows it (paper, IV-B3 and A-C2).
 *
 * The planner has seen the user's own words and vetted descriptions, so the task holds no word of an app; what the user told
 * one app is not meant for every other.
 *
 * Ring 1: which words count as told elsewhere is a guess. What it overlooks is not released.
 */
import type { InstalledApp, PlannerInput, PlanStep, ReleasedItem } from '@cordon/core';
import { USER_LABEL } from '@cordon/core';
import { vettedWords } from './app-index.ts';
import { contentWords } from './words.ts';

/** What the planner had heard. */
export interface Heard {
  readonly query: string;
  readonly earlier: PlannerInput['earlier'];
  /** Of what was asked before those; null: nothing. */
  readonly summary: string | null;
}

/** The task of the app's steps, if it tells the app what the user said to others; null: the query says it all. */
export function toldElsewhere(
  steps: readonly PlanStep[],
  app: InstalledApp,
  heard: Heard,
): ReleasedItem | null {
  const tasks = steps.filter((step) => step.app === app.id).map(({ task }) => task);
  const value = [...new Set(tasks)].join('\n');
  const own = heard.earlier.filter((one) => one.app === app.id).map(({ query }) => query);
  const others = heard.earlier.filter((one) => one.app !== app.id).map(({ query }) => query);
  const elsewhere = heard.summary === null ? others : [...others, heard.summary];
  const known = new Set([...wordsOf([heard.query, ...own].join(' ')), ...vettedWords(app)]);
  const told = new Set(wordsOf(elsewhere.join(' ')));
  const isNew = (word: string) => !known.has(word);
  // A number may be a date of the user's, written in another way.
  const isTold = wordsOf(value).some((word) => isNew(word) && (told.has(word) || /\d/.test(word)));
  return elsewhere.length > 0 && isTold ? { name: 'task', value, origin: null, label: USER_LABEL } : null;
}

/** Numbers too: `3` says which day. */
function wordsOf(text: string): readonly string[] {
  return [...contentWords(text), ...(text.match(/\d+/g) ?? [])];
}
