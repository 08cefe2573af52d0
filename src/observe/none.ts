// An observer that does nothing: for sessions without observability, and tests.
import type { Observer } from "./types.ts";

export const noObserver: Observer = {
  frame: () => undefined,
  request: () => undefined,
  recall: () => undefined,
  warm: () => Promise.resolve(),
  lastAction: () => undefined,
  actions: () => Promise.resolve([]),
  toolEvents: () => Promise.resolve([]),
  turnEvents: () => Promise.resolve([]),
  stats: () => Promise.resolve({ turns: [], tools: [], waits: [], is_cut: false }),
  usage: () => Promise.resolve({ slices: [] }),
  historyPruned: () => undefined,
  forget: () => undefined,
  close: () => Promise.resolve(),
};
