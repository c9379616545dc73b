/** What the sandbox shows and forbids, for the programs of this repository that attack it. No package imports this. */
export { SHOWN_PROC } from './kernel/proc-view.ts';
export { SYSCALLS, type SyscallName } from './kernel/syscall-numbers.ts';
export { launch } from './launch/launch.ts';
export { openLauncher } from './spawn.ts';
