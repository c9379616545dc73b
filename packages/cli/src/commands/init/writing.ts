/** Writes what the user agreed to, keeps its secrets, and at a terminal fetches the packages and lists the tools of the new apps. */
import { agreementToChange } from '@cordon/config';
import { fault } from '@cordon/core';
import type { AppProposal } from '@cordon/onboarding';
import { counted } from '@cordon/print';
import type { CommandContext } from '../../context/command-context.ts';
import { EXIT, type ExitCode } from '../../context/exit.ts';
import { replaceTextFile, writeNewFile } from '../../context/replaced-file.ts';
import { draftText } from './draft-text.ts';
import { type Agreed, type Draft, type InitOptions, packagesOf, takenFrom } from './proposed.ts';
import { type AskedValues, keepSecrets } from './values.ts';

/**
 * 0: the file is written and can be used. Another code is that of the first part which failed; the file may be written all the same, for
 * example if a secret was not typed.
 */
export function write(
  context: CommandContext,
  draft: Draft,
  agreed: Agreed,
  values: AskedValues,
  options: InitOptions,
): Promise<ExitCode> | ExitCode {
  const { file, text, apps, labels, place } = draft;
  const { proposals } = agreed;
  const to = draftText(text, apps, proposals, labels, values.answers);
  if (!to.ok) return context.reportFault(fault('usage', `nothing was written: ${to.fault}`));
  const kept = keepSecrets(place, values.secrets);
  if (!kept.ok) return context.reportFault(fault('journal-unavailable', kept.fault));
  const written = text === null ? writeNewFile(file, to.value) : replaceTextFile(file, to.value);
  if (!written.ok) {
    context.noteDiagnostics([written.fault]);
    return EXIT.failed;
  }
  return report(context, draft, to.value, agreed, options);
}

async function report(
  context: CommandContext,
  { file, text, configuration, labels, isWhollyShown: showsAll }: Draft,
  to: string,
  { proposals, open }: Agreed,
  { yes = false }: InitOptions,
): Promise<ExitCode> {
  if (text !== null && configuration !== null) {
    const unkept = agreementToChange(configuration, { from: text, to }, context.now);
    if (unkept !== null) context.reportFault(unkept);
  }
  const taken = takenFrom(proposals);
  const tools = labels.reduce((count, app) => count + app.tools.length, 0);
  const back = labels.reduce((count, app) => count + app.outdated.length, 0);
  const what = [
    ...(taken.length === 0 ? [] : [`the apps ${taken.map(({ id }) => id).join(', ')}`]),
    ...(tools === 0 ? [] : [`labels for ${tools} tools`]),
    ...(back === 0 ? [] : [`${counted(back, 'label')} taken back`]),
  ];
  context.output.say('', `${file} has ${what.join(', ')}`, 'good');
  if (taken.length === 0) return EXIT.done;
  const read = context.configuration();
  if (read === null || (showsAll && !(await context.agrees(read, true)))) return EXIT.failed;
  if (!context.terminal.isInteractive) return fetchesLater(context, taken);
  return fetched(context, open, { file, yes });
}

const NEXT = 'next: `cordon chat` shows you each app before it first uses it';

function fetchesLater({ output }: CommandContext, taken: readonly AppProposal[]): ExitCode {
  const isReady = packagesOf(taken) === 0;
  output.say('', isReady ? NEXT : 'next: `cordon apps install` fetches the packages', 'dim');
  return EXIT.done;
}

/** The yes at a terminal was to the packages, too, and to a list of their tools. `open`: apps that have not listed them yet. */
async function fetched(
  context: CommandContext,
  open: readonly AppProposal[],
  { file, yes }: { readonly file: string; readonly yes: boolean },
): Promise<ExitCode> {
  if (packagesOf(open) > 0) {
    const { installApps } = await import('../apps/apps-install.ts');
    const code = await installApps(context, [], {});
    if (code !== EXIT.done) return code;
  }
  if (open.length > 0) {
    const { labelUnreviewed } = await import('./listed-tools.ts');
    const ids = open.map(({ id }) => id);
    const code = await labelUnreviewed(context, file, ids, yes);
    if (code !== EXIT.done) return code;
  }
  context.output.say('', NEXT, 'dim');
  return EXIT.done;
}
