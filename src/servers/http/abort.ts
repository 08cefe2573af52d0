// An answer that takes long is given up when its client goes away or the daemon stops.

/** Rejects with the signal's reason; what was asked for goes on, and nobody hears of it. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let stop: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
  });
  work.catch(() => undefined); // it may fail because of the same signal, before or after us
  try {
    return await Promise.race([work, aborted]);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
