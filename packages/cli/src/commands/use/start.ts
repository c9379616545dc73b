/** `cordon start`, which is `npm start`: chat where a provider is configured, else the demo. */
import { isProviderConfigured } from '@cordon/config';
import type { CommandContext } from '../../context/command-context.ts';
import { EXIT, type ExitCode } from '../../context/exit.ts';

export async function start(context: CommandContext): Promise<ExitCode> {
  const configuration = context.configuration();
  if (configuration === null) return EXIT.failed;
  if (isProviderConfigured(configuration)) return (await import('./chat.ts')).chat(context, {});
  context.notes.say(
    '',
    'No model provider is configured, so Cordon plays the demo with its built-in demonstration model. To chat, set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY and give `--model provider/model`, or `--model ollama/llama3 --base-url http://127.0.0.1:11434/v1`.',
  );
  return (await import('./demo.ts')).demo(context, undefined);
}
