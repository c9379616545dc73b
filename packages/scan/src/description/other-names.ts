/**
 * Names of other apps and of their tools. Attack: a tool that says how a tool of another app is to be used, which a
 * model that sees both obeys.
 *
 * An app may be called `mail` or `memory`, and a tool `search`: such a word is a name only where the text uses it as one.
 */
import type { OtherApp } from '@cordon/runtime/compose';

/** What finds the names of `others` in plain text, and any tool that the text calls and that is not of its `own`. */
export function namePatterns(others: readonly OtherApp[], own: ReadonlySet<string>): readonly RegExp[] {
  const namesIn = (names: readonly string[]) =>
    [...new Set(names)].filter((name) => name.length >= 3 && !own.has(name));
  // `GitHub` is a word like `github`.
  const apps = namesIn(others.map(({ id }) => id)).map((name) => partsOf(name.toLowerCase()));
  const tools = namesIn(others.flatMap((other) => other.tools)).map(partsOf);
  return [
    ...used([...apps, ...tools].filter((parts) => parts.length === 1)),
    ...anywhere(apps, '[-_. ]?'),
    // `create_draft` is a name, and "create draft" is what many tools do.
    ...anywhere(tools, '[-_.]?'),
    strangersTool(own),
  ];
}

/** Beside these a word names an app or a tool. Not beside `function`: programs have a "cleanup function". */
const THING = '(?:app|server|tool|plugin)s?';

function used(words: readonly (readonly string[])[]): readonly RegExp[] {
  if (words.length === 0) return [];
  const word = `(?:${words.flat().join('|')})`;
  const uses = [
    `\\bthe [\`"']?${word}[\`"']? ${THING}\\b`,
    `\\b${THING} (?:of|from|in|called|named) [\`"']?${word}(?![a-z0-9_-])`,
    `\\b(?:ask|call|invoke) (?:the )?[\`"']?${word}[\`"']?(?= (?:for|to|first|with|and)\\b)`,
  ];
  return [new RegExp(uses.join('|'), 'gu')];
}

function anywhere(names: readonly (readonly string[])[], between: string): readonly RegExp[] {
  const long = names.filter((parts) => parts.length > 1).map((parts) => parts.join(between));
  return long.length === 0 ? [] : [new RegExp(`(?<![a-z0-9_-])(?:${long.join('|')})(?![a-z0-9_-])`, 'gu')];
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
