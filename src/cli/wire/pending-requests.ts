// The pending requests that were shown here.
import { type RequestRow, readRequest, type SessionFrame, type WireFrame } from "../../client/index.ts";

export class PendingRequests {
  readonly #rows = new Map<string, RequestRow>();

  /** Oldest first. */
  get pending(): readonly RequestRow[] {
    return [...this.#rows.values()];
  }

  get ids(): readonly string[] {
    return [...this.#rows.keys()];
  }

  /** Applies a frame; returns its pending requests, to be shown. */
  see(frame: WireFrame): RequestRow[] {
    if (frame.type === "blemeesd.requests") return this.#list(frame["requests"] as RequestRow[]);
    if (frame.type === "blemeesd.responded") this.#rows.delete(String(frame["request_id"]));
    if (frame.type === "blemeesd.closed") this.#forget(frame.session_id);
    const news = readRequest(frame as unknown as SessionFrame);
    if (news === undefined) return [];
    if (news.status === "pending") return this.#list([news]);
    this.#rows.delete(news.request_id);
    return [];
  }

  /** Replaces a truncated request with the whole one. */
  put(row: RequestRow): void {
    if (this.#rows.has(row.request_id)) this.#rows.set(row.request_id, row);
  }

  clear(): void {
    this.#rows.clear();
  }

  #list(rows: readonly RequestRow[]): RequestRow[] {
    const pending = rows.filter(({ status }) => status === "pending");
    for (const row of pending) this.#rows.set(row.request_id, row);
    return pending;
  }

  #forget(session_id: unknown): void {
    for (const row of this.pending) if (row.session_id === session_id) this.#rows.delete(row.request_id);
  }
}
