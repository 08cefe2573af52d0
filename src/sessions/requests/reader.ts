// Reads requests as clients may see them: open ones from memory, settled ones from the store.
import { CodedError } from "../../base/coded-error.ts";
import { isSettled, type RequestRow } from "../../protocol/requests.ts";
import type { Store } from "../../store/types.ts";
import { toWaiting } from "../core/refusals.ts";
import type { OpenRequest } from "../core/state.ts";
import type { RequestsFilter, RequestsPage } from "../types.ts";
import { type Responded, toLost, toRepeatedResponse } from "./frames.ts";
import { listPendingPage, listStoredPage } from "./list.ts";
import { withoutSecrets } from "./states.ts";
import type { Asker, OpenEntry, RespondOrder } from "./types.ts";

export class RequestReader {
  readonly #store: Store;
  readonly #open: ReadonlyMap<string, OpenEntry>;

  constructor(store: Store, open: ReadonlyMap<string, OpenEntry>) {
    this.#store = store;
    this.#open = open;
  }

  /** Pending requests of all sessions, oldest first. */
  pending(): RequestRow[] {
    const shown = [...this.#open.values()].filter(({ row, isShown }) => isShown && row.status === "pending");
    return shown.map(({ row }) => row);
  }

  ofAsker(asker: Asker): OpenEntry[] {
    return [...this.#open.values()].filter((open) => open.asker === asker);
  }

  /** Unsettled requests of this run, oldest first. */
  listOpen(asker: Asker): OpenRequest[] {
    const mine = this.ofAsker(asker).filter(({ row }) => !isSettled(row));
    return mine.map(({ row, isShown }) => ({
      ...toWaiting(row),
      isShown: isShown && row.status === "pending",
    }));
  }

  /** One page of pending requests, optionally with settled ones. */
  list(filter: RequestsFilter): Promise<RequestsPage> {
    if (filter.orphaned !== true && filter.settled !== true) {
      const shown = [...this.#open.values()].filter(({ isShown }) => isShown);
      return listPendingPage(
        shown.map(({ row }) => row),
        filter,
      );
    }
    return listStoredPage(this.#store, filter, (row) => withoutSecrets(this.#toCurrent(row)));
  }

  /** One request in full, in any state. */
  async find(session_id: string | undefined, request_id: string): Promise<RequestRow | undefined> {
    const open = this.#open.get(request_id);
    if (open?.isShown === true && (session_id ?? open.row.session_id) === open.row.session_id) {
      return withoutSecrets(open.row);
    }
    if (session_id === undefined) return undefined;
    const row = await this.findStored(session_id, request_id);
    return row === undefined ? undefined : withoutSecrets(row);
  }

  /** A request that policy has not decided yet is not known to anyone. */
  async findStored(session_id: string, request_id: string): Promise<RequestRow | undefined> {
    const row = await this.#store.request(session_id, request_id);
    const current = row === undefined ? undefined : this.#toCurrent(row);
    return current?.undecided === true ? undefined : current;
  }

  /** The earlier answer to a request that is no longer open. Throws `request_unknown`. */
  async respondSettled({ session_id, request_id, answer }: RespondOrder): Promise<Responded> {
    const row = await this.findStored(session_id, request_id);
    if (row === undefined) {
      throw new CodedError("request_unknown", `session ${session_id} has no request ${request_id}`);
    }
    return toRepeatedResponse(row, answer);
  }

  /**
   * The current state of a stored row: a pending request without a run here lost its agent, even if that could not be
   * stored.
   */
  #toCurrent(row: RequestRow): RequestRow {
    const open = this.#open.get(row.request_id);
    if (open !== undefined) return open.row;
    return isSettled(row) ? row : toLost(row);
  }
}
