/**
 * Where an app failed because it lacks a file, a host or a variable: shows the user exactly what would be added to
 * `cordon.json`, asks, and writes it. What is added is what the app named, never more.
 *
 * Attack: an app names what it wants in an error, and hopes for a quick yes. So the answer is no by default, each right is asked
 * for once in a process, and folders of Cordon, keys, the whole home folder and what holds credentials are never offered.
 */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: values name placeholders as the file writes them
import { agreementToChange, type Configuration } from '@cordon/config';
import { keepSecret, type SecretPlace } from '@cordon/config/keys';
import { covers, readTextFile, realPath } from '@cordon/config/reading';
import { FRAME } from '@cordon/console/text';
import { type AppId, canonicalJson, type Json } from '@cordon/core';
import { sensitivePath } from '@cordon/detectors/sensitive-path';
import type { Review } from '@cordon/hub';
import {
  type GrantedText,
  lacksInWords,
  type MissingRight,
  missingRight,
  type NamedLack,
  type RightsPlace,
  withRight,
} from '@cordon/onboarding/lacks';
import type { CommandContext } from '../command-context.ts';
import { replaceTextFile } from '../replaced-file.ts';
import type { Failure, Failures } from './failures.ts';

/** One right that one app lacks, and the words that named it: of the app, or of the proxy that refused it. */
interface Lack {
  readonly app: AppId;
  readonly right: MissingRight;
  readonly words: string;
}

/** An app that names a hundred paths gets no hundred questions. */
const MOST_LACKS = 3;

/** A right that the user has granted to an app. */
export type Granted = Pick<Lack, 'app' | 'right'>;

/** Asks for what the apps lacked. What it returns was granted, and holds once the configuration is read again. */
export async function grantMissing(
  context: CommandContext,
  configuration: Configuration,
  failures: Failures,
): Promise<readonly Granted[]> {
  const { terminal, options } = context;
  if (!terminal.isInteractive || context.wantsJson || options.denyAll === true || configuration.file === null)
    return [];
  const all: Granted[] = [];
  for (const lack of lacksOf(failures.all, configuration, rightsPlace(context, configuration))) {
    if (context.offered.has(keyOf(lack))) continue;
    context.offered.add(keyOf(lack));
    if (await granted(context, configuration, lack)) all.push(lack);
  }
  return all;
}

/**
 * Whether the query can be asked again without doing twice what cannot be undone; tells the user. `isOver`: its session has
 * ended, and the query may refer to what was said in it.
 */
export function mayAskAgain({ notes }: CommandContext, { hasActed }: Failures, isOver = false): boolean {
  const why = hasActed ? ACTED : isOver ? OVER : null;
  notes.say('', why ?? 'granted; the query is asked again', 'dim');
  return why === null;
}

const ACTED =
  'granted, from the next query on. This query is not asked again, because it did something that cannot be undone: ask for what is left';
const OVER =
  'granted, from the next query on. This query is not asked again, because the resumed session has ended';

/** What can be granted, each once. */
function lacksOf(
  failures: readonly Failure[],
  configuration: Configuration,
  place: RightsPlace,
): readonly Lack[] {
  const found = new Map<string, Lack>();
  for (const failure of failures) {
    const app = configuration.apps.find(({ id }) => id === failure.app);
    if (app === undefined) continue;
    for (const named of namedBy(failure)) {
      const right = missingRight(named, app, place);
      const lack = right === null ? null : { app: app.id, right, words: failure.words };
      if (lack !== null && !found.has(keyOf(lack))) found.set(keyOf(lack), lack);
      if (found.size === MOST_LACKS) return [...found.values()];
    }
  }
  return [...found.values()];
}

function namedBy(failure: Failure): readonly NamedLack[] {
  return failure.kind === 'words' ? lacksInWords(failure.words) : [failure];
}

/** The same right of the same app is asked for once. */
function keyOf({ app, right }: Lack): string {
  return `${app} ${right.kind} ${right.value}`;
}

function rightsPlace(context: CommandContext, configuration: Configuration): RightsPlace {
  const { dataFolder, ownDataFolder, file, secretFiles, providers } = configuration;
  const closed = [dataFolder, ownDataFolder, ...(file === null ? [] : [file]), ...secretFiles].map(realPath);
  const keys = new Set([...providers.values()].map(({ keyVariable }) => keyVariable));
  return {
    home: context.home,
    isClosed: (path) => closed.some((one) => covers(one, path) || covers(path, one)) || isSensitive(path),
    isOwnVariable: (name) => keys.has(name) || name.startsWith('CORDON_'),
  };
}

/** The detector takes a text with spaces for prose. */
function isSensitive(path: string): boolean {
  return [path, path.replaceAll(/[\s<>|;]/g, '_')].some((one) => sensitivePath(one) !== null);
}

/** One question. The file is read again: another one of these may have changed it. */
async function granted(context: CommandContext, used: Configuration, lack: Lack): Promise<boolean> {
  const { notes, terminal, ending } = context;
  const before = context.configuration();
  const file = before?.file ?? null;
  const text = file === null ? null : readTextFile(file);
  if (before === null || file === null || text === null || !text.ok) return false;
  const value = variableValue(context, lack);
  const changed = withRight(text.value, lack.app, lack.right, value);
  if (!changed.ok) return false;
  draw(context, lack, { ...changed.value, file, value });
  if (!(await terminal.isYes(`${FRAME}Grant this? [y] yes  [n] no (default) > `, ending))) return false;
  if (value.startsWith('${secret:') && !(await keptTyped(context, lack, before))) return false;
  const written = replaceTextFile(file, changed.value.text);
  if (!written.ok) {
    context.noteDiagnostics([written.fault]);
    return false;
  }
  const after = context.configuration();
  if (after === null) {
    replaceTextFile(file, text.value);
    notes.say('', `${file} is as it was: Cordon does not accept this right`, 'bad');
    return false;
  }
  const unkept = agreementToChange(before, { from: text.value, to: changed.value.text }, context.now);
  if (unkept !== null) context.reportFault(unkept);
  // Attack: what may write the file has changed the entry since the session began. The yes was to one right, not to that.
  const found = entryIn(before, lack.app);
  if (found === entryIn(used, lack.app) || found === context.grantedEntries.get(lack.app))
    context.grantedEntries.set(lack.app, entryIn(after, lack.app));
  return true;
}

/** As canonical JSON. */
function entryIn({ entries }: Configuration, app: AppId): string {
  return canonicalJson(entries.get(app)?.configured ?? null);
}

/** Of the user's environment, if it is set there; else a secret that is typed once. Empty: the right is no variable. */
function variableValue({ environment }: CommandContext, { app, right }: Lack): string {
  if (right.kind !== 'variable') return '';
  const name = right.value;
  return (environment[name] ?? '') === '' ? `\${secret:${app}.${name}}` : `\${env:${name}}`;
}

async function keptTyped(
  context: CommandContext,
  { app, right }: Lack,
  place: SecretPlace,
): Promise<boolean> {
  const { terminal, notes, ending } = context;
  const prompt = `${FRAME}${right.value} (not shown)> `;
  const reply = await terminal.ask({ prompt, takes: 'secret' }, ending);
  if (reply.kind !== 'line' || reply.text.trim() === '') return false;
  const kept = keepSecret(place, `${app}.${right.value}`, reply.text.trim());
  if (!kept.ok) notes.say('', kept.fault, 'bad');
  return kept.ok;
}

const KEYS: Readonly<Record<MissingRight['kind'], string>> = {
  read: 'manifest.files.read',
  write: 'manifest.files.write',
  network: 'manifest.network',
  variable: 'env',
};

function draw(
  { notes }: CommandContext,
  { app, right, words }: Lack,
  { file, value, noLongerStay, stillStay }: GrantedText & { file: string; value: string },
): void {
  notes.line();
  notes.line(notes.style('bold', `${FRAME}MISSING RIGHT: an app says why it failed`));
  notes.say(`${FRAME}app: `, app);
  notes.quote(words, 4);
  const added = value === '' ? right.value : `${right.value} = ${value}`;
  notes.say(`${FRAME}adds to ${KEYS[right.kind]}: `, added, 'warn');
  // Attack: a site of the attacker leads to a machine of the user's network, and hopes for a quick yes.
  if (right.kind === 'network' && right.value.includes('@'))
    notes.say(
      `${FRAME}!! `,
      'the name leads into your own network, perhaps to this machine: agree only if the server is yours',
      'bad',
    );
  if (noLongerStay.length > 0)
    notes.say(`${FRAME}takes back: `, `the label "not outward" of ${noLongerStay.join(', ')}`, 'good', 3);
  if (stillStay.length > 0)
    notes.say(
      `${FRAME}keeps: `,
      `the label "not outward" of all tools named ${stillStay.join(', ')}`,
      'warn',
      3,
    );
  notes.say(`${FRAME}in: `, file, 'dim');
}

/**
 * Whether the user has agreed to this very entry a moment ago, for an app whose description is the agreed one: the same is not
 * asked twice.
 */
export function isJustGranted(
  { app, configured, description, before, stopped }: Review,
  grantedEntries: ReadonlyMap<AppId, string>,
): boolean {
  return (
    before !== null &&
    stopped === null &&
    grantedEntries.get(app.id) === canonicalJson(configured) &&
    canonicalJson(before.description as unknown as Json) === canonicalJson(description as unknown as Json)
  );
}
