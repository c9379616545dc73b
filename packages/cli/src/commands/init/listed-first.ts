/**
 * Tools of apps that the user has granted nothing yet, so that labels stand on the screen to which they say yes: their packages are
 * fetched, and each app is started once in a sandbox that holds its code and nothing else. Folders are empty, secrets are a word.
 *
 * INVARIANT (nothing of a stranger runs unasked): the user asked for it on a screen that shows each command.
 */
import { NOBODY } from '@cordon/config';
import { fault, type InstalledApp, id, SILENT_MANIFEST } from '@cordon/core';
import type { Vetting } from '@cordon/hub';
import type { AppProposal } from '@cordon/onboarding';
import type { CommandContext } from '../../context/command-context.ts';
import { EXIT } from '../../context/exit.ts';
import { withQuietSession } from '../../context/sessions/quiet-session.ts';
import { installPackagesOf } from '../apps/apps-install.ts';
import type { Listed } from './draft.ts';
import { proposedTool } from './proposed-labels.ts';

/** By the app's id. What does not start like this is noted and left out. `folder`: of the file that will be written. */
export async function listedFirst(
  context: CommandContext,
  proposals: readonly AppProposal[],
  folder: string,
): Promise<ReadonlyMap<string, Listed>> {
  const listed = new Map<string, Listed>();
  const silent = context.configuration({ withoutFile: true });
  const apps = proposals.flatMap((proposal) => withoutRights(proposal) ?? []);
  if (silent === null || apps.length === 0) return listed;
  const configuration = { ...silent, folder, apps };
  await installPackagesOf(context, configuration, apps);
  const quiet = { consent: NOBODY, notice: 'a list of tools, before anything is granted' };
  await withQuietSession(context, configuration, quiet, async (session) => {
    for (const app of apps) {
      if (context.ending.aborted) return EXIT.refused;
      context.notes.say(`${app.id}: `, 'starting it with nothing of yours, to list its tools …', 'dim');
      const reviewed = await session.review(app.id, (_, { tools }) => {
        const source = JSON.stringify(proposals.find((one) => one.id === app.id)?.source);
        listed.set(app.id, { source, tools: tools.map(proposedTool) });
        return Promise.resolve(NOT_AGREED);
      });
      if (!reviewed.ok)
        context.notes.say(`${app.id}: `, `does not list its tools so: ${reviewed.fault.message}`, 'warn');
    }
    return EXIT.done;
  });
  return listed;
}

const NOT_AGREED: Vetting = {
  kind: 'unreviewed',
  fault: fault('app-unreviewed', 'its tools were listed, and nobody has agreed to them yet'),
};

/** Private to the process, empty, and gone with it. */
const EMPTY_FOLDER = '/tmp';
/** Many servers only look whether a secret is there. */
const NO_SECRET = 'none';

/** The same program without files, network, secrets and variables of the user. Null: it runs elsewhere. */
function withoutRights({ id: name, source, grants }: AppProposal): InstalledApp | null {
  if (source?.kind !== 'command') return null;
  const paths = grants.flatMap(({ kind, value }) => (kind === 'network' ? [] : [value]));
  const longestFirst = paths.toSorted((a, b) => b.length - a.length);
  const emptied = (text: string) =>
    longestFirst
      .reduce((now, path) => now.replaceAll(path, EMPTY_FOLDER), text)
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder as the file writes it
      .replaceAll('${state}', EMPTY_FOLDER)
      .replace(/\$\{[^}]*\}/g, NO_SECRET);
  const env = Object.fromEntries(Object.entries(source.env).map(([key, value]) => [key, emptied(value)]));
  return {
    id: id(name),
    source: { kind: 'command', command: source.command, args: source.args.map(emptied), env, cwd: null },
    manifest: SILENT_MANIFEST,
    model: null,
  };
}
