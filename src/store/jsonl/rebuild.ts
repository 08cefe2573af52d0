// The ledger as the session's log tells it, for when `<id>.requests.json` was damaged: a row's first frame has all
// of it, the later ones all but its payload.
import { isObject } from "../../base/json.ts";
import type { RequestRow } from "../../protocol/requests.ts";
import { isOpen } from "../ledger.ts";
import { isRequestRow } from "./request-check.ts";
import { parseFrame } from "./scan.ts";

const CATEGORY = /^request_(pending|resolved|expired|orphaned|withdrawn)$/;

/**
 * The rows that the log tells of. Not those that were answered in a turn that is over: whether the agent got the
 * answer stands in no frame, and nobody waits for it.
 */
export function rowsOfLog(log: Iterable<Uint8Array>, session_id: string): RequestRow[] {
  const rows = new Map<string, RequestRow>();
  for (const piece of log) {
    for (const line of Buffer.from(piece).toString("utf8").split("\n")) {
      if (line.includes('"request_')) takeNotice(rows, line, session_id);
      else if (line.includes('"agent.result"')) endTurn(rows, line);
    }
  }
  return [...rows.values()];
}

/** Good rows of the file and those of the log, without the ones that `isKnown` elsewhere. */
export function mergeRows(
  found: RequestRow[],
  told: RequestRow[],
  isKnown: (request_id: string) => boolean,
): RequestRow[] {
  const rows = new Map(told.filter((row) => !isKnown(row.request_id)).map((row) => [row.request_id, row]));
  for (const row of found) {
    const other = rows.get(row.request_id);
    // The file knows more than the log (the answer itself, and when the agent got it), unless it is behind.
    if (other === undefined || !isOpen(row) || other.status === row.status) rows.set(row.request_id, row);
  }
  return [...rows.values()];
}

function takeNotice(rows: Map<string, RequestRow>, line: string, session_id: string): void {
  const frame = parseFrame(Buffer.from(line));
  if (!isObject(frame) || frame["type"] !== "agent.notice") return;
  const { category, data } = frame;
  if (typeof category !== "string" || !CATEGORY.test(category) || !isObject(data)) return;
  const { request } = data;
  if (!isObject(request) || request["session_id"] !== session_id) return;
  const payload = rows.get(String(request["request_id"]))?.payload;
  const row: unknown = { ...(payload !== undefined && { payload }), ...request };
  if (isRequestRow(row)) rows.set(row.request_id, withoutMask(row));
}

/** A secret answer is masked in frames, and a mask is not what an agent may get. */
function withoutMask(row: RequestRow): RequestRow {
  const { answer: _masked, ...rest } = row;
  return row.payload.questions?.some((question) => question.is_secret === true) ? rest : row;
}

function endTurn(rows: Map<string, RequestRow>, line: string): void {
  const frame = parseFrame(Buffer.from(line));
  if (!isObject(frame) || frame["type"] !== "agent.result") return;
  for (const row of rows.values()) {
    if (row.status !== "pending" && isOpen(row)) rows.delete(row.request_id);
  }
}
