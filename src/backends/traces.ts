// How the processes that a session's commands start are recognized, if its agent's process may serve others.
import type { Lease, Pooled } from "./pool.ts";
import type { RunTraces } from "./types.ts";

export interface TraceParts {
  lease: Lease<Pooled & { readonly runId: string | undefined }>;
  /** In the environment of the session's commands. */
  marker: string;
}

/** A process of its own has a marker too, which what it starts besides commands inherits. */
export function toTraces({ lease, marker }: TraceParts): RunTraces {
  const { runId } = lease.server;
  const isShared = !lease.isOwn;
  return { markers: isShared || runId === undefined ? [marker] : [marker, runId], isShared };
}
