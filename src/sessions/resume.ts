// Continues at daemon start what was waiting when the last daemon ended: wakes and queued messages.
import { toMessage } from "../base/coded-error.ts";
import type { Log } from "../base/log.ts";
import type { SessionRow } from "../protocol/session.ts";
import type { Family } from "./family/family.ts";
import type { SessionTable } from "./table.ts";

/** Never rejects: failures are logged. */
export async function resumeUnfinished({
  table,
  family,
  log,
}: {
  table: SessionTable;
  family: Family;
  log: Log;
}): Promise<void> {
  let unfinished: SessionRow[];
  try {
    unfinished = [...table.withLive(await table.select({ unfinished: true })).values()];
  } catch (error) {
    log.error("session.resume_failed", { message: toMessage(error) });
    return;
  }
  family.resume(unfinished);
  for (const { session_id, queue } of unfinished) {
    if (queue === undefined || queue.length === 0) continue;
    await table.revive(session_id).then(
      (session) => session.goOn(),
      (error: Error) => log.error("session.resume_failed", { session_id, message: error.message }),
    );
  }
}
