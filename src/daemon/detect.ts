// Which agents are there, found out after the socket is bound, so that nobody waits for it.
import type { Backend } from "../backends/types.ts";
import { messageOf } from "../base/coded-error.ts";
import type { Log } from "../base/log.ts";

const DETECTING = "detecting";
/** Shown only when no real agent is there: the demo is not one. It can always be opened by name. */
const DEMO = "demo";

export interface Detection {
  /** What is known so far. */
  found(): Record<string, string>;
  /** The same, with `detecting` for those that are still being looked for. */
  state(): Record<string, string>;
  /** Resolves when every backend has been looked for. */
  done: Promise<void>;
}

export function detectBackends(backends: readonly Backend[], log: Log): Detection {
  const versions = new Map<string, string>();
  const searching = new Set(backends.map((backend) => backend.name));
  let isDone = false;
  const done = Promise.all(
    backends.map(async (backend) => {
      // One that cannot even be looked for (no descriptors left) is not there; it can still be opened by name.
      const version = await backend.detect().catch((error: unknown) => {
        log.warn("daemon.detect_failed", { backend: backend.name, message: messageOf(error) });
        return undefined;
      });
      searching.delete(backend.name);
      if (version !== undefined) versions.set(backend.name, version);
    }),
  ).then(() => {
    isDone = true;
    log.info("daemon.backends", found());
  });
  // In the order of the registry, whichever answered first.
  const order = backends.map((backend) => backend.name);
  const inOrder = (shown: [string, string][]): Record<string, string> =>
    Object.fromEntries(shown.sort(([a], [b]) => order.indexOf(a) - order.indexOf(b)));
  const isReal = ([name]: [string, string]): boolean => name !== DEMO;
  const found = (): Record<string, string> => {
    const real = [...versions].filter(isReal);
    return inOrder(real.length > 0 || !isDone ? real : [...versions]);
  };
  const state = (): Record<string, string> => {
    const open = [...searching].map((name): [string, string] => [name, DETECTING]).filter(isReal);
    return inOrder([...Object.entries(found()), ...open]);
  };
  return { found, state, done };
}
