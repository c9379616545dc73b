/**
 * Configuration files that were found in the current folder, where someone else may have put them: nothing of such a
 * file takes effect before the user has agreed to it, by its path and content.
 *
 * A file decides which programs are started and what they are given.
 */
import { join } from 'node:path';
import { type Fault, failed, fault, ok, type Result, visibleLine } from '@cordon/core';
import { openStore } from '@cordon/trace';
import { type Configuration, digestOfText } from './config.ts';
import { isFile, realPath } from './reading/paths.ts';

/** A registry that a package manager's file names. */
export interface NamedRegistry {
  readonly file: string;
  readonly text: string;
  readonly url: string;
}

/** Shows the user what was found, and asks. Where no person can be asked, the answer is no. */
export interface AgreementQuestions {
  aboutFile(configuration: Configuration, known: 'changed' | 'new'): Promise<boolean>;
  aboutRegistry(named: NamedRegistry): Promise<boolean>;
}

export interface AgreementParts {
  readonly asks: AgreementQuestions;
  readonly now: () => number;
  /** The user said so on the command line. */
  readonly agreesUnasked: boolean;
}

/** Whether the file may take effect; null: it may. What is remembered stands where the file cannot say. */
export async function agreementTo(
  configuration: Configuration,
  parts: AgreementParts,
): Promise<Fault | null> {
  const { file, origin, ownDataFolder } = configuration;
  if (file === null || origin !== 'found') return null;
  const digest = agreedDigest(configuration);
  const path = realPath(file);
  const known = remembered(ownDataFolder, path, digest, parts.now);
  if (!known.ok) return known.fault;
  if (known.value === 'agreed') return null;
  if (!parts.agreesUnasked && !(await parts.asks.aboutFile(configuration, known.value)))
    return refusal(file, known.value);
  return remember(ownDataFolder, path, digest, parts.now);
}

/**
 * The same for the registry that a package manager's file in the current folder names; `named` as it would be used. The
 * user agrees to this address only. Attack: the same file names another registry for packages of a scope, or is also the
 * `cordon.json` of a folder.
 */
export async function agreementToRegistry(
  named: NamedRegistry,
  ownDataFolder: string,
  { asks, now }: Omit<AgreementParts, 'agreesUnasked'>,
): Promise<Fault | null> {
  const path = realPath(named.file);
  // Begins with what no configuration begins with.
  const digest = digestOfText(`registry ${named.url}\n${named.text}`);
  const known = remembered(ownDataFolder, path, digest, now);
  if (!known.ok) return known.fault;
  if (known.value === 'agreed') return null;
  if (!(await asks.aboutRegistry(named))) return registryRefusal(named);
  return remember(ownDataFolder, path, digest, now);
}

function registryRefusal({ file, url }: { readonly file: string; readonly url: string }): Fault {
  const message = `\`${visibleLine(file, 300)}\` names the registry ${visibleLine(url, 300)}, which you have not agreed to`;
  const help = '`cordon apps install`, at a terminal, asks; `npm_config_registry=URL` names one yourself';
  return fault('app-unreviewed', message, help);
}

/** Whether the file may take effect as things are. Asks no question, and creates nothing. */
export function isInEffect(configuration: Configuration, now: () => number): boolean {
  const { file, origin, ownDataFolder } = configuration;
  if (file === null || origin !== 'found') return true;
  if (!isFile(join(agreedFolder(ownDataFolder), 'cordon.db'))) return false;
  const known = remembered(ownDataFolder, realPath(file), agreedDigest(configuration), now);
  return known.ok && known.value === 'agreed';
}

/**
 * What is agreed to: the text of the file, and every file of the modules that it names. Attack: the file stays as it was, and
 * the predicate that it names always says that all is well.
 */
function agreedDigest({ digest, asking }: Pick<Configuration, 'digest' | 'asking'>): string {
  const { modules } = asking;
  if (modules.length === 0) return digest;
  return digestOfText([digest, ...modules.map((one) => `${one.file}\n${one.digest}`)].join('\n'));
}

/**
 * To be called after this program changed a file for the user, from one text to another: if the first text was in effect, this
 * records the user's agreement to the second, and Cordon asks no question about it. Otherwise it records nothing, and Cordon
 * asks as about any other change. Returns a fault if the agreement cannot be recorded.
 */
export function agreementToChange(
  before: Configuration,
  texts: { readonly from: string; readonly to: string },
  now: () => number,
): Fault | null {
  const { file, origin, digest, asking, ownDataFolder } = before;
  if (file === null || origin !== 'found' || !isInEffect(before, now)) return null;
  // Attack: a text that someone else put there since would be agreed to with what is added.
  if (digestOfText(texts.from) !== digest) return null;
  return remember(
    ownDataFolder,
    realPath(file),
    agreedDigest({ digest: digestOfText(texts.to), asking }),
    now,
  );
}

/** Its own store: it holds paths and digests, needs no key, and is where no file says. */
function agreedFolder(ownDataFolder: string): string {
  return join(ownDataFolder, 'agreed');
}

type Known = 'agreed' | 'changed' | 'new';

function remembered(folder: string, path: string, digest: string, now: () => number): Result<Known, Fault> {
  const store = openStore(agreedFolder(folder), now);
  if (!store.ok) return failed(unusable(store.fault));
  const { pins } = store.value;
  const known: Known = pins.hasAgreedTo(path, digest) ? 'agreed' : pins.knowsFile(path) ? 'changed' : 'new';
  store.value.close();
  return ok(known);
}

function remember(folder: string, path: string, digest: string, now: () => number): Fault | null {
  const store = openStore(agreedFolder(folder), now);
  if (!store.ok) return unusable(store.fault);
  store.value.pins.agreeTo(path, digest);
  store.value.close();
  return null;
}

function unusable({ message, help }: { message: string; help: string }): Fault {
  return fault('journal-unavailable', message, help);
}

function refusal(file: string, known: Known): Fault {
  const shown = visibleLine(file, 300);
  const message =
    known === 'changed'
      ? `\`${shown}\` has changed since you agreed to it`
      : `\`${shown}\` is in this folder and starts programs, and you have not agreed to it`;
  return fault(
    'app-unreviewed',
    message,
    `\`cordon apps review\`, run at a terminal, shows it and asks; \`--config ${shown}\` accepts it as it is`,
  );
}
