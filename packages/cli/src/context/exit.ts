/** Exit codes, the same for every command. */

export const EXIT = {
  done: 0,
  /** Refused by the policy or by the user. */
  refused: 1,
  /** Wrong use, configuration, sandbox, or a failure that no one decided. */
  failed: 2,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** How the end of a query shows in the exit code; a query that the user cancelled was refused by the user. */
export function exitCodeOf(outcome: 'answered' | 'refused' | 'failed' | 'cancelled'): ExitCode {
  switch (outcome) {
    case 'answered':
      return EXIT.done;
    case 'refused':
    case 'cancelled':
      return EXIT.refused;
    case 'failed':
      return EXIT.failed;
  }
}
