/** The program behind `cordon doctor --attack` and `npm run attacks`. */
import { runCommand } from '../../packages/cli/src/commands/run-command.ts';
import { startedWith } from '../../packages/cli/src/commands/source-program.ts';
import { attack } from './command.ts';

const { options, words } = startedWith(process.argv.slice(2));
await runCommand(options, (surroundings) => attack(surroundings, words));
