/** `cordon start`, which is `npm start`: a chat where a provider is configured or has its key in the environment, else the demo. */
import { type Configuration, isProviderConfigured, modelForKey } from '@cordon/config';
import type { CommandContext } from '../../context/command-context.ts';
import { EXIT, type ExitCode } from '../../context/exit.ts';

export async function start(context: CommandContext): Promise<ExitCode> {
  const configuration = context.configuration();
  if (configuration === null) return EXIT.failed;
  const hasModel = isProviderConfigured(configuration) || chooseModel(context, configuration);
  if (hasModel) {
    if (configuration.file === null)
      context.notes.say('', 'No apps are configured yet: `cordon init` sets them up.', 'dim');
    return (await import('./chat.ts')).chat(context, {});
  }
  context.notes.say(
    '',
    'No model provider is configured, so Cordon plays the demo with its built-in demonstration model. To chat, set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY; `--model provider/model` chooses the model, and `--model ollama/llama3 --base-url http://127.0.0.1:11434/v1` one on this machine.',
  );
  return (await import('./demo.ts')).demo(context, undefined);
}

/** Where no model is named, the usual one of the provider whose key is there; false: there is no key, or a model is named. */
function chooseModel(context: CommandContext, { model }: Configuration): boolean {
  const found = model === null ? modelForKey(context.environment) : null;
  if (found === null) return false;
  context.choose({ model: found.model });
  const why = `${found.variable} is set, so \`${found.model}\` answers; \`--model\` or CORDON_MODEL chooses another.`;
  context.notes.say('', why, 'dim');
  return true;
}
