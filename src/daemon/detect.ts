// Detects agents after the socket is bound, so that no client waits for it.
import type { Backend } from "../backends/types.ts";
import { toMessage } from "../base/coded-error.ts";
import type { Log } from "../base/log.ts";

const DETECTING = "detecting";
/** Listed only if no real agent is found. It can always be opened by name. */
const DEMO = "demo";

export interface Detection {
  /** Agents detected so far. */
  found(): Record<string, string>;
  /** The same, with `detecting` for agents still being detected. */
  state(): Record<string, string>;
  /** Resolves when detection is done. */
  done: Promise<void>;
}

/** `after`: what goes first, because each agent that is looked for starts a process. */
export function detectBackends(
  backends: readonly Backend[],
  log: Log,
  after: Promise<unknown> = Promise.resolve(),
): Detection {
  const versions = new Map<string, string>();
  const searching = new Set(backends.map((backend) => backend.name));
  let isDone = false;
  const done = Promise.all(
    backends.map(async (backend) => {
      await after.catch(() => undefined);
      // If it cannot be checked (no descriptors left), it counts as missing; it can still be opened by name.
      const version = await backend.detect().catch((error: unknown) => {
        log.warn("daemon.detect_failed", { backend: backend.name, message: toMessage(error) });
        return undefined;
      });
      searching.delete(backend.name);
      if (version !== undefined) versions.set(backend.name, version);
    }),
  ).then(() => {
    isDone = true;
    log.info("daemon.backends", found());
  });
  // In the order of the registry, not of the answers.
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
