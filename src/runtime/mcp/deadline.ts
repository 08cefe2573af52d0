// A signal that aborts with another one or after a time. Not AbortSignal.any and .timeout: Node 20 can collect them as
// garbage, and then the timeout never fires.

export interface Deadline {
  signal: AbortSignal;
  clear(): void;
}

export function buildAbort(outer: AbortSignal, timeoutMs: number, reason = "it took too long"): Deadline {
  const controller = new AbortController();
  const stop = () => controller.abort(outer.reason);
  const timer = setTimeout(() => controller.abort(new Error(reason)), timeoutMs);
  if (outer.aborted) stop();
  outer.addEventListener("abort", stop, { once: true });
  return {
    signal: controller.signal,
    clear: () => {
      clearTimeout(timer);
      outer.removeEventListener("abort", stop);
    },
  };
}
