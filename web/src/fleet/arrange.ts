// The items of the list: which sessions are shown, in which groups and order. Pure.
import { type Fleet, listFleetRows } from "../../../src/client/view/fleet.ts";
import { type FleetFilter, fitsFilter, parseFleetFilter } from "../../../src/client/view/fleet-filter.ts";
import { type FleetGroup, groupFleetRows } from "../../../src/client/view/fleet-groups.ts";
import { formatCost } from "../../../src/client/view/format.ts";
import {
  filterRows,
  foldRows,
  groupRows,
  type Item,
  isMatch,
  type UnplacedItem,
  withPlaces,
} from "./rows.ts";

/** `state`: what needs a person first. In the others no row moves while no session starts or ends. */
export const ARRANGEMENTS = ["state", "project", "newest"] as const;
export type Arrangement = (typeof ARRANGEMENTS)[number];

export interface ListChoice {
  arrangement: Arrangement;
  /** Words and terms (`is:failed`, `#label`), as typed. */
  text: string;
  /** Chosen in the panel; the text counts in addition. */
  picked: FleetFilter;
}

export function arrangeItems(
  fleet: Fleet,
  { arrangement, text, picked }: ListChoice,
  folded: ReadonlySet<string>,
  nowMs: number,
): Item[] {
  const { words = [], ...typed } = parseFleetFilter(text);
  const archived = typed.archived ?? picked.archived ?? false;
  const filters: FleetFilter[] = [{ ...picked, archived }, typed];
  const search = words.join(" ");
  const order = arrangement === "state" ? "attention" : "created";
  const rows = filterRows(
    listFleetRows(fleet, order),
    (row) => filters.every((filter) => fitsFilter(row, filter, nowMs)) && isMatch(row.session, search),
  );
  if (arrangement === "state") return groupRows(rows, folded);
  if (arrangement === "newest") return withPlaces(foldRows(rows, folded));
  return withPlaces(groupFleetRows(rows, order).flatMap((group) => projectItems(group, folded)));
}

/** The session of the first row that fits by itself. Rows above it may be shown for their descendants. */
export function findFirstMatch(items: readonly Item[], text: string): string | undefined {
  const search = (parseFleetFilter(text).words ?? []).join(" ");
  const found = items.find((item) => item.kind === "row" && isMatch(item.row.session, search));
  return found?.kind === "row" ? found.row.session.session_id : undefined;
}

/** How many of the panel's choices are made. */
export function countPicked(picked: FleetFilter): number {
  return Object.values(picked).filter((value) => value !== undefined && value !== false).length;
}

/** The labels and projects of all sessions, for the choices of the panel. */
export function listKnown({ sessions }: Fleet): { labels: string[]; projects: string[]; agents: string[] } {
  const [labels, projects, agents] = [new Set<string>(), new Set<string>(), new Set<string>()];
  for (const session of sessions.values()) {
    for (const label of session.labels ?? []) labels.add(label);
    if (session.project !== undefined) projects.add(session.project);
    agents.add(session.provider);
  }
  return { labels: [...labels].sort(), projects: [...projects].sort(), agents: [...agents].sort() };
}

function projectItems(group: FleetGroup, folded: ReadonlySet<string>): UnplacedItem[] {
  const { key, title, rows, waiting } = group;
  return [
    { kind: "group", group: `project ${key}`, title, count: rows.length, waiting, note: describeSums(group) },
    ...foldRows(rows, folded),
  ];
}

/** "1 working, 2 failed, $1.20" */
function describeSums({ working, failed, cost_usd }: FleetGroup): string {
  return [
    ...(working === 0 ? [] : [`${working} working`]),
    ...(failed === 0 ? [] : [`${failed} failed`]),
    ...(cost_usd === undefined ? [] : [formatCost(cost_usd)]),
  ].join(", ");
}
