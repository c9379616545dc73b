/** The program behind `cordon demo`; by hand: `node examples/cases/main.ts 2`. */
import { runCommand, startedWith } from '@cordon/cli/program';
import { demo } from './demo.ts';

const { options, words } = startedWith(process.argv.slice(2));
await runCommand(options, (context) => demo(context, words[0]));
