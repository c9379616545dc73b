/**
 * `installable` of the configuration: apps that are not installed, and what each would serve. The user's own list; it
 * grants nothing and starts nothing, and no app and no model is ever told of it.
 *
 * Ring 1.
 */
import { NAME_PATTERN } from '@cordon/core';
import { type ConfigReader, type Located, quoted } from './config-reader.ts';

/** What could be installed, by functionality. Apps that are `installed` are left out: there is nothing to propose. */
export function readInstallable(
  reader: ConfigReader,
  at: Located | null,
  installed: ReadonlySet<string>,
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  if (at === null) return found;
  for (const { key: app, keySpan, at: list } of reader.entries(at)) {
    if (!NAME_PATTERN.test(app)) reader.report(list.path, keySpan, nameless(app, 'an app'));
    for (const item of reader.items(list, 'a list of functionalities')) {
      const name = reader.string(item);
      if (name === null) continue;
      if (!NAME_PATTERN.test(name)) reader.reportAt(item, nameless(name, 'a functionality'));
      else if (!installed.has(app)) found.set(name, [...(found.get(name) ?? []), app]);
    }
  }
  return found;
}

/** Names are shown to the user in the hub's own sentence, so they must be names. */
function nameless(name: string, what: string) {
  return {
    code: 'CFG008',
    message: `${quoted(name)} is no name for ${what}`,
    help: 'use up to 64 letters, digits, `.`, `_` and `-`, beginning with a letter or digit',
  };
}
