// What turns used, by day, agent, project or session: sums from the observer, with what the sessions' rows know.
import { defined } from "../../base/values.ts";
import {
  addSums,
  createSums,
  findProject,
  mergeSlices,
  type Observer,
  type UsageSlice,
} from "../../observe/index.ts";
import type { SessionRow } from "../../protocol/session.ts";
import type { UsageGroup, UsageGroupBy, UsageReply } from "../../protocol/usage-report.ts";
import type { Store } from "../../store/types.ts";

export interface UsageOrder {
  by: UsageGroupBy;
  from_ms: number;
  /** Exclusive. */
  to_ms: number;
  time_zone: string;
  /** Only of this session. */
  session_id?: string;
  limit: number;
  /** `next` of the page before. */
  after?: string;
}

/** Rows that are read at once. */
const ROWS_AT_ONCE = 500;

export async function readUsage(
  { observer, store }: { observer: Observer; store: Store },
  { limit, after, ...query }: UsageOrder,
): Promise<UsageReply> {
  const { slices, recorded_since_ms } = await observer.usage(query);
  const known = query.by === "project" ? await nameProjects(slices, store) : slices;
  const groups = query.by === "day" ? known : known.toSorted(compareSpending);
  const total = createSums();
  for (const group of groups) addSums(total, group);
  const start = after === undefined ? 0 : Number(after);
  const page = groups.slice(start, start + limit);
  const { by, from_ms, to_ms, time_zone } = query;
  return {
    ...{ by, from_ms, to_ms, time_zone },
    groups: by === "session" ? await nameSessions(page, store) : page,
    total,
    ...defined({ recorded_since_ms }),
    ...(start + limit < groups.length ? { next: String(start + limit) } : {}),
  };
}

/** Turns recorded before projects were: by the rows of their sessions. */
async function nameProjects(slices: readonly UsageSlice[], store: Store): Promise<UsageSlice[]> {
  const ids = slices.flatMap(({ session_id }) => (session_id === undefined ? [] : [session_id]));
  const rows = await readRows(ids, store);
  return mergeSlices(
    slices.map(({ session_id, ...slice }) => {
      const row = session_id === undefined ? undefined : rows.get(session_id);
      return row === undefined ? slice : { ...slice, key: findProject(row) ?? "" };
    }),
  );
}

async function nameSessions(groups: readonly UsageGroup[], store: Store): Promise<UsageGroup[]> {
  const rows = await readRows(
    groups.map(({ key }) => key).filter((key) => key !== ""),
    store,
  );
  return groups.map((group) => {
    const row = rows.get(group.key);
    if (row === undefined) return group;
    return {
      ...group,
      agent: row.backend,
      ...defined({ name: row.name ?? row.title, project: findProject(row) }),
    };
  });
}

async function readRows(ids: readonly string[], store: Store): Promise<Map<string, SessionRow>> {
  const rows = new Map<string, SessionRow>();
  for (let at = 0; at < ids.length; at += ROWS_AT_ONCE) {
    const found = await store.rows({ ids: ids.slice(at, at + ROWS_AT_ONCE) });
    for (const row of found) rows.set(row.session_id, row);
  }
  return rows;
}

/** The most expensive first; without a cost, the most tokens. */
function compareSpending(a: UsageGroup, b: UsageGroup): number {
  return (
    (b.cost_usd ?? -1) - (a.cost_usd ?? -1) || countTokens(b) - countTokens(a) || (a.key < b.key ? -1 : 1)
  );
}

function countTokens({ input_tokens = 0, cached_tokens = 0, output_tokens = 0 }: UsageGroup): number {
  return input_tokens + cached_tokens + output_tokens;
}
