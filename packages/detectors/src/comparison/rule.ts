/** `copyright`, `fuzzy_contains`, `lexical_similarity` and `should_allow_rbac` as rules ask them. */

import { isJsonObject } from '@cordon/core';
import { type DetectorCall, type NoAnswer, noAnswer } from '@cordon/policy';
import { MAX_TEXT, marked } from '../text/marking.ts';
import { isGranted } from './access-control.ts';
import { findCopyright } from './copyright.ts';
import { errorsFor, findFuzzy, MOST_QUERY } from './fuzzy-search.ts';
import { lexicalSimilarity } from './lexical-similarity.ts';
/** The kinds of licences and notices in the texts, each once. */
export function copyright(call: DetectorCall): string[] | NoAnswer {
  const kinds = marked(call, findCopyright);
  return Array.isArray(kinds) ? [...new Set(kinds)] : kinds;
}

/**
 * Whether a text holds the query with at most `len * (1 - threshold)` errors, ten at most. The query is a text and no
 * expression, and no model is asked: a rule that wants one (`use_semantic=True`, said) is undecided.
 */
export function fuzzyContains({ texts, given, mark }: DetectorCall): boolean | NoAnswer {
  const { query, query_similarity_threshold: threshold = 0.8, use_semantic: isSemantic = false } = given;
  if (typeof query !== 'string' || typeof threshold !== 'number')
    return noAnswer('`fuzzy_contains` takes a text, a query and a number');
  if (query.length > MOST_QUERY) return noAnswer(`a query has at most ${MOST_QUERY} characters`);
  if (texts.some(({ length }) => length > MAX_TEXT)) return noAnswer('the text is too long to look at');
  let isFound = false;
  for (const [index, text] of texts.entries()) {
    const match = findFuzzy(text, query, errorsFor(query, threshold));
    if (match === null) continue;
    mark(index, match.start, match.end);
    isFound = true;
  }
  return !isFound && isSemantic === true ? noAnswer('no model is set up to compare meanings') : isFound;
}

/** The greatest similarity of a text to one of the targets, from 0 to 1, in words and not in meaning. */
export function lexical({ texts, given }: DetectorCall): number | NoAnswer {
  const { target } = given;
  const targets = (Array.isArray(target) ? target : [target]).filter((one) => typeof one === 'string');
  if (targets.length === 0) return noAnswer('`target` is a text or a list of texts');
  if ([...texts, ...targets].some(({ length }) => length > MAX_TEXT))
    return noAnswer('the text is too long to look at');
  return texts.reduce(
    (most, text) => targets.reduce((best, one) => Math.max(best, lexicalSimilarity(text, one)), most),
    0,
  );
}

/** Whether a role of the user grants the scope (specification 13.3). */
export function shouldAllowRbac({ given }: DetectorCall): boolean | NoAnswer {
  const { scope, user, user_roles: roles = null, role_grants: grants = null } = given;
  if (typeof scope !== 'string' || typeof user !== 'string' || !isJsonObject(roles) || !isJsonObject(grants))
    return noAnswer(
      '`should_allow_rbac` takes data, a scope, a user, the roles of users and the grants of roles',
    );
  return (
    isGranted(scope, user, roles, grants) ??
    noAnswer(
      '`should_allow_rbac` needs the roles of a user as texts, and the grants of a role as `{"scope": True}` or as texts',
    )
  );
}
