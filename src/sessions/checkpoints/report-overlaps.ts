// Publishes that two live sessions have changed the same file: to both, and to the sessions that spawned them.
import type { SessionRow } from "../../protocol/session.ts";
import type { Publisher } from "../stream/publish.ts";
import type { SessionTable } from "../table.ts";
import type { Changes } from "../views/changes.ts";
import { type Overlap, toOverlapNotice } from "./overlaps.ts";

export interface ReportParts {
  table: Pick<SessionTable, "live" | "isAbandoned">;
  publisher: Publisher;
  changes: Pick<Changes, "markChanged">;
}

export function reportOverlaps(
  overlaps: readonly Overlap[],
  { table, publisher, changes }: ReportParts,
): void {
  if (table.isAbandoned) return;
  for (const overlap of overlaps) {
    const [one, two] = [table.live.get(overlap.session_id)?.row, table.live.get(overlap.other)?.row];
    if (one === undefined || two === undefined) continue;
    const names = {
      session_id: one.session_id,
      name: toName(one),
      other: two.session_id,
      otherName: toName(two),
    };
    const informed = new Set([one.session_id, two.session_id, one.parent, two.parent]);
    for (const session_id of informed) {
      const session = session_id === undefined ? undefined : table.live.get(session_id);
      if (session === undefined || session.isClosed) continue;
      publisher.publish(session.stream, toOverlapNotice(session.row.backend, names, overlap));
      changes.markChanged(session.row.session_id);
    }
  }
}

function toName({ name, session_id }: SessionRow): string {
  return name ?? session_id.slice(0, 8);
}
