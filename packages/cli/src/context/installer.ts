/** Fetching packages for the user at this terminal. */
import { agreementToRegistry, type Configuration } from '@cordon/config';
import type { Installer } from '@cordon/install';
import { machineInstaller } from '@cordon/runtime/installer';
import type { CommandContext } from './command-context.ts';

/** Fetches for this configuration, and asks at this terminal about a registry that a file of its folder names. */
export function installerOf(context: CommandContext, configuration: Configuration): Installer {
  const { dialler, environment, home, notes, now } = context;
  const told = new Set<string>();
  const agreesTo: Installer['agreesTo'] = async ({ url, privateAddresses, namedBy }) => {
    const asks = context.agreementQuestions();
    const refusal =
      namedBy === null
        ? null
        : await agreementToRegistry(
            { file: namedBy.path, text: namedBy.text, url },
            configuration.ownDataFolder,
            { asks, now },
          );
    if (refusal === null && !context.wantsJson && !told.has(url)) {
      told.add(url);
      notes.say('fetching from ', url, 'dim');
      const listed = privateAddresses?.join(', ') ?? '';
      if (listed !== '') notes.say('  ', `which may lead to ${listed}, as your configuration says`, 'warn');
    }
    return refusal;
  };
  return machineInstaller(configuration, { environment, home, agreesTo }, dialler);
}
