/** Names of system errors. Ring 0. */

/** The `code` of a system error, or a stand-in that never equals one. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : 'unknown error';
}
