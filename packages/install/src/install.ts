/**
 * Installs the packages that a command like `npx package` names: fetched in a sandbox, then moved into the data folder
 * under their digest, then recorded. Until the record is there, nothing is installed; a crash leaves at most a folder
 * that nothing refers to.
 *
 * What it writes is compared with the record's digest whenever an app is started from it.
 */
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { type Clock, type Fault, failed, fault, ok, type Result } from '@cordon/core';
import {
  digestTree,
  makeFolder,
  type PackageCall,
  packagesFolder,
  recordFile,
  requestOf,
  type TreeDigest,
  treeFolder,
} from '@cordon/sandbox';
import { AUTHORITIES, ownVersion, planOf, reportedPackages } from './plan.ts';
import { type Difference, differenceOf, type InstallRecord, parseRecord, recordText } from './record.ts';
import { foreignScopes, npmRegistry, pythonIndex, type Registry, type RegistryPlaces } from './registry.ts';
import { runStep, type StepParts } from './step.ts';

export interface Installer {
  readonly dataFolder: string;
  readonly places: RegistryPlaces;
  readonly step: StepParts;
  readonly now: Clock;
  /** Whether packages may be fetched from there; else why not. Asked before anything is sent. */
  readonly agreesTo: (registry: Registry) => Promise<Fault | null>;
}

/** Fetched and complete, but not in force yet. */
export interface Fetched {
  readonly record: InstallRecord;
  /** Null: nothing was installed for this request before. */
  readonly difference: Difference | null;
  /** Puts it in force, at once. */
  readonly commit: () => Result<InstallRecord, Fault>;
  /** Removes it again. */
  readonly discard: () => void;
}

/** What is installed for the call; null: nothing. Says nothing about whether its files are still the same. */
export function installedRecord(call: PackageCall, dataFolder: string): Result<InstallRecord | null, Fault> {
  let text: string;
  try {
    text = readFileSync(recordFile(dataFolder, requestOf(call)), 'utf8');
  } catch {
    return ok(null);
  }
  return parseRecord(text);
}

/** Fetches the newest packages that the call's words allow. Changes nothing that is in force. */
export async function fetchPackages(
  call: PackageCall,
  installer: Installer,
  cancelled: AbortSignal,
): Promise<Result<Fetched, Fault>> {
  const registry = registryFor(call, installer.places);
  if (!registry.ok) return registry;
  const refusal = await installer.agreesTo(registry.value);
  if (refusal !== null) return failed(refusal);
  const plan = planOf(call, registry.value, {
    folder: installer.places.npm,
    foreignScopes: foreignScopes(registry.value, installer.places),
    authorities: authoritiesOf(installer.places),
  });
  if (!plan.ok) return plan;
  const work = workFolder(installer);
  if (!work.ok) return work;
  const discard = () => rmSync(work.value, { recursive: true, force: true });
  const received = await runStep(plan.value, registry.value, work.value, installer.step, cancelled);
  const made = received.ok
    ? recordOf(call, registry.value, received.value.report, work.value, installer)
    : received;
  if (!made.ok) {
    discard();
    return made;
  }
  const { record, tree } = made.value;
  return ok({
    record,
    difference: differenceTo(call, record, tree, installer.dataFolder),
    commit: () => commit(record, work.value, installer),
    discard,
  });
}

/** As Node, which leaves out what it cannot read. */
function authoritiesOf({ environment, read }: RegistryPlaces): string | null {
  const file = environment[AUTHORITIES] ?? '';
  return isAbsolute(file) && read(file) !== null ? file : null;
}

/** Where the packages of a call come from. */
export function registryFor(call: PackageCall, places: RegistryPlaces): Result<Registry, Fault> {
  if (call.ecosystem === 'python') return pythonIndex(places);
  const scopes = new Set(call.packages.map(({ name }) => /^(@[^/]+)\//.exec(name)?.[1] ?? null));
  const [scope = null] = scopes;
  return npmRegistry(scopes.size === 1 ? scope : null, places);
}

/** An install step takes minutes at most: what is older was left by a process that is gone. */
const STALE_MS = 60 * 60 * 1000;

function workFolder({ dataFolder, now }: Installer): Result<string, Fault> {
  const folder = join(packagesFolder(dataFolder), 'work');
  try {
    makeFolder(folder);
    makeFolder(join(packagesFolder(dataFolder), 'records'));
    for (const name of readdirSync(folder)) {
      if (name.startsWith('unused-')) continue;
      const path = join(folder, name);
      if (now() - statSync(path).mtimeMs > STALE_MS) rmSync(path, { recursive: true, force: true });
    }
    return ok(mkdtempSync(join(folder, 'install-')));
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    return failed(fault('app-unavailable', `no package can be put into \`${dataFolder}\` (${why})`));
  }
}

function recordOf(
  call: PackageCall,
  registry: Registry,
  report: string | null,
  folder: string,
  { now }: Installer,
): Result<{ readonly record: InstallRecord; readonly tree: TreeDigest }, Fault> {
  const packages = reportedPackages(call, report);
  if (!packages.ok) return packages;
  const version = ownVersion(call, packages.value);
  if (version === null)
    return failed(
      fault('app-unavailable', 'the registry sent other packages than the one that was asked for'),
    );
  const tree = digestTree(folder);
  if (!tree.ok) return tree;
  const record: InstallRecord = {
    format: 1,
    request: requestOf(call),
    ecosystem: call.ecosystem,
    name: call.packages[0]?.name ?? '',
    version,
    digest: tree.value.digest,
    files: tree.value.files.length,
    bytes: tree.value.bytes,
    registry: registry.url,
    installedAt: new Date(now()).toISOString(),
    packages: packages.value,
  };
  return ok({ record, tree: tree.value });
}

function differenceTo(
  call: PackageCall,
  record: InstallRecord,
  tree: TreeDigest,
  dataFolder: string,
): Difference | null {
  const before = installedRecord(call, dataFolder);
  if (!before.ok || before.value === null) return null;
  const old = digestTree(treeFolder(dataFolder, before.value.digest));
  return differenceOf(before.value, record, { from: old.ok ? old.value.files : [], to: tree.files });
}

/** First the files, then the record: anyone who looks in between sees what was in force before. */
function commit(
  record: InstallRecord,
  work: string,
  { dataFolder, now }: Installer,
): Result<InstallRecord, Fault> {
  try {
    chmodSync(work, 0o755); // the folder above is closed to others, and apps may be another user
    placeTree(record.digest, work, dataFolder);
    const file = recordFile(dataFolder, record.request);
    const temporary = join(dirname(file), `.${randomBytes(8).toString('hex')}`);
    writeFileSync(temporary, recordText(record), { mode: 0o600, flag: 'wx', flush: true });
    renameSync(temporary, file);
    removeUnused(dataFolder, now());
    return ok(record);
  } catch (error) {
    rmSync(work, { recursive: true, force: true });
    const why = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    return failed(fault('app-unavailable', `the package could not be put into the data folder (${why})`));
  }
}

/** Takes a record away, so that nothing is installed for the call; its files go as those of any tree that no record names. */
export function forgetPackage(
  call: PackageCall,
  { dataFolder, now }: Pick<Installer, 'dataFolder' | 'now'>,
): void {
  rmSync(recordFile(dataFolder, requestOf(call)), { force: true });
  removeUnused(dataFolder, now());
}

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Trees that no record names now. An app may still run from one of them, so the first look marks it with the time,
 * and a later one, a day after, removes it.
 */
function removeUnused(dataFolder: string, now: number): void {
  const used = new Set(recordsIn(dataFolder));
  for (const name of readdirSync(packagesFolder(dataFolder))) {
    if (!/^[0-9a-f]{64}$/.test(name)) continue;
    const folder = treeFolder(dataFolder, name);
    const mark = join(packagesFolder(dataFolder), 'work', `unused-${name}`);
    if (used.has(name)) rmSync(mark, { force: true });
    else if (!existsSync(mark)) writeFileSync(mark, '', { mode: 0o600 });
    else if (now - statSync(mark).mtimeMs > DAY_MS) {
      rmSync(folder, { recursive: true, force: true });
      rmSync(mark, { force: true });
    }
  }
}

/** Digests. A record that cannot be read names nothing, and starts nothing either. */
function recordsIn(dataFolder: string): readonly string[] {
  const folder = join(packagesFolder(dataFolder), 'records');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => {
      const record = parseRecord(readFileSync(join(folder, name), 'utf8'));
      return record.ok ? [record.value.digest] : [];
    });
}

/** Another process may have put the same files there; files that are not the same make room. */
function placeTree(digest: string, work: string, dataFolder: string): void {
  const target = treeFolder(dataFolder, digest);
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      renameSync(work, target);
      return;
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : '';
      if (code !== 'ENOTEMPTY' && code !== 'EEXIST' && code !== 'ENOTDIR') throw error;
    }
    const there = digestTree(target);
    if (there.ok && there.value.digest === digest) {
      rmSync(work, { recursive: true, force: true });
      return;
    }
    renameSync(target, join(dirname(work), `replaced-${randomBytes(8).toString('hex')}`));
  }
  throw new Error('the folder of the package is changed by somebody else');
}
