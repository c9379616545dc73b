/**
 * Tools of apps that the user has granted nothing yet, so that labels stand on the screen to which they say yes: their packages are
 * fetched, and each app is started once in a sandbox that holds its code and nothing else. Folders are empty, secrets are a word.
 *
 * INVARIANT (nothing of a stranger runs unasked): the user asked for it on a screen that shows each command.
 */
import { basename } from 'node:path';
import { NOBODY } from '@cordon/config';
import { fault, type InstalledApp } from '@cordon/core';
import type { Vetting } from '@cordon/hub';
import { installedRecord } from '@cordon/install';
import type { AppProposal, ProposalPlace } from '@cordon/onboarding';
import { parsePackageLauncher } from '@cordon/sandbox';
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
      context.notes.say(`${id}: `, UNSURE, 'warn');
  if (silent === null || apps.length === 0) return listed;
  const configuration = { ...silent, folder: place.folder, apps };
  // Attack: the user stops what is fetched, and the apps start all the same.
  if ((await installPackagesOf(context, configuration, apps)).isStopped) return listed;
  const quiet = { consent: NOBODY, notice: 'a list of tools, before anything is granted' };
  const code = await context.untilInterrupted((signal) =>
    withQuietSession(context, configuration, quiet, async (session) => {
      for (const app of apps) {
        if (signal.aborted) return EXIT.refused;
        // Attack: a stranger's folder holds a package of the same name, which would be started in its place.
        if (!isFetched(app, configuration.dataFolder)) {
          context.notes.say(
            `${app.id}: `,
            'its package was not fetched, so its tools are listed after your yes',
            'warn',
          );
          continue;
        }
        context.notes.say(`${app.id}: `, 'starting it with nothing of yours, to list its tools …', 'dim');
        const look: Parameters<typeof session.review>[1] = (_, { tools }) => {
          const source = JSON.stringify(proposals.find((one) => one.id === app.id)?.source);
          listed.set(app.id, { source, tools: tools.map(proposedTool) });
          return Promise.resolve(NOT_AGREED);
        };
        const reviewed = await session.review(app.id, look, signal);
        if (!reviewed.ok && !signal.aborted)
          context.notes.say(
            `${app.id}: `,
            `did not start without its rights, so its tools are listed after your yes: ${reviewed.fault.message}`,
            'warn',
          );
      }
      return signal.aborted ? EXIT.refused : EXIT.done;
    }),
  );
  if (code === EXIT.refused) context.notes.say('', 'stopped: no further app is started', 'warn');
  return listed;
}

/** Also of what needs no package. */
function isFetched({ source }: InstalledApp, dataFolder: string): boolean {
  if (source.kind !== 'command') return true;
  const call = parsePackageLauncher(basename(source.command), source.args);
  if (!call.ok || call.value === null) return call.ok;
  const record = installedRecord(call.value, dataFolder);
  return record.ok && record.value !== null;
}

const UNSURE =
  'its tools are listed after your yes: it has a `cwd` or a placeholder in its command, and before your yes that could lead to another program';

const NOT_AGREED: Vetting = {
  kind: 'unreviewed',
  fault: fault('app-unreviewed', 'its tools were listed, and nobody has agreed to them yet'),
};
