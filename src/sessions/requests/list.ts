// A page of requests: bounded in number and in bytes, because an agent decides how long a command is and how often it
// asks. What is too long for a list is cut there, and comes whole when it is asked for by its id.
import { CodedError } from "../../base/coded-error.ts";
import type { RequestPayload, RequestRow } from "../../protocol/requests.ts";
import type { RequestFilter, Store } from "../../store/types.ts";
import type { RequestsFilter, RequestsPage } from "../types.ts";

type Place = NonNullable<RequestFilter["after"]>;
/** Gives the rows behind a place, oldest first; fewer than it was asked for when there are no others. */
type More = (after: Place | undefined, limit: number) => Promise<RequestRow[]>;

const DEFAULT_LIMIT = 200;
const MAX_PAYLOAD_CHARS = 64 * 1024;
const MAX_PAGE_CHARS = 4 * 1024 * 1024;
/** Rows that are taken from the store at once. */
const STEP = 200;

/** Of rows in memory: those that wait. */
export function pageOfPending(rows: RequestRow[], filter: RequestsFilter): Promise<RequestsPage> {
  const pending = rows.filter((row) => row.status === "pending" && isOf(row, filter)).sort(byAge);
  return pageOf(filter, async (after, limit) => {
    const behind = after === undefined ? pending : pending.filter((row) => byAge(row, after) > 0);
    return behind.slice(0, limit);
  });
}

/** Of rows in the store: those that wait, and those that the filter includes. `known` makes them up to date. */
export function pageOfStored(
  store: Store,
  filter: RequestsFilter,
  known: (row: RequestRow) => RequestRow,
): Promise<RequestsPage> {
  const { session_id, orphaned = false, settled = false } = filter;
  const scope = session_id === undefined ? {} : { session_id };
  const more: More = async (after, limit) => {
    const rows = await store.requests({ ...scope, ...(after === undefined ? {} : { after }), limit });
    return rows.map(known);
  };
  return pageOf(filter, more, (row) => {
    const { status } = row;
    if (!isOf(row, filter)) return false;
    if (status === "pending") return true;
    return status === "orphaned" ? orphaned : settled;
  });
}

async function pageOf(
  { after, limit = DEFAULT_LIMIT }: RequestsFilter,
  more: More,
  isMeant: (row: RequestRow) => boolean = () => true,
): Promise<RequestsPage> {
  const requests: RequestRow[] = [];
  let chars = 0;
  let place = after === undefined ? undefined : placeOf(after);
  for (;;) {
    const rows = await more(place, STEP);
    for (const row of rows) {
      if (isMeant(row)) {
        const shown = cut(row);
        const size = JSON.stringify(shown).length;
        if (requests.length === limit || (requests.length > 0 && chars + size > MAX_PAGE_CHARS)) {
          return { requests, ...(place === undefined ? {} : { next: cursorOf(place) }) };
        }
        requests.push(shown);
        chars += size;
      }
      place = row;
    }
    if (rows.length < STEP) return { requests };
  }
}

function isOf(row: RequestRow, { session_id, session_ids }: RequestsFilter): boolean {
  if (session_ids !== undefined && !session_ids.has(row.session_id)) return false;
  return session_id === undefined || row.session_id === session_id;
}

/** In the order of the store: by age, then by id. */
function byAge(a: Place, b: Place): number {
  if (a.requested_at_ms !== b.requested_at_ms) return a.requested_at_ms - b.requested_at_ms;
  return a.request_id < b.request_id ? -1 : Number(a.request_id > b.request_id);
}

function cut(row: RequestRow): RequestRow {
  if (JSON.stringify(row.payload).length <= MAX_PAYLOAD_CHARS) return row;
  const { title } = row.payload;
  const choices = row.payload.choices.map(({ decision, option }) => ({
    decision,
    ...(option === undefined ? {} : { option }),
  }));
  const payload: RequestPayload = { title, choices };
  return { ...row, payload, is_cut: true };
}

function cursorOf({ requested_at_ms, request_id }: Place): string {
  return `${requested_at_ms}.${request_id}`;
}

function placeOf(cursor: string): Place {
  const [, at, request_id] = /^(\d{1,15})\.(\S{1,200})$/.exec(cursor) ?? [];
  if (at === undefined || request_id === undefined) {
    throw new CodedError("invalid_message", "/after: not what an answer gave as `next`");
  }
  return { requested_at_ms: Number(at), request_id };
}
