/** Waiting for something outside of the hub, which may never come. */

/** What comes first: the outcome, or `stopped` when the signal aborts. What comes later is dropped. */
export async function abortable<T>(begin: () => Promise<T>, signal: AbortSignal, stopped: T): Promise<T> {
  if (signal.aborted) return stopped;
  const over = Promise.withResolvers<T>();
  const stop = () => over.resolve(stopped);
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([begin(), over.promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
