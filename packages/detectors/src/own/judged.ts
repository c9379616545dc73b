/** Judging with answers where there is no hub: what rules ask is answered, and they are asked again. */
import type { AnswerBook, Json, Question, Result } from '@cordon/core';

/** One answer may lead to the next question. */
const MOST_ROUNDS = 8;
const AT_ONCE = 4;

/** By digest: what has to be answered before a rule can be decided. */
export type Awaited = Map<string, Question>;

/** Judges until no question is open; a question without an answer leaves its rule undecided. `answer` never rejects. */
export async function judgedWithAnswers<T>(
  judge: (awaited: Awaited) => T,
  book: AnswerBook,
  answer: (question: Question) => Promise<Result<Json, string>>,
): Promise<T> {
  for (let round = 0; ; round++) {
    const awaited: Awaited = new Map();
    const judgement = judge(awaited);
    if (awaited.size === 0 || round >= MOST_ROUNDS) return judgement;
    const left = [...awaited.values()];
    const work = async () => {
      for (let next = left.shift(); next !== undefined; next = left.shift())
        book.keep(next, await answer(next));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  }
}
