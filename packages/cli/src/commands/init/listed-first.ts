/**
 * Tools of apps that the user has granted nothing yet, so that labels stand on the screen to which they say yes: their packages are
 * fetched, and each app is started once in a sandbox that holds its code and nothing else. Folders are empty, secrets are a word.
 *
 * INVARIANT (nothing of a stranger runs unasked): the user asked for it on a screen that shows each command.
 */
import { NOBODY } from '@cordon/config';
import { fault } from '@cordon/core';
import type { Vetting } from '@cordon/hub';
import type { AppProposal, ProposalPlace } from '@cordon/onboarding';
import type { CommandContext } from '../../context/command-context.ts';
import { EXIT } from '../../context/exit.ts';
import { withQuietSession } from '../../context/sessions/quiet-session.ts';
import { installPackagesOf } from '../apps/apps-install.ts';
import type { Listed } from './draft.ts';
import { proposedTool } from './proposed-labels.ts';
import { withoutRights } from './without-rights.ts';

/** By the app's id. What does not start like this is noted and left out. */
export async function listedFirst(
  context: CommandContext,
  proposals: readonly AppProposal[],
  place: ProposalPlace,
): Promise<ReadonlyMap<string, Listed>> {
  const listed = new Map<string, Listed>();
  const silent = context.configuration({ withoutFile: true });
  const apps = proposals.flatMap((proposal) => withoutRights(proposal, place) ?? []);
  for (const { id, source } of proposals)
    if (source?.kind === 'command' && !apps.some((app) => app.id === id))
      context.notes.say(`${id}: `, 'its program may be another one so: it is listed after your yes', 'warn');
  if (silent === null || apps.length === 0) return listed;
  const configuration = { ...silent, folder: place.folder, apps };
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
