// The row of a session that is new here.
import { defined } from "../base/values.ts";
import type { SessionRow } from "../protocol/session.ts";
import { createUsage } from "./core/usage.ts";
import type { OpenOrder } from "./types.ts";

/** A session whose history was lost does not reuse its seqs. */
export function continueSeqs(row: SessionRow, last_seq: number): SessionRow {
  return last_seq === 0 ? row : Object.assign(row, { last_seq, lost_after: 0 });
}

export function createRow(order: Omit<OpenOrder, "last_seen_seq">, nowMs: number): SessionRow {
  const cwd = order.options?.["cwd"];
  return {
    session_id: order.session_id,
    backend: order.backend,
    options: order.options ?? {},
    ...(typeof cwd === "string" ? { cwd } : {}),
    started_at_ms: nowMs,
    last_active_at_ms: nowMs,
    last_seq: 0,
    ...createUsage(),
    began_here: !order.resume,
    ...defined({ answers: order.answers, parent: order.parent, project: order.project }),
    // Its agent sees for itself what happens in a session that it owns.
    ...(order.parent === undefined ? {} : { wakes_parent: false }),
  };
}
