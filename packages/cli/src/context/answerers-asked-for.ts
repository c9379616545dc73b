/** `--ask-models` and `--detectors`, as commands about traces take them. */
import { fault } from '@cordon/core';
import type { Answerers } from '@cordon/scan/answerers';
import type { CommandContext } from './command-context.ts';

export interface AskingOptions {
  /** Questions of rules are put to whom the configuration names. */
  readonly askModels?: boolean;
  /** Modules of predicates that the command line names. */
  readonly detectors?: readonly string[];
}

/**
 * Undefined: no questions wanted. Null: wanted but impossible; the reason is reported. Their processes end when the command
 * does.
 */
export async function answerersAskedFor(
  context: CommandContext,
  { askModels, detectors = [] }: AskingOptions,
): Promise<Answerers | undefined | null> {
  if (askModels !== true && detectors.length === 0) return undefined;
  // Without `--ask-models` no file of the current folder counts, whoever put it there.
  const configuration = context.configuration(askModels === true ? {} : { withoutFile: true });
  if (configuration === null || !(await context.agrees(configuration))) return null;
  const { answerersFor } = await import('@cordon/scan/answerers');
  const answerers = await answerersFor(configuration, context.dialler);
  if (!answerers.ok) {
    context.noteDiagnostics(answerers.fault);
    return null;
  }
  if (answerers.value === null) {
    const help = 'name one under `detectors` in cordon.json';
    context.reportFault(fault('model-failure', 'no model or service is configured for detectors', help));
  }
  context.atEnd(async () => answerers.value?.close());
  return answerers.value;
}
