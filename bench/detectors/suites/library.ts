/**
 * `html_code`, `unicode` and `should_allow_rbac`: what the standard library tells exactly. No package was found that does the
 * same job; parsers of HTML give a tree, and tables of characters a category for one at a time.
 */

import { isJsonObject, type Json } from '@cordon/core';
import { categoriesIn, htmlParts, isGranted } from '@cordon/detectors/parts';
import type { Label } from '../labelled.ts';
import type { Suite } from '../suite.ts';

/** General categories of which ordinary text has none, and which are labelled throughout. */
const WATCHED = ['Cc', 'Cf', 'Co', 'Cn', 'Zl', 'Zp', 'Mn', 'Mc', 'Me', 'Sc', 'So', 'Nl', 'No', 'Lm'];

const EXACT = { recall: 1, precision: 1 };

const HTML: Suite = {
  detector: 'html_code',
  judged: 'ranges',
  rows: [
    { name: 'alternative texts', kinds: ['ALT_TEXT'], aim: EXACT },
    { name: 'addresses', kinds: ['LINK'], aim: null },
  ],
  find: htmlParts,
  peers: [],
  speedAim: null,
};

const UNICODE: Suite = {
  detector: 'unicode',
  judged: 'ranges',
  rows: [
    { name: 'controls, format, private', kinds: ['Cc', 'Cf', 'Co', 'Cn', 'Zl', 'Zp'], aim: EXACT },
    { name: 'marks', kinds: ['Mn', 'Mc', 'Me'], aim: EXACT },
    { name: 'symbols, numbers, modifiers', kinds: ['Sc', 'So', 'Nl', 'No', 'Lm'], aim: EXACT },
  ],
  find: (text) =>
    categoriesIn(text, WATCHED).map(({ category, start, end }) => ({ kind: category, start, end })),
  peers: [],
  speedAim: 50,
};

const RBAC: Suite = {
  detector: 'should_allow_rbac',
  judged: 'texts',
  rows: [{ name: 'requests as JSON', kinds: null, aim: EXACT }],
  find: allowed,
  peers: [],
  speedAim: null,
};

/** A labelled text is the request: `{"scope", "user", "user_roles", "role_grants"}`. Any other text asks for nothing. */
function allowed(text: string): readonly Label[] {
  const request = parsed(text);
  if (!isJsonObject(request)) return [];
  const { scope, user, user_roles: roles = null, role_grants: grants = null } = request;
  const isAsked =
    typeof scope === 'string' && typeof user === 'string' && isJsonObject(roles) && isJsonObject(grants);
  return isAsked && isGranted(scope, user, roles, grants) === true
    ? [{ kind: 'ALLOWED', start: 0, end: text.length }]
    : [];
}

function parsed(text: string): Json {
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch {
    return null;
  }
}

export const LIBRARY_SUITES: readonly Suite[] = [HTML, UNICODE, RBAC];
