/**
 * What the hub may install when the user says so: the entries of `installable`, fetched as `cordon apps install` fetches.
 */
import { basename } from 'node:path';
import { type Configuration, mark } from '@cordon/config';
import { nearest } from '@cordon/config/reading';
import {
  type AppId,
  type Fault,
  failed,
  fault,
  type InstalledApp,
  ok,
  portOf,
  type Result,
  visibleLine,
} from '@cordon/core';
import type { Installables, PackageSource } from '@cordon/hub';
import { fetchPackages, type Installer, registryFor } from '@cordon/install';
import { findInstalled, type PackageCall, parsePackageLauncher } from '@cordon/sandbox';

const MOST_COMMAND = 300;

/** What of the configuration says which apps could be installed, and where what is installed is kept. */
export type InstallSettings = Pick<
  Configuration,
  'apps' | 'installableApps' | 'installable' | 'dataFolder' | 'ownDataFolder' | 'folder' | 'entries'
>;

export function installablesOf(
  configuration: InstallSettings,
  installer: (() => Promise<Installer>) | null,
): Installables {
  const { apps, installableApps, installable, dataFolder, ownDataFolder, folder, entries } = configuration;
  const names = [...new Set([...apps, ...installableApps].map(({ id }) => id))];
  return {
    all: installableApps.map((app) => ({
      app,
      from: fromOf(app),
      resembles: nearlyNamed(app.id, names),
    })),
    named: (functionality) => installable.get(functionality) ?? [],
    source: async (app) => {
      const call = callOf(app);
      if (!call.ok) return call;
      if (call.value === null) return ok(null);
      const found = await findInstalled(call.value, dataFolder);
      if (found.ok && found.value !== null) return ok(null);
      if (installer === null) return failed(NOBODY);
      const from = registryFor(call.value, (await installer()).places);
      return from.ok ? ok(sourceOf(call.value, from.value.url)) : from;
    },
    obtain: async (app, signal) => {
      const call = callOf(app);
      if (!call.ok) return call;
      if (call.value === null) return ok(undefined);
      if (installer === null) return failed(NOBODY);
      const fetched = await fetchPackages(call.value, await installer(), signal);
      if (!fetched.ok) return fetched;
      const { difference, commit, discard } = fetched.value;
      // What is there differs from what was fetched: whether to replace it is a separate question.
      if (difference !== null && !difference.isSame) {
        discard();
        const help = `\`cordon apps install ${app.id}\` shows what has changed`;
        return failed(fault('app-unavailable', `another version of \`${app.id}\` is installed`, help));
      }
      const committed = commit();
      return committed.ok ? ok(undefined) : committed;
    },
    keep: (app) =>
      mark({ ownDataFolder, folder, app: app.id, configured: entries.get(app.id)?.configured ?? null }),
  };
}

const NOBODY = fault(
  'app-unavailable',
  'no person is present to agree to the installation',
  '`cordon apps install` fetches it',
);

/** Attack: an app that is called nearly as one that the user knows. */
function nearlyNamed(app: AppId, names: readonly AppId[]): AppId | null {
  const others = names.filter((name) => name !== app);
  const near = nearest(app, others);
  return others.find((name) => name === near) ?? null;
}

function callOf({ source }: InstalledApp): Result<PackageCall | null, Fault> {
  return source.kind === 'command' ? parsePackageLauncher(basename(source.command), source.args) : ok(null);
}

function sourceOf(call: PackageCall, url: string): PackageSource {
  const from = new URL(url);
  return {
    host: from.hostname,
    port: portOf(from),
    path: call.packages.map(({ name }) => `/${name}`).join(' '),
  };
}

/** The configuration's words about what is started, as they show. */
function fromOf(app: InstalledApp): string {
  const { source } = app;
  if (source.kind === 'url') return `a server at ${visibleLine(source.url, MOST_COMMAND)}`;
  if (source.kind === 'instructions') return 'a text';
  const call = callOf(app);
  const isPackage = call.ok && call.value !== null;
  const command = visibleLine([source.command, ...source.args].join(' '), MOST_COMMAND);
  return isPackage ? `a package that is fetched for \`${command}\`` : `starts \`${command}\``;
}
