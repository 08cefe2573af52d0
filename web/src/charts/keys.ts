// The keys of the page with the charts, as a table: its buttons and help are made from it.
import type { Range } from "./ranges.ts";

export type StatsAction = Range | "tables";

export const STATS_KEYS: readonly { keys: readonly [string]; action: StatsAction; what: string }[] = [
  { keys: ["1"], action: "hour", what: "The last hour" },
  { keys: ["2"], action: "day", what: "The last day" },
  { keys: ["3"], action: "week", what: "The last week" },
  { keys: ["t"], action: "tables", what: "Tables instead of charts" },
];

export function keyOf(action: StatsAction): string {
  return STATS_KEYS.find((row) => row.action === action)?.keys[0] ?? "";
}
