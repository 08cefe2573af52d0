// What a tool works with.
import type { Manager } from "../manager-types.ts";

export interface ToolContext {
  /** Limited to the caller's rights. */
  manager: Manager;
  /** The session whose agent calls; absent: another program. */
  self?: string | undefined;
  /** The same for a call that is repeated; absent: it cannot be. */
  key?: string | undefined;
  /** The caller no longer waits. */
  signal: AbortSignal;
}
