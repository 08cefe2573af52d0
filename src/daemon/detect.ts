// Detects agents after the socket is bound, so that no client waits for it.
import type { Backend } from "../backends/types.ts";
import { toMessage } from "../base/coded-error.ts";
import type { Log } from "../base/log.ts";
import type { Versions } from "./kept-versions.ts";

const DETECTING = "detecting";
/** Listed only if no real agent is found. It can always be opened by name. */
const DEMO = "demo";

export interface Detection {
  /** Agents detected so far; for those still being detected, what the last daemon found. */
  found(): Versions;
  /** Agents detected so far, with `detecting` for those still being detected. */
  state(): Versions;
  /** Resolves when `found` is worth showing: detection is done, or the last daemon's result is known. */
  known: Promise<void>;
  /** Resolves when detection is done. */
  done: Promise<void>;
}

export interface DetectionParts {
  log: Log;
  /** What goes first, because each agent that is looked for starts a process. */
  after?: Promise<unknown> | undefined;
  /** What the last daemon found. */
  earlier?: Versions | undefined;
}

export function detectBackends(
  backends: readonly Backend[],
  { log, after = Promise.resolve(), earlier }: DetectionParts,
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
  const inOrder = (shown: [string, string][]): Versions =>
    Object.fromEntries(shown.sort(([a], [b]) => order.indexOf(a) - order.indexOf(b)));
  const isReal = ([name]: [string, string]): boolean => name !== DEMO;
  const list = (shown: [string, string][], isComplete: boolean): Versions => {
    const real = shown.filter(isReal);
    return inOrder(real.length > 0 || !isComplete ? real : shown);
  };
  const found = (): Versions => {
    const expected = Object.entries(earlier ?? {}).filter(([name]) => searching.has(name));
    return list([...versions, ...expected], isDone || earlier !== undefined);
  };
  const state = (): Versions => {
    const open = [...searching].map((name): [string, string] => [name, DETECTING]).filter(isReal);
    return inOrder([...Object.entries(list([...versions], isDone)), ...open]);
  };
  return { found, state, known: earlier === undefined ? done : Promise.resolve(), done };
}
