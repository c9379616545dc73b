/** Predicates of the user's own as rules call them: each call is a question that the module's process answers. */

import { fileURLToPath } from 'node:url';
import { type Json, type JsonObject, sizeOfTexts } from '@cordon/core';
import { type Detector, definePredicate, type NoAnswer, noAnswer } from '@cordon/policy';
import { type Asking, asked, type DeclaredModule } from '../asking/asking.ts';
/** Our code for the process of a module, which needs nothing else of Cordon. */
export const INSIDE_FOLDER = fileURLToPath(new URL('inside', import.meta.url));

/** UTF-16 units of all values of one call. The thread that decides copies and digests them. */
const MOST_ASKED = 150_000;
/** What a value counts besides its texts. */
const COST_OF_VALUE = 8;

export function predicatesOf({ digest, functions }: DeclaredModule, asking: Asking): readonly Detector[] {
  return [...functions].map(([name, parameters]) =>
    definePredicate({ name, parameters, run: (values) => answerOf(digest, name, values, asking) }),
  );
}

function answerOf(module: string, name: string, values: JsonObject, asking: Asking): Json | NoAnswer {
  if (sizeOfTexts(values, MOST_ASKED, COST_OF_VALUE) > MOST_ASKED)
    return noAnswer(`\`${name}\` is asked about more than ${MOST_ASKED} characters`);
  const reply = asked(asking, 'predicate', { module, name, values });
  return 'answer' in reply ? reply.answer : reply;
}
