/** The program behind `cordon doctor --attack` and `npm run attacks`. */
import { runCommand, startedWith } from '@cordon/cli/program';
import { attack } from './command.ts';

const { options, words } = startedWith(process.argv.slice(2));
await runCommand(options, (context) => attack(context, words));
