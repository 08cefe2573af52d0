// Keys of the usage page, also used by its buttons and the help page.
import type { TimeRange } from "./ranges.ts";

export type StatsAction = TimeRange | "tables";

export const STATS_KEYS: readonly { keys: readonly [string]; action: StatsAction; what: string }[] = [
  { keys: ["1"], action: "hour", what: "Last hour" },
  { keys: ["2"], action: "day", what: "Last day" },
  { keys: ["3"], action: "week", what: "Last week" },
  { keys: ["t"], action: "tables", what: "Tables instead of charts" },
];

export function toKey(action: StatsAction): string {
  return STATS_KEYS.find((row) => row.action === action)?.keys[0] ?? "";
}
