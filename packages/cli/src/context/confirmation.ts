/** The question before something is done for good. */
import type { CommandContext } from './command-context.ts';

/** Asks at a terminal. Without one, only `--yes` means yes; the refusal is reported. */
export async function confirmed(
  context: CommandContext,
  question: string,
  saidYes: boolean,
  refusal = 'nothing was deleted',
): Promise<boolean> {
  if (saidYes) return true;
  const { terminal, notes, ending } = context;
  if (terminal.isInteractive) {
    notes.say('', question);
    if (await terminal.isYes('[y] yes  [n] no (default) > ', ending)) return true;
  }
  notes.say('', terminal.isInteractive ? refusal : `${refusal}: \`--yes\` means yes`);
  return false;
}
