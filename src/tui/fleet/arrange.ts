// The rows of the list: filtered, ordered and grouped by projects. Pure.
import { type Fleet, type FleetOrder, type FleetRow, listFleetRows } from "../../client/view/fleet.ts";
import { type FleetFilter, fitsFilter, parseFleetFilter } from "../../client/view/fleet-filter.ts";
import { type FleetGroup, groupFleetRows, nameProjects } from "../../client/view/fleet-groups.ts";

/** How the user wants the list. */
export interface Wish {
  /** The filter as typed. */
  text: string;
  order: FleetOrder;
  isGrouped: boolean;
  hidesStopped: boolean;
}

export interface Arranged {
  /** All sessions, in this order; kept while only the filter changes. */
  all: { fleet: Fleet; order: FleetOrder; rows: readonly FleetRow[] } | undefined;
  /** The filtered rows, in the order of the groups if there are any. */
  rows: readonly FleetRow[];
  groups: readonly FleetGroup[];
  /** What projects are called, by their directories; empty if there are not several. */
  projects: ReadonlyMap<string, string>;
}

export const NOTHING: Arranged = { all: undefined, rows: [], groups: [], projects: new Map() };

export function arrangeFleet(before: Arranged["all"], fleet: Fleet, wish: Wish, nowMs: number): Arranged {
  const { order, isGrouped, hidesStopped } = wish;
  const isKnown = before?.fleet === fleet && before.order === order;
  const all = isKnown ? before : { fleet, order, rows: listFleetRows(fleet, order) };
  const filter = { archived: false, ...parseFleetFilter(wish.text) };
  const found = all.rows.filter((row) => (hidesStopped ? isShown(row) : true) && fits(row, filter, nowMs));
  const groups = isGrouped ? groupFleetRows(found, order) : [];
  const titles = nameProjects([...new Set(all.rows.map(({ project = "" }) => project))]);
  return {
    all,
    rows: isGrouped ? groups.flatMap(({ rows }) => rows) : found,
    groups,
    projects: titles.size > 1 ? titles : new Map(),
  };
}

/** What waits is never hidden because it is archived. */
function fits(row: FleetRow, filter: FleetFilter, nowMs: number): boolean {
  const { archived: _any, ...others } = filter;
  const isAsking = filter.archived === false && row.session.pending_requests > 0;
  return fitsFilter(row, isAsking ? others : filter, nowMs);
}

function isShown({ session, isWaiting }: FleetRow): boolean {
  return isWaiting || session.failed === true || session.activity_state !== "stopped";
}

/** The filters that a key goes through, as they are typed. */
const STEPS = ["is:waiting", "is:working", "is:failed", "is:archived"];

/** The next one, after which there is none; what else was typed stays. */
export function stepFilter(text: string): string {
  const words = text.split(/\s+/).filter((word) => word !== "");
  const at = STEPS.findIndex((one) => words.includes(one));
  const others = words.filter((word) => !word.startsWith("is:"));
  return [...others, ...STEPS.slice(at + 1, at + 2)].join(" ");
}
