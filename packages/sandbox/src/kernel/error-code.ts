/** Names of system errors. */

/** The `code` of a system error; of any other what it says, which never equals a code. */
export function errorCode(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return error instanceof Error ? `${error.name}: ${error.message}` : `unexpected: ${String(error)}`;
}
