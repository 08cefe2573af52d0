// Reading something anew whenever it may have changed: one at a time, and what came meanwhile counts once.

/** A function that lets `read` run, and once more when it was called meanwhile. */
export function again(read: () => Promise<void>, failed: (error: unknown) => void): () => void {
  let isRunning = false;
  let isWanted = false;
  const run = async (): Promise<void> => {
    isRunning = true;
    while (isWanted) {
      isWanted = false;
      await read();
    }
    isRunning = false;
  };
  return () => {
    isWanted = true;
    // Behind a failure nothing is read any more: whoever is told of it begins anew.
    if (!isRunning) run().catch(failed);
  };
}
