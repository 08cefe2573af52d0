// What a view needs of the daemon, whoever brings it: the HTTP client on the Unix socket in a terminal, fetch in a
// browser. A port tries nothing again: source.ts and fleet-source.ts do, and tell of it.
import type { RequestRow } from "../../protocol/requests.ts";
import type { ChangeView, EventsPage, SessionView } from "../../protocol/views.ts";
import type { QueueReply, RequestsReply, StreamItem } from "../http/types.ts";

/**
 * Every method rejects with an Error that has a `code`: the daemon's own (`session_unknown`, `unauthorized`), or what
 * became of the connection (`connection_lost`, `no_daemon`, `aborted`); its message is shown to people.
 */
export interface ViewPort {
  sessions(): Promise<SessionView[]>;
  session(session_id: string): Promise<SessionView>;
  /** One page behind `since_seq`, oldest first; the daemon gives at most 1,000 at once. */
  events(
    session_id: string,
    options: { since_seq: number; limit: number; signal: AbortSignal },
  ): Promise<EventsPage>;
  /** What follows `since_seq`. Throws when the connection is cut, ends behind `closed`; after an abort it may do either. */
  follow(
    session_id: string,
    options: { since_seq: number; signal: AbortSignal; onOpen: () => void },
  ): AsyncIterable<StreamItem>;
  /** What changes in any session. The first item is `reset`: from then on nothing is missed. As `follow` otherwise. */
  changes(signal: AbortSignal): AsyncIterable<ChangeView>;
  /** What waits, oldest first, one page: of one session, or of all. */
  requests(filter: { session_id?: string; after?: string }): Promise<RequestsReply>;
  /** Whole, whatever its state. */
  request(session_id: string, request_id: string): Promise<RequestRow>;
  queue(session_id: string): Promise<QueueReply>;
}

export type { ChangeView, EventsPage, QueueReply, RequestRow, RequestsReply, SessionView, StreamItem };
