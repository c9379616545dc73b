/** Writing to a stream at the pace of its reader, so that a slow one costs time and no memory. */

/** Resolves when the stream takes more, or when its reader has gone. */
export function written(stream: NodeJS.WritableStream, text: string): Promise<void> {
  if (stream.write(text) || !stream.writable) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = () => {
    for (const event of ['drain', 'close', 'error']) stream.off(event, done);
    resolve();
  };
  for (const event of ['drain', 'close', 'error']) stream.on(event, done);
  return promise;
}
