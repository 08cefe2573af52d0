// The session list as data: filtered, folded, grouped, and the visible window.
import { getProjectPath } from "../../../src/client/view/asker.ts";
import type { Fleet, FleetRow } from "../../../src/client/view/fleet.ts";
import { summarizeRequest } from "../../../src/client/view/request-what.ts";
import type { SessionView } from "../../../src/protocol/views.ts";

export const GROUPS = ["waiting", "working", "idle", "stopped"] as const;
export type Group = (typeof GROUPS)[number];

export interface RowItem {
  kind: "row";
  row: FleetRow;
  children: number;
  isFolded: boolean;
  /** Position among siblings, for screen readers. */
  place: { at: number; of: number };
}
export interface GroupItem {
  kind: "group";
  /** A state, or the project. */
  group: string;
  /** Untrusted for projects. */
  title: string;
  count: number;
  /** Sessions in it that wait for a person. */
  waiting: number;
  note?: string;
}
export type Item = GroupItem | RowItem;
export type UnplacedItem = GroupItem | Omit<RowItem, "place">;

const GROUP_TITLES: Record<Group, string> = {
  waiting: "Waiting for you",
  working: "Working",
  idle: "Idle",
  stopped: "Stopped",
};

const WORKING = new Set(["working", "thinking", "starting"]);

/** Rows that fit, with their ancestors. */
export function filterRows(rows: readonly FleetRow[], fits: (row: FleetRow) => boolean): FleetRow[] {
  const kept: FleetRow[] = [];
  let depth = -1;
  for (const row of [...rows].reverse()) {
    const isAbove = row.depth === depth - 1;
    if (!isAbove && !fits(row)) continue;
    kept.push(row);
    depth = row.depth;
  }
  return kept.reverse();
}

/** Every word must occur in the session, or be the start of its id. */
export function isMatch(session: SessionView, search: string): boolean {
  if (search === "") return true;
  const { session_id, name, title, backend, provider, cwd, project, model, activity_state, last_action } =
    session;
  const named = [name, title, backend, provider, cwd, project, model, ...(session.labels ?? [])];
  const all = [...named, activity_state, last_action?.summary_text];
  const text = all.filter(Boolean).join("\n").toLocaleLowerCase();
  const words = search.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  return words.every((word) => text.includes(word) || session_id.toLowerCase().startsWith(word));
}

/** Groups families by their most urgent member; keeps the order within a group. */
export function groupRows(rows: readonly FleetRow[], folded: ReadonlySet<string>): Item[] {
  const groups: Record<Group, FleetRow[][]> = { waiting: [], working: [], idle: [], stopped: [] };
  for (const family of splitFamilies(rows)) groups[findGroup(family)].push(family);
  return withPlaces(
    GROUPS.flatMap((group) => {
      if (groups[group].length === 0) return [];
      const members = groups[group].flat();
      const waiting = members.filter(({ session }) => isAsking(session)).length;
      const count = group === "waiting" ? waiting : members.length;
      return [
        { kind: "group", group, title: GROUP_TITLES[group], count, waiting } as const,
        ...groups[group].flatMap((one) => foldFamily(one, folded)),
      ];
    }),
  );
}

/** In their order, without groups. */
export function foldRows(rows: readonly FleetRow[], folded: ReadonlySet<string>): Omit<RowItem, "place">[] {
  return splitFamilies(rows).flatMap((family) => foldFamily(family, folded));
}

export function withPlaces(items: readonly UnplacedItem[]): Item[] {
  const counts = new Map<string | undefined, number>();
  const above: (string | undefined)[] = [undefined];
  const placed = items.map((item) => {
    if (item.kind !== "row") return { item };
    const { depth, session } = item.row;
    const parent = above[depth];
    const at = (counts.get(parent) ?? 0) + 1;
    counts.set(parent, at);
    above[depth + 1] = session.session_id;
    return { item, parent, at };
  });
  return placed.map(({ item, parent, at = 0 }) =>
    item.kind === "row" ? { ...item, place: { at, of: counts.get(parent) ?? at } } : item,
  );
}

/** Splits rows into a root and its descendants. */
function splitFamilies(rows: readonly FleetRow[]): FleetRow[][] {
  const found: FleetRow[][] = [];
  for (const row of rows) {
    const last = found.at(-1);
    if (last?.[0] !== undefined && row.depth > last[0].depth) last.push(row);
    else found.push([row]);
  }
  return found;
}

function findGroup(family: readonly FleetRow[]): Group {
  if (family.some(({ isWaiting }) => isWaiting)) return "waiting";
  const states = family.map(({ session }) => session.activity_state);
  if (states.some((state) => WORKING.has(state))) return "working";
  // Failed sessions are not hidden among stopped ones.
  return family.every(({ session }) => session.activity_state === "stopped" && !session.failed)
    ? "stopped"
    : "idle";
}

export function isAsking({ activity_state, pending_requests }: SessionView): boolean {
  return (
    pending_requests > 0 || activity_state === "waiting_permission" || activity_state === "waiting_input"
  );
}

function foldFamily(family: readonly FleetRow[], folded: ReadonlySet<string>): Omit<RowItem, "place">[] {
  const items: Omit<RowItem, "place">[] = [];
  let foldedAt = Number.POSITIVE_INFINITY;
  for (const [index, row] of family.entries()) {
    if (row.depth > foldedAt) continue;
    const isFolded = folded.has(row.session.session_id);
    foldedAt = isFolded ? row.depth : Number.POSITIVE_INFINITY;
    items.push({ kind: "row", row, children: countDescendants(family, index), isFolded });
  }
  return items;
}

/** Number of descendants. */
function countDescendants(family: readonly FleetRow[], index: number): number {
  const depth = family[index]?.depth ?? 0;
  const end = family.findIndex((row, at) => at > index && row.depth <= depth);
  return (end === -1 ? family.length : end) - index - 1;
}

export interface Heights {
  row: number;
  group: number;
}

/** The visible items with a margin, and the height of the others. */
export function findWindow(
  items: readonly Item[],
  heights: Heights,
  seen: { top: number; height: number },
): { first: number; last: number; before: number; total: number } {
  const margin = heights.row * 8;
  let first = items.length;
  let last = 0;
  let before = 0;
  let total = 0;
  for (const [index, item] of items.entries()) {
    const end = total + heights[item.kind];
    if (end >= seen.top - margin && total <= seen.top + seen.height + margin) {
      if (index < first) {
        first = index;
        before = total;
      }
      last = index + 1;
    }
    total = end;
  }
  return { first: Math.min(first, last), last, before, total };
}

export function findOffset(items: readonly Item[], heights: Heights, index: number): number {
  return items.slice(0, index).reduce((sum, item) => sum + heights[item.kind], 0);
}

/** The id of the row `by` rows away; the first or last if there is no current row. */
export function stepFrom(
  items: readonly Item[],
  current: string | undefined,
  by: number,
): string | undefined {
  const ids = items.flatMap((item) => (item.kind === "row" ? [item.row.session.session_id] : []));
  const at = current === undefined ? -1 : ids.indexOf(current);
  if (at === -1) return by < 0 ? ids.at(-1) : ids[0];
  return ids[Math.max(0, Math.min(ids.length - 1, at + by))];
}

export interface Totals {
  sessions: number;
  asking: number;
  working: number;
  tokens: number;
  cost_usd: number;
}

/** Without what is archived. */
export function countTotals({ sessions, requests }: Fleet): Totals {
  const totals: Totals = {
    sessions: 0,
    asking: requests.size,
    working: 0,
    tokens: 0,
    cost_usd: 0,
  };
  for (const { activity_state, usage, cost_usd, archived_at_ms } of sessions.values()) {
    if (archived_at_ms !== undefined) continue;
    totals.sessions += 1;
    if (WORKING.has(activity_state)) totals.working += 1;
    totals.tokens += (usage.input_tokens ?? 0) + (usage.output_tokens ?? 0);
    totals.cost_usd += cost_usd ?? 0;
  }
  return totals;
}

/** What the oldest request of each session asks for. */
export function summarizeRequests({ requests, sessions }: Fleet): Map<string, string> {
  const asked = new Map<string, string>();
  for (const row of requests.values()) {
    if (asked.has(row.session_id)) continue;
    const session = sessions.get(row.session_id);
    asked.set(row.session_id, summarizeRequest(row, session && getProjectPath(session)));
  }
  return asked;
}
