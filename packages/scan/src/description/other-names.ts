/**
 * Names of other apps and of their tools. Attack: a tool that says how a tool of another app is to be used, which a
 * model that sees both obeys.
 *
 * An app may be called `mail` or `memory`, and a tool `search`: such a word is a name only where the text uses it as one.
 */
import type { OtherApp } from '@cordon/runtime/compose';

/** What finds the names of `others` in plain text, and any tool that the text calls and that is not of its `own`. */
export function namePatterns(others: readonly OtherApp[], own: ReadonlySet<string>): readonly RegExp[] {
  const apps = namesOf(
    others.map(({ id }) => id),
    own,
  );
  const tools = namesOf(
    others.flatMap((other) => other.tools),
    own,
  );
  return [
    ...apps.map((name) => (isWord(name) ? asUsed(name) : anywhere(name, '[-_. ]?'))),
    // `create_draft` is a name, and "create draft" is what many tools do.
    ...tools.map((name) => (isWord(name) ? asUsed(name) : anywhere(name, '[-_.]?'))),
    ...[strangersTool(own)],
  ];
}

function namesOf(names: readonly string[], own: ReadonlySet<string>): readonly string[] {
  return [...new Set(names)].filter((name) => name.length >= 3 && !own.has(name));
}

function isWord(name: string): boolean {
  return partsOf(name).length === 1;
}

/** Between these a word names an app or a tool. */
const THING = '(?:app|application|server|tool|function|plugin)s?';

function asUsed(name: string): RegExp {
  const [word = ''] = partsOf(name);
  return new RegExp(
    [
      `(?<![a-z0-9_-])${word} ${THING}\\b`,
      `\\b${THING} (?:of|from|in|called|named) [\`"']?${word}(?![a-z0-9_-])`,
      `\\b(?:ask|call|invoke) (?:the )?[\`"']?${word}[\`"']?(?= (?:for|to|first|with|and)\\b)`,
    ].join('|'),
    'gu',
  );
}

function anywhere(name: string, between: string): RegExp {
  return new RegExp(`(?<![a-z0-9_-])${partsOf(name).join(between)}(?![a-z0-9_-])`, 'gu');
}

/** `metro-hail` has two parts. Each as an expression that stands for itself. */
function partsOf(name: string): readonly string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[-_. ]+/)
    .filter((part) => part !== '')
    .map((part) =>
      part.replace(/[^a-z0-9]/g, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`),
    );
}

/** Attack: two apps of one maker, one of which hands what it reads to the other, which the user has yet to install. */
function strangersTool(own: ReadonlySet<string>): RegExp {
  const known = [...own].map((name) => partsOf(name).join('[-_. ]?'));
  const other = known.length === 0 ? '' : `(?!(?:${known.join('|')})(?![a-z0-9_-]))`;
  return new RegExp(
    `\\bto the (?:tool|function) [\`"']?${other}[a-z0-9]{1,40}(?:_[a-z0-9]{1,40}){1,6}`,
    'gu',
  );
}
