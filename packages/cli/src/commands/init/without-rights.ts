/**
 * An app as it is started before anything is granted: the program that the screen shows, and nothing of the user's.
 *
 * INVARIANT (the same program): what names the program on the host stays as it will be written. Attack: another account of the
 * machine, or the stranger whose folder this is, puts a program where a changed name leads.
 */
import { absolutePath } from '@cordon/config/reading';
import { type InstalledApp, id, SILENT_MANIFEST } from '@cordon/core';
import { type AppProposal, holdsPassword, type ProposalPlace } from '@cordon/onboarding';
import { scriptAt } from '@cordon/sandbox';

/** Private to the process, empty, and gone with it. */
const EMPTY_FOLDER = '/tmp';
/** Many servers only look whether a secret is there. */
const NO_SECRET = 'none';

/** The same program without files, network, secrets and variables of the user. Null: it runs elsewhere, or may be another one. */
export function withoutRights(
  { id: name, source, grants }: AppProposal,
  { folder, home }: Pick<ProposalPlace, 'folder' | 'home'>,
): InstalledApp | null {
  // Attack: a stranger's folder holds a program of the name that the user's own app has in another folder.
  if (source?.kind !== 'command' || source.cwd !== null) return null;
  const script = scriptAt(source);
  const program = [source.command, ...(script === null ? [] : [source.args[script] ?? ''])];
  // What stands for it is known only when the file is read.
  if (program.some((part) => part.includes('${'))) return null;
  const paths = new Set(grants.flatMap(({ kind, value }) => (kind === 'network' ? [] : [value])));
  const emptied = (text: string) => withoutValue(text, paths);
  const env = Object.fromEntries(Object.entries(source.env).map(([key, value]) => [key, emptied(value)]));
  const { command } = source;
  return {
    id: id(name),
    source: {
      kind: 'command',
      command: command.includes('/') ? absolutePath(command, folder, home) : command,
      args: source.args.map((arg, at) => (at === script ? arg : emptied(arg))),
      env,
      cwd: null,
    },
    manifest: SILENT_MANIFEST,
    model: null,
  };
}

/** An argument or a value without what it names of the user's. A part of a path stays: it would name something else. */
function withoutValue(text: string, paths: ReadonlySet<string>): string {
  const [, option = '', value = text] = /^(--?[\w-]+=)?(.*)$/s.exec(text) ?? [];
  if (paths.has(value)) return `${option}${EMPTY_FOLDER}`;
  if (holdsPassword(value)) return `${option}${NO_SECRET}`;
  return (
    text
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder as the file writes it
      .replaceAll('${state}', EMPTY_FOLDER)
      .replace(/\$\{[^}]*\}/g, NO_SECRET)
  );
}
