/** A right that an app lacks and that the user could grant: exactly what the app named, and nothing wider. */
import { opendirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { covers, realPath } from '@cordon/config/reading';
import type { InstalledApp } from '@cordon/core';
import { coversEntry, isPrivateAddress, isPublicAddress, parseNetworkEntry } from '@cordon/egress/reach';
import { hostEntry, namedHosts } from '../proposal/hosts.ts';
import type { NamedLack } from './words.ts';

export type MissingRight =
  | { readonly kind: 'read' | 'write'; readonly value: string }
  | { readonly kind: 'network'; readonly value: string }
  | { readonly kind: 'variable'; readonly value: string };

export interface RightsPlace {
  readonly home: string;
  /** What no app may be offered: folders of Cordon, and files that hold credentials. */
  readonly isClosed: (path: string) => boolean;
  /** Keys of model providers and of Cordon. */
  readonly isOwnVariable: (name: string) => boolean;
}

/** Null: the app has it, or nobody should be asked for it. */
export function missingRight(named: NamedLack, app: InstalledApp, place: RightsPlace): MissingRight | null {
  if (app.source.kind !== 'command') return null;
  switch (named.kind) {
    case 'path':
      return missingPath(named.path, named.access, app, place);
    case 'host':
      return missingHost(named.host, named.port, app);
    case 'variable': {
      const { name } = named;
      return name in app.source.env || place.isOwnVariable(name) ? null : { kind: 'variable', value: name };
    }
  }
}

/**
 * Attack: an app names a folder that holds everything, or keys. Attack: a link in a folder that the app may write leads
 * elsewhere: what would be granted is shown as what it leads to.
 */
function missingPath(
  path: string,
  access: 'read' | 'write',
  { manifest }: InstalledApp,
  { home, isClosed }: RightsPlace,
): MissingRight | null {
  const real = realPath(path);
  const { read, write } = manifest.files;
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
  host: string,
  port: number | null,
  { manifest, source }: InstalledApp,
): MissingRight | null {
  if (source.kind !== 'command') return null;
  const told = namedHosts(source.args, source.env).map(({ entry }) => entry ?? '');
  const known = told.find((entry) => entry.replace(/^=/, '').replace(/:\d+$/, '') === host);
  const entry = port === null && known !== undefined ? known : hostEntry(host, port ?? 443, '').entry;
  const wanted = entry === null ? null : parseNetworkEntry(entry);
  if (entry === null || wanted?.ok !== true) return null;
  const address = wanted.value.kind === 'address' ? wanted.value.host.replace(/^\[|\]$/g, '') : null;
  if (address !== null && !isPublicAddress(address) && !isPrivateAddress(address)) return null;
  const has = manifest.network.map(parseNetworkEntry);
  return has.some((one) => one.ok && coversEntry(one.value, wanted.value))
    ? null
    : { kind: 'network', value: entry };
}
