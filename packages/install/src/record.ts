/**
 * The record of an installation: what was asked for, what came, and the digest without which no app is started from it.
 * And what an upgrade would change.
 *
 * The sandbox reads `request` and `digest` for itself.
 */
import { type Fault, failed, fault, isJsonObject, type Json, ok, parseJson, type Result } from '@cordon/core';
import type { Ecosystem } from '@cordon/sandbox';

export interface InstalledPackage {
  readonly name: string;
  readonly version: string;
  /** As the registry states it: `sha512-…` (npm), `sha256=…` (Python). */
  readonly integrity: string;
}

export interface InstallRecord {
  readonly format: 1;
  /** `npm:name@version`: the words of the command. */
  readonly request: string;
  readonly ecosystem: Ecosystem;
  readonly name: string;
  readonly version: string;
  /** Of every file, see the sandbox's `digestTree`. */
  readonly digest: string;
  readonly files: number;
  readonly bytes: number;
  readonly registry: string;
  /** ISO 8601, UTC. */
  readonly installedAt: string;
  /** The package itself and all that came with it, sorted by name. */
  readonly packages: readonly InstalledPackage[];
}

export function recordText(record: InstallRecord): string {
  return `${JSON.stringify(record, null, 2)}\n`;
}

/** Refuses anything but what `recordText` writes, further keys aside. */
export function parseRecord(text: string): Result<InstallRecord, Fault> {
  const parsed = parseJson(text);
  const record = parsed.ok ? recordOf(parsed.value) : null;
  return record === null
    ? failed(fault('app-unavailable', 'a record of an installation is damaged'))
    : ok(record);
}

function recordOf(value: Json): InstallRecord | null {
  if (!isJsonObject(value) || value.format !== 1 || !Array.isArray(value.packages)) return null;
  const { request, ecosystem, name, version, digest, files, bytes, registry, installedAt } = value;
  if (ecosystem !== 'npm' && ecosystem !== 'python') return null;
  if (typeof files !== 'number' || typeof bytes !== 'number') return null;
  if (typeof request !== 'string' || typeof name !== 'string' || typeof version !== 'string') return null;
  if (typeof digest !== 'string' || typeof registry !== 'string' || typeof installedAt !== 'string')
    return null;
  const packages = value.packages.map(packageOf).filter((entry) => entry !== null);
  if (packages.length !== value.packages.length) return null;
  return {
    ...{ format: 1, request, ecosystem, name, version, digest, files, bytes, registry, installedAt },
    packages,
  };
}

const NAME = /^(?:@[\w.~-]{1,100}\/)?[\w.~-]{1,214}$/;
const VERSION = /^[\w.!+-]{1,100}$/;
const INTEGRITY = /^sha(?:1|256|384|512)[-=][\w+/=]{20,200}$/;

/** One package as a report names it; null where name, version or integrity is missing. */
export function packageOf(value: Json | undefined): InstalledPackage | null {
  if (!isJsonObject(value)) return null;
  const { name, version, integrity } = value;
  if (typeof name !== 'string' || typeof version !== 'string' || typeof integrity !== 'string') return null;
  return NAME.test(name) && VERSION.test(version) && INTEGRITY.test(integrity)
    ? { name, version, integrity }
    : null;
}

export interface Difference {
  /** Whether every file is the same: then all else is empty. */
  readonly isSame: boolean;
  readonly version: { readonly from: string; readonly to: string };
  readonly added: readonly InstalledPackage[];
  readonly removed: readonly InstalledPackage[];
  readonly changed: readonly { readonly name: string; readonly from: string; readonly to: string }[];
  readonly filesAdded: readonly string[];
  readonly filesRemoved: readonly string[];
}

/** `files`: the paths of each. Packages that are there in several versions are distinguished by version. */
export function differenceOf(
  from: InstallRecord,
  to: InstallRecord,
  files: { readonly from: readonly string[]; readonly to: readonly string[] },
): Difference {
  const missing = (some: readonly InstalledPackage[], others: readonly InstalledPackage[]) =>
    some.filter((one) => !others.some((other) => other.name === one.name && other.version === one.version));
  const added = missing(to.packages, from.packages);
  const removed = missing(from.packages, to.packages);
  const changed = added.flatMap(({ name, version }) => {
    const before = removed.filter((one) => one.name === name);
    const only = added.filter((one) => one.name === name).length === 1 ? before[0] : undefined;
    return before.length === 1 && only !== undefined ? [{ name, from: only.version, to: version }] : [];
  });
  const isChanged = ({ name }: InstalledPackage) => changed.some((one) => one.name === name);
  const had = new Set(files.from);
  const has = new Set(files.to);
  return {
    isSame: from.digest === to.digest,
    version: { from: from.version, to: to.version },
    added: added.filter((one) => !isChanged(one)),
    removed: removed.filter((one) => !isChanged(one)),
    changed,
    filesAdded: files.to.filter((path) => !had.has(path)),
    filesRemoved: files.from.filter((path) => !has.has(path)),
  };
}
