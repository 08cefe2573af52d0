// An observer that sees nothing: for tests and for `observe = false`.
import type { Observer } from "./types.ts";

export const noObserver: Observer = {
  frame: () => undefined,
  request: () => undefined,
  warm: () => Promise.resolve(),
  lastAction: () => undefined,
  actions: () => Promise.resolve([]),
  toolEvents: () => Promise.resolve([]),
  turnEvents: () => Promise.resolve([]),
  forget: () => undefined,
  close: () => Promise.resolve(),
};
