// The row of a session is shared: the core decides its fields, others read them.
import { SessionRow } from "../protocol/session.ts";
import * as facts from "./core/state.ts";

/** Row fields that others write (core/state.ts). */
const NOT_THE_CORES: ReadonlySet<string> = new Set(["last_seq", "lost_after", "wakes"]);
const TURN = ["turn"];
const CORE_FIELDS = Object.keys(SessionRow.shape).filter((key) => !NOT_THE_CORES.has(key));

/** Copies the core's fields into the shared row. */
export function projectRow(state: facts.SessionState, before: facts.SessionState, row: SessionRow): void {
  const known: Record<string, unknown> = facts.toRow(state);
  const target: Record<string, unknown> = row;
  const fields = state.row === before.row ? TURN : CORE_FIELDS;
  for (const key of fields) {
    const value = known[key];
    if (target[key] === value) continue;
    // Not deleted: V8 would copy the row slowly from then on, with every write. JSON leaves it out.
    target[key] = value;
  }
}
