/** `--ask-models`, as every command about traces takes it. Ring 1. */
import { fault } from '@cordon/core';
import type { Answerers } from '../asked-questions.ts';
import type { Surroundings } from './surroundings.ts';

export interface AskingOptions {
  /** Questions of rules are put to whom the configuration names. */
  readonly askModels?: boolean;
}

/** Undefined: nobody is to be asked. Null: somebody is, and nobody can be; that has been told. */
export async function answerersAskedFor(
  surroundings: Surroundings,
  { askModels }: AskingOptions,
): Promise<Answerers | undefined | null> {
  if (askModels !== true) return undefined;
  const configuration = surroundings.configuration();
  if (configuration === null || !(await surroundings.agrees(configuration))) return null;
  const { answerersFor } = await import('../asked-questions.ts');
  const answerers = answerersFor(configuration);
  if (answerers === null) {
    const help = 'say in `detectors` of cordon.json who answers';
    surroundings.tellFault(fault('model-failure', 'nobody is set up whom rules could ask', help));
  }
  return answerers;
}
