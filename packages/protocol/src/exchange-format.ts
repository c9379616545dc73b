/**
 * What an answer to another context's request may be: models say JSON in several ways. Both ends read it alike, the
 * spoke before it sends the answer, the hub before it delivers it.
 */
import { type Json, type JsonSchema, parseJson } from '@cordon/core';
import { misfit } from './schema-check.ts';

/** What the text can stand for, the most likely first: JSON, also as a block of code, or the one text of a response. */
export function readingsOf(text: string): readonly Json[] {
  const trimmed = text.trim();
  const block = blockOf(trimmed);
  const parsed = [parseJson(trimmed), ...(block === null ? [] : [parseJson(block)])];
  return [...parsed.flatMap((one) => (one.ok ? [one.value] : [])), { text }, text];
}

const FENCE = '```';

/**
 * What stands in the one block of code that a text is; null: it is none. Attack: an app answers with a fence and a
 * million empty lines; a pattern that may end its first line at any of them takes for ever.
 */
function blockOf(text: string): string | null {
  const start = text.indexOf('\n');
  const end = text.length - `\n${FENCE}`.length;
  if (!text.startsWith(FENCE) || !text.endsWith(`\n${FENCE}`) || start === -1 || start >= end) return null;
  const language = text.slice(FENCE.length, start).trim();
  return language === '' || language === 'json' ? text.slice(start + 1, end) : null;
}

/** What is wrong with an answer for a response of this schema; null: one of its readings fits. */
export function misfitOfAnswer(response: JsonSchema, text: string): string | null {
  const problems = readingsOf(text).map((reading) => misfit(response, reading, { allowsReferences: true }));
  return problems.includes(null) ? null : (problems[0] ?? 'it is empty');
}
