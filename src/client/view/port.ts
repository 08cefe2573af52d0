// The part of the HTTP client that views use. A port retries nothing; source.ts and fleet-source.ts reconnect and
// report it.
import type { RequestRow } from "../../protocol/requests.ts";
import type { ChangeView, EventsPage, SessionView } from "../../protocol/views.ts";
import type { QueueReply, RequestsReply, SessionsReply, StreamItem } from "../http/types.ts";

/**
 * Every method rejects with an Error that has a `code`: the daemon's (`session_unknown`, `unauthorized`) or that of the
 * connection (`connection_lost`, `no_daemon`, `aborted`). Its message is shown to the user.
 */
export interface ViewPort {
  /** Most recently active first; `next` is the `after` of the next page. */
  sessionsPage(page: { limit: number; after?: string }): Promise<SessionsReply>;
  session(session_id: string): Promise<SessionView>;
  /** One page after `since_seq`, oldest first, up to 1,000 events. */
  events(
    session_id: string,
    options: { since_seq: number; limit: number; signal: AbortSignal },
  ): Promise<EventsPage>;
  /** Events after `since_seq`. Throws if the connection is lost, ends after `closed`; on abort it may do either. */
  follow(
    session_id: string,
    options: { since_seq: number; signal: AbortSignal; onOpen: () => void },
  ): AsyncIterable<StreamItem>;
  /** Changes of all sessions. The first item is `reset`: nothing after it is missed. Otherwise like `follow`. */
  changes(signal: AbortSignal): AsyncIterable<ChangeView>;
  /** One page of pending requests, oldest first, of one or all sessions. */
  requests(filter: { session_id?: string; after?: string }): Promise<RequestsReply>;
  /** In full, in any state. */
  request(session_id: string, request_id: string): Promise<RequestRow>;
  queue(session_id: string): Promise<QueueReply>;
}

export type {
  ChangeView,
  EventsPage,
  QueueReply,
  RequestRow,
  RequestsReply,
  SessionsReply,
  SessionView,
  StreamItem,
};
