/**
 * `installable` of the configuration: apps that are not installed, in the user's own words. A list names what an app would
 * serve; an entry as in `apps` says besides how it is started, so that it can be installed. Neither grants or starts anything.
 */
import type { InstalledApp } from '@cordon/core';
import { type Located, nameProblem } from '../reading/config-reader.ts';

/**
 * Names of apps, by the functionality that each would serve. Of lists, apps that are `installed` are left out: there is nothing
 * to propose. `entries`: what was read of the others, as apps are (app-config.ts); their manifests say it.
 */
export function readInstallable(
  at: Located | null,
  installed: ReadonlySet<string>,
  entries: readonly InstalledApp[],
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  const add = (functionality: string, app: string) =>
    found.set(functionality, [...(found.get(functionality) ?? []), app]);
  for (const [app, list] of at?.entries() ?? []) {
    if (list.node.kind === 'object') continue;
    // Names are shown to the user in the hub's own sentence, so they must be names.
    const problem = nameProblem(app, 'an app');
    if (problem !== null) list.reportKey(problem);
    const names = list.list('a list of functionalities, or an app', (item) =>
      item.checked((name) => nameProblem(name, 'a functionality')),
    );
    if (!installed.has(app)) for (const name of names) add(name, app);
  }
  for (const { id, manifest } of entries) for (const { name } of manifest.functionalities) add(name, id);
  return found;
}
