// What the list shows from top to bottom: sessions, and titles of groups above them. Pure.
import type { FleetRow } from "../../client/view/fleet.ts";
import type { FleetGroup } from "../../client/view/fleet-groups.ts";
import type { FleetState } from "./state.ts";

/** `at`: the index of the session in the rows. */
export type Entry = { kind: "group"; group: FleetGroup } | { kind: "session"; row: FleetRow; at: number };

export function listEntries({ rows, groups, isGrouped }: FleetState): Entry[] {
  if (!isGrouped) return rows.map((row, at) => ({ kind: "session", row, at }));
  let count = 0;
  return groups.flatMap((group): Entry[] => {
    const from = count;
    count += group.rows.length;
    const sessions = group.rows.map((row, at): Entry => ({ kind: "session", row, at: from + at }));
    return [{ kind: "group", group }, ...sessions];
  });
}

/** The first visible entry that keeps the selected session in view with the least scrolling, below its group's title. */
export function findTop(before: number, index: number, height: number, entries: readonly Entry[]): number {
  const selected = entries.findIndex((entry) => entry.kind === "session" && entry.at === index);
  const isFirst = entries[selected - 1]?.kind === "group" && height > 1;
  const kept = Math.min(before, Math.max(0, entries.length - height));
  const from = Math.max(0, isFirst ? selected - 1 : selected);
  if (from < kept) return from;
  return selected >= kept + height ? selected - height + 1 : kept;
}
