/** The program behind `cordon demo`; by hand: `node examples/cases/main.ts 2`. */
import { runCommand } from '../../packages/cli/src/commands/run-command.ts';
import { startedWith } from '../../packages/cli/src/commands/source-program.ts';
import { demo } from './demo.ts';

const { options, words } = startedWith(process.argv.slice(2));
await runCommand(options, (surroundings) => demo(surroundings, words[0]));
