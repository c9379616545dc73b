/**
 * What an answer to another context's request may be: models say JSON in several ways. Both ends read it alike, the
 * spoke before it sends the answer, the hub before it delivers it.
 *
 * Ring 0.
 */
import { type Json, type JsonSchema, parseJson } from '@cordon/core';
import { misfit } from './schema-check.ts';

/** What the text can stand for, the most likely first: JSON, also as a block of code, or the one text of a response. */
export function readingsOf(text: string): readonly Json[] {
  const trimmed = text.trim();
  const block = /^```(?:json)?\s*?\n([\s\S]*)\n```$/.exec(trimmed)?.[1];
  const parsed = [parseJson(trimmed), ...(block === undefined ? [] : [parseJson(block)])];
  return [...parsed.flatMap((one) => (one.ok ? [one.value] : [])), { text }, text];
}

/** What is wrong with an answer for a response of this schema; null: one of its readings fits. */
export function misfitOfAnswer(response: JsonSchema, text: string): string | null {
  const problems = readingsOf(text).map((reading) => misfit(response, reading, { allowsReferences: true }));
  return problems.includes(null) ? null : (problems[0] ?? 'it is empty');
}
