// Rereads something whenever it may have changed: one read at a time, and calls during a read cause one more.

export function createRefresher(read: () => Promise<void>, failed: (error: unknown) => void): () => void {
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
    // After a failure it stays stopped; `failed` starts over.
    if (!isRunning) run().catch(failed);
  };
}
