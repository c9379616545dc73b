/** What the sandbox shows and forbids, for the programs of this repository that attack it. No package imports this. Ring 1. */
export { SHOWN_PROC } from './proc-view.ts';
export { SYSCALLS, type SyscallName } from './syscall-numbers.ts';
