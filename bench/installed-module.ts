/** Packages of others, which are not installed with Cordon: where one is missing, a benchmark runs without it and says so. */

/** The module of a package; null: it is not installed. What it exports is not ours to check, so the caller says what it expects. */
export async function moduleIfInstalled<Module>(load: () => Promise<unknown>): Promise<Module | null> {
  try {
    return (await load()) as Module;
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
    if (isMissing) return null;
    throw error;
  }
}
