/** What the programs need that commands start beside the packages: benchmarks, escape attempts, case studies. */
export { runCommand } from './commands/run-command.ts';
export { startedWith } from './commands/source-program.ts';
export { CommandContext } from './context/command-context.ts';
export { EXIT, type ExitCode } from './context/exit.ts';
