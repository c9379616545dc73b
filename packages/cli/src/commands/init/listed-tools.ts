/**
 * Labels for apps that nobody has reviewed yet: starts each app once, in its sandbox and without a way out, to hear which tools it
 * has, and proposes labels for them on one screen with one yes. Agrees to no app: its first use still shows what it says.
 *
 * INVARIANT (nothing of a stranger runs unasked): the user has said yes to the file that starts the apps, and to starting them.
 */
import { agreementToChange, type Configuration, NOBODY } from '@cordon/config';
import { type AppId, fault } from '@cordon/core';
import type { AppDescription, Vetting } from '@cordon/hub';
import { counted } from '@cordon/print';
import type { CommandContext } from '../../context/command-context.ts';
import { EXIT, type ExitCode } from '../../context/exit.ts';
import { replaceTextFile } from '../../context/replaced-file.ts';
import { withQuietSession } from '../../context/sessions/quiet-session.ts';
import { treeOf } from './draft.ts';
import { draftText } from './draft-text.ts';
import { type AppLabels, drawLabels, proposedLabels } from './proposed-labels.ts';

/** `yes`: the labels need no answer. Labels are a convenience: an app that does not start is noted, and no failure. */
export async function labelUnreviewed(
  context: CommandContext,
  file: string,
  wanted: readonly string[],
  yes: boolean,
): Promise<ExitCode> {
  const configuration = context.configuration();
  if (configuration === null) return EXIT.failed;
  if (!(await context.agrees(configuration))) return EXIT.refused;
  const descriptions = new Map<AppId, AppDescription>();
  const code = await withQuietSession(
    context,
    configuration,
    { consent: NOBODY, notice: 'a list of tools, for labels' },
    async (session) => {
      for (const { id, source } of configuration.apps) {
        if (context.ending.aborted) return EXIT.refused;
        if (!wanted.includes(id) || source.kind === 'instructions') continue;
        context.notes.say(`${id}: `, 'starting it once to list its tools …', 'dim');
        const listed = await session.review(id, (_, said) => {
          descriptions.set(id, said);
          return Promise.resolve(NOT_AGREED);
        });
        if (!listed.ok)
          context.notes.say(`${id}: `, `no labels are proposed: ${listed.fault.message}`, 'warn');
      }
      return EXIT.done;
    },
  );
  const found = code === EXIT.done ? treeOf(file) : null;
  if (found === null) return code;
  const labels = proposedLabels(configuration, found.tree, descriptions);
  return labels.length === 0 ? EXIT.done : asked(context, { file, configuration, labels }, found.text, yes);
}

const NOT_AGREED: Vetting = {
  kind: 'unreviewed',
  fault: fault('app-unreviewed', 'its tools were listed, and nobody has agreed to them yet'),
};

interface Labelled {
  readonly file: string;
  readonly configuration: Configuration;
  readonly labels: readonly AppLabels[];
}

async function asked(
  context: CommandContext,
  { file, configuration, labels }: Labelled,
  text: string,
  yes: boolean,
): Promise<ExitCode> {
  for (const app of labels) drawLabels(context, app);
  const keys = '[y] add these labels  [n] no (default) > ';
  if (!yes && !(await context.terminal.isYes(keys, context.ending))) {
    context.notes.say('', 'no labels were added: `cordon init` proposes them again');
    return EXIT.done;
  }
  const to = draftText(text, [], [], labels, new Map());
  if (!to.ok) return context.reportFault(fault('usage', `no labels were added: ${to.fault}`));
  const written = replaceTextFile(file, to.value);
  if (!written.ok) {
    context.noteDiagnostics([written.fault]);
    return EXIT.failed;
  }
  const unkept = agreementToChange(configuration, { from: text, to: to.value }, context.now);
  if (unkept !== null) context.reportFault(unkept);
  const tools = labels.reduce((count, app) => count + app.tools.length, 0);
  context.output.say('', `${file} has labels for ${counted(tools, 'tool')}`, 'good');
  return EXIT.done;
}
