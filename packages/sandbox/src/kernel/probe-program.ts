/**
 * The smallest programs that make one system call, once or several times: Node cannot make `ptrace` or `mount` itself,
 * and a machine need not have a program that does. The self-test runs them inside.
 */
import { program, type Step } from './machine-code.ts';
import type { Architecture } from './seccomp.ts';
import type { SyscallName } from './syscall-numbers.ts';

/**
 * Makes the call `times` times with zeros for arguments, but for the third, and exits with the errno of the last one; where
 * that returns 0, with 0, and where it returns more, with 256 less that.
 */
export function probeProgram(call: SyscallName, architecture: Architecture, times = 1, third = 0): Buffer {
  const calls = Array.from(
    { length: times },
    (): Step => ({ do: 'call', name: call, args: [0, 0, third, 0, 0, 0] }),
  );
  return program(
    [...calls, { do: 'negate' }, { do: 'call', name: 'exit_group', args: ['result'] }],
    architecture,
  );
}
