// The environment of a claude process: the daemon's, without the variables of a claude that the daemon was started from.

import { RUN_MARKER } from "../../base/child.ts";
import { SET_BY_CLAUDE, STATE_EVENTS } from "../../base/claude-wire/environment.ts";
import type { Environment } from "../types.ts";

const REMOVED: ReadonlySet<string> = new Set([...SET_BY_CLAUDE, RUN_MARKER]);

export function buildClaudeEnvironment(
  daemon: Environment,
  order: Environment,
  speaksControl: boolean,
): Record<string, string | undefined> {
  const kept = Object.entries(daemon).filter(([name]) => !REMOVED.has(name));
  return { ...Object.fromEntries(kept), ...(speaksControl ? STATE_EVENTS : {}), ...order };
}
