// Which agents are there, found out after the socket is bound, so that nobody waits for it.
import type { Backend } from "../backends/types.ts";
import type { Log } from "../base/log.ts";

/** Shown only when no real agent is there: the demo is not one. It can always be opened by name. */
const DEMO = "demo";

export interface Detection {
  /** What is known so far. */
  found(): Record<string, string>;
  /** Resolves when every backend has been looked for. */
  done: Promise<void>;
}

export function detectBackends(backends: readonly Backend[], log: Log): Detection {
  const versions = new Map<string, string>();
  let isDone = false;
  const done = Promise.all(
    backends.map(async (backend) => {
      const version = await backend.detect();
      if (version !== undefined) versions.set(backend.name, version);
    }),
  ).then(() => {
    isDone = true;
    log.info("daemon.backends", found());
  });
  const found = (): Record<string, string> => {
    const real = [...versions].filter(([name]) => name !== DEMO);
    // In the order of the registry, whichever answered first.
    const order = backends.map((backend) => backend.name);
    const shown = real.length > 0 || !isDone ? real : [...versions];
    return Object.fromEntries(shown.sort(([a], [b]) => order.indexOf(a) - order.indexOf(b)));
  };
  return { found, done };
}
