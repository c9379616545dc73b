/** From findings to what a rule gets: their kinds, and their places marked. */
import { type DetectorCall, type NoAnswer, noAnswer } from '@cordon/policy';
import type { FindIn } from './finding.ts';

/** UTF-16 units of one text. A detector that says nothing of a longer one would be a way around it, so it has no answer. */
export const MAX_TEXT = 16 * 1024 * 1024;

/** The kinds of the findings in all texts of a call that are at least as sure as `threshold`. */
export function marked({ texts, mark }: DetectorCall, find: FindIn, threshold = 0): string[] | NoAnswer {
  if (texts.some((text) => text.length > MAX_TEXT))
    return noAnswer(`a text has more than ${MAX_TEXT} characters`);
  return texts.flatMap((text, index) => {
    const findings = find(text).filter(({ confidence }) => confidence >= threshold);
    for (const { start, end } of findings) mark(index, start, end);
    return findings.map(({ kind }) => kind);
  });
}
