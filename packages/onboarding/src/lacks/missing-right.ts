/** A right that an app lacks and that the user could grant: exactly what the app named, and nothing wider. */
import { opendirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { covers, realPath } from '@cordon/config/reading';
import { type AppSource, bareAddress, type InstalledApp, type Manifest } from '@cordon/core';
import { coversEntry, isPrivateAddress, isPublicAddress, parseNetworkEntry } from '@cordon/egress/reach';
import { hostEntry, namedHosts } from '../proposal/hosts.ts';
import type { NamedLack } from './words.ts';

export interface MissingRight {
  readonly kind: 'read' | 'write' | 'network' | 'variable';
  readonly value: string;
}

export interface RightsPlace {
  readonly home: string;
  /** What no app may be offered: folders of Cordon, and files that hold credentials. */
  readonly isClosed: (path: string) => boolean;
  /** Keys of model providers and of Cordon. */
  readonly isOwnVariable: (name: string) => boolean;
}

type Named<Kind extends NamedLack['kind']> = Extract<NamedLack, { kind: Kind }>;

/** Null: the app has it already, or the user should not be asked for it. */
export function missingRight(
  named: NamedLack,
  { source, manifest }: InstalledApp,
  place: RightsPlace,
): MissingRight | null {
  if (source.kind !== 'command') return null;
  switch (named.kind) {
    case 'path':
      return missingPath(named, manifest.files, place);
    case 'host':
      return missingHost(named, manifest.network, source);
    case 'variable': {
      const { name } = named;
      return name in source.env || place.isOwnVariable(name) ? null : { kind: 'variable', value: name };
    }
  }
}

/**
 * Attack: an app names a folder that holds everything, or keys. Attack: a link in a folder that the app may write leads
 * elsewhere: what would be granted is shown as what it leads to.
 */
function missingPath(
  { path, access }: Named<'path'>,
  { read, write }: Manifest['files'],
  { home, isClosed }: RightsPlace,
): MissingRight | null {
  const real = realPath(path);
  const isWithin = (folders: readonly string[]) => folders.some((folder) => covers(realPath(folder), real));
  if (isWithin(write) || covers(real, realPath(home)) || isClosed(real) || !isUserPath(real)) return null;
  if (holdsClosed(real, isClosed)) return null;
  // What it may read already and still names, it wants to write.
  const kind = access === 'write' || isWithin(read) ? 'write' : 'read';
  return { kind, value: real };
}

const MOST_ENTRIES = 5000;

/** Attack: an app names the folder around the keys, not the keys. Also true of a folder that cannot be listed, or is too large. */
function holdsClosed(path: string, isClosed: RightsPlace['isClosed']): boolean {
  try {
    if (!statSync(path).isDirectory()) return false;
    const folder = opendirSync(path);
    try {
      for (let count = 0; count < MOST_ENTRIES; count++) {
        const entry = folder.readSync();
        if (entry === null) return false;
        if (isClosed(join(path, entry.name))) return true;
      }
      return true;
    } finally {
      folder.closeSync();
    }
  } catch {
    return true;
  }
}

/** A file or folder that exists. Those of the system an app sees anyway, or must not. */
function isUserPath(path: string): boolean {
  if (/^\/(?:proc|sys|dev|etc|usr|bin|sbin|lib|lib64|boot|run|var\/run)(?:\/|$)/.test(path)) return false;
  try {
    const status = statSync(path, { throwIfNoEntry: false });
    return status !== undefined && (status.isFile() || status.isDirectory());
  } catch {
    return false;
  }
}

/** Attack: an app names the metadata service of a cloud, which hands out keys. */
function missingHost(
  { host, port, lacks }: Named<'host'>,
  network: Manifest['network'],
  { args, env }: Extract<AppSource, { kind: 'command' }>,
): MissingRight | null {
  const told = namedHosts(args, env).map(({ entry }) => entry ?? '');
  const known = told.find((entry) => entry.replace(/^=/, '').replace(/:\d+$/, '') === host);
  const named = port === null && known !== undefined ? known : hostEntry(host, port ?? 443, '').entry;
  const entry = lacks ?? named;
  const wanted = entry === null ? null : parseNetworkEntry(entry);
  if (entry === null || wanted?.ok !== true) return null;
  const address = wanted.value.kind === 'address' ? bareAddress(wanted.value.host) : null;
  if (address !== null && !isPublicAddress(address) && !isPrivateAddress(address)) return null;
  const has = network.map(parseNetworkEntry);
  return has.some((one) => one.ok && coversEntry(one.value, wanted.value))
    ? null
    : { kind: 'network', value: entry };
}
