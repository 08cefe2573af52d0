// A page of requests, bounded in number and bytes because agents decide how long and how many they are. Long texts are
// cut in lists; a lookup by id returns them in full.

import { CodedError } from "../../base/coded-error.ts";
import { defined } from "../../base/values.ts";
import type { RequestPayload, RequestRow } from "../../protocol/requests.ts";
import { compareAge, type RequestPosition } from "../../store/ledger.ts";
import type { Store } from "../../store/types.ts";
import type { RequestsFilter, RequestsPage } from "../types.ts";

/** Returns rows after a position, oldest first; fewer than requested only at the end. */
type More = (after: RequestPosition | undefined, limit: number) => Promise<RequestRow[]>;

const DEFAULT_LIMIT = 200;
const MAX_PAYLOAD_CHARS = 64 * 1024;
const MAX_PAGE_CHARS = 4 * 1024 * 1024;
/** Rows read from the store at once. */
const STEP = 200;

/** From memory: pending requests. */
export function listPendingPage(rows: RequestRow[], filter: RequestsFilter): Promise<RequestsPage> {
  const pending = rows
    .filter((row) => row.status === "pending" && matchesSession(row, filter))
    .sort(compareAge);
  return readPage(filter, async (after, limit) => {
    const behind = after === undefined ? pending : pending.filter((row) => compareAge(row, after) > 0);
    return behind.slice(0, limit);
  });
}

/** From the store: pending requests and those the filter includes. `known` brings them up to date. */
export function listStoredPage(
  store: Store,
  filter: RequestsFilter,
  known: (row: RequestRow) => RequestRow,
): Promise<RequestsPage> {
  const { session_id, orphaned = false, settled = false } = filter;
  const scope = defined({ session_id });
  const more: More = async (after, limit) => {
    const rows = await store.requests({ ...scope, ...defined({ after }), limit });
    return rows.map(known);
  };
  return readPage(filter, more, (row) => {
    const { status } = row;
    if (!matchesSession(row, filter) || row.undecided === true) return false; // mutation: undecided-is-not-listed
    if (status === "pending") return true;
    return status === "orphaned" ? orphaned : settled;
  });
}

async function readPage(
  { after, limit = DEFAULT_LIMIT }: RequestsFilter,
  more: More,
  isMeant: (row: RequestRow) => boolean = () => true,
): Promise<RequestsPage> {
  const requests: RequestRow[] = [];
  let chars = 0;
  let place = after === undefined ? undefined : parseCursor(after);
  for (;;) {
    const rows = await more(place, STEP);
    for (const row of rows) {
      if (isMeant(row)) {
        const shown = cutPayload(row);
        const size = JSON.stringify(shown).length;
        if (requests.length === limit || (requests.length > 0 && chars + size > MAX_PAGE_CHARS)) {
          return { requests, ...(place === undefined ? {} : { next: toCursor(place) }) };
        }
        requests.push(shown);
        chars += size;
      }
      place = row;
    }
    if (rows.length < STEP) return { requests };
  }
}

function matchesSession(row: RequestRow, { session_id, session_ids }: RequestsFilter): boolean {
  if (session_ids !== undefined && !session_ids.has(row.session_id)) return false;
  return session_id === undefined || row.session_id === session_id;
}

function cutPayload(row: RequestRow): RequestRow {
  if (JSON.stringify(row.payload).length <= MAX_PAYLOAD_CHARS) return row;
  const { title } = row.payload;
  const choices = row.payload.choices.map(({ decision, option }) => ({
    decision,
    ...defined({ option }),
  }));
  const payload: RequestPayload = { title, choices };
  return { ...row, payload, is_cut: true };
}

function toCursor({ requested_at_ms, request_id }: RequestPosition): string {
  return `${requested_at_ms}.${request_id}`;
}

function parseCursor(cursor: string): RequestPosition {
  const [, at, request_id] = /^(\d{1,15})\.(\S{1,200})$/.exec(cursor) ?? [];
  if (at === undefined || request_id === undefined) {
    throw new CodedError("invalid_message", "/after: not a `next` value of an earlier page");
  }
  return { requested_at_ms: Number(at), request_id };
}
