// Gives up a slow reply when its client disconnects or the daemon shuts down.

/** Rejects with the signal's reason; the work itself continues unobserved. */
export async function awaitUnlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  // It may fail because of the same signal. Before anything else: a failure that nobody handles ends the daemon.
  work.catch(() => undefined);
  signal.throwIfAborted();
  let stop: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
