/**
 * `installable` of the configuration: apps that are not installed, in the user's own words. A list names what an app would
 * serve; an entry as in `apps` says besides how it is started, so that it can be installed. Neither grants or starts anything.
 *
 * Ring 0.
 */
import { type InstalledApp, NAME_PATTERN } from '@cordon/core';
import { type ConfigReader, type Located, quoted } from '../reading/config-reader.ts';

/**
 * What is only named, by functionality. Apps that are `installed` are left out: there is nothing to propose. Entries are
 * read as apps are (app-config.ts).
 */
export function readInstallable(
  reader: ConfigReader,
  at: Located | null,
  installed: ReadonlySet<string>,
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  if (at === null) return found;
  for (const { key: app, keySpan, at: list } of reader.entries(at)) {
    if (list.node.kind === 'object') continue;
    if (!NAME_PATTERN.test(app)) reader.report(list.path, keySpan, nameless(app, 'an app'));
    for (const item of reader.items(list, 'a list of functionalities, or an app')) {
      const name = reader.string(item);
      if (name === null) continue;
      if (!NAME_PATTERN.test(name)) reader.reportAt(item, nameless(name, 'a functionality'));
      else if (!installed.has(app)) found.set(name, [...(found.get(name) ?? []), app]);
    }
  }
  return found;
}

/** The same, with what the manifests of entries say that they serve. */
export function withEntries(
  named: ReadonlyMap<string, readonly string[]>,
  entries: readonly InstalledApp[],
): ReadonlyMap<string, readonly string[]> {
  const all = new Map(named);
  for (const { id, manifest } of entries)
    for (const { name } of manifest.functionalities) all.set(name, [...(all.get(name) ?? []), id]);
  return all;
}

/** Names are shown to the user in the hub's own sentence, so they must be names. */
function nameless(name: string, what: string) {
  return {
    code: 'CFG008',
    message: `${quoted(name)} is no name for ${what}`,
    help: 'use up to 64 letters, digits, `.`, `_` and `-`, beginning with a letter or digit',
  };
}
