/**
 * The planner's task for an app. An app that serves a query alone gets the query in the user's words; an app of a parallel step
 * gets only its task. If the query refers to something that the user told another app ("on the days I am away"), the task says
 * more than the query. The hub releases such a task like a fact, after a question that shows it (paper, IV-B3 and A-C2).
 *
 * The planner has seen the user's own words and vetted descriptions, so the task holds no word of an app. But the user may have
 * told one app what another one should not know.
 *
 * An app gets a task in which this finds nothing told elsewhere without a question.
 */
import type { InstalledApp, PlannerInput, PlanStep, ReleasedItem } from '@cordon/core';
import { USER_LABEL } from '@cordon/core';
import { contentWords, vettedWords } from './tokenize.ts';

/** What the planner had been shown. */
export interface Heard {
  readonly query: string;
  readonly earlier: PlannerInput['earlier'];
  /** Of what was asked before those; null: nothing. */
  readonly summary: string | null;
}

/** The task of the app's steps, if it has words that the user said to other apps; null: the query suffices. */
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
