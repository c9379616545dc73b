/**
 * Whether the machine has memory to spare for processes that nobody needs yet.
 *
 * Ring 0.
 */

const MIB = 1024 * 1024;

/** What this process may still take, with the limits of its control group. */
export function hasFreeMemory(freeMiB: number): boolean {
  return process.availableMemory() >= freeMiB * MIB;
}
