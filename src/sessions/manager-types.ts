// What a manager of sessions may ask. Nobody owns anything here: whoever reaches it is the user.
// Errors are CodedErrors of protocol/errors.ts. A session that is not in memory is found in the store.
import type { Action } from "../protocol/actions.ts";
import type { UserMessage } from "../protocol/content.ts";
import type { InputRecord, QueuedMessage } from "../protocol/queue.ts";
import type { RequestRow } from "../protocol/requests.ts";
import type { Budget, FilterState } from "../protocol/session.ts";
import type { Stats } from "../protocol/stats.ts";
import type { ChangeView, EventsPage, SessionView, WaitReply } from "../protocol/views.ts";
import type { RespondOrder } from "./requests/ledger.ts";
import type { Responded } from "./requests/words.ts";
import type { Attachment, Client, RequestsFilter, RequestsPage, Subscriber } from "./types.ts";

export interface SpawnOrder {
  backend: string;
  session_id?: string;
  message?: UserMessage;
  cwd?: string;
  model?: string;
  name?: string;
  parent?: string;
  options?: Record<string, unknown>;
  approvals?: boolean;
  budget?: Budget;
  wakes_parent?: boolean;
  notify_url?: string;
  key?: string;
}

export interface InputOrder {
  session_id: string;
  message: UserMessage;
  now?: boolean;
  key?: string;
  /** The session whose agent sends it. */
  from?: string;
}

export interface ViewFilter {
  backend?: string;
  parent?: string;
  name?: string;
  cwd?: string;
  state?: readonly FilterState[];
  /** Only those that are in memory. */
  live?: boolean;
  /** The most recently active ones. */
  limit?: number;
}

export interface EventsOrder {
  session_id: string;
  since_seq: number;
  limit: number;
  /** How long to wait for the first event behind the cursor; 0 answers at once. */
  waitMs: number;
  include_unpersisted?: boolean;
  signal?: AbortSignal;
}

export interface WaitOrder {
  session_id: string;
  /** `idle`: no turn, nothing queued. `blocked`: something is asked. Stopped and unknown end the wait too. */
  until: readonly ("idle" | "blocked")[];
  /** Instead: until this message's turn has ended. */
  message_id?: string;
  timeoutMs: number;
  signal?: AbortSignal;
}

export interface StatsOrder {
  /** What ended before is left out. */
  since_ms: number;
  /** Only of this session. */
  session_id?: string;
  /** Of each list, the newest. */
  limit: number;
}

export interface Manager {
  spawn(order: SpawnOrder): Promise<{ session: SessionView; message_id?: string; repeated: boolean }>;
  views(filter: ViewFilter): Promise<SessionView[]>;
  view(session_id: string): Promise<SessionView>;
  /** A session and everything below it, parents before children. */
  family(session_id: string): Promise<{ depth: number; session: SessionView }[]>;
  rename(session_id: string, name: string | null): Promise<SessionView>;
  /** Throws `pending_structured_request` while something is asked, `queue_full`, `idempotency_mismatch`. */
  input(order: InputOrder): Promise<{ input: InputRecord; position: number; repeated: boolean }>;
  queue(session_id: string): Promise<{ queued: QueuedMessage[]; recent: InputRecord[]; held?: string }>;
  cancelInput(session_id: string, message_id: string): Promise<InputRecord>;
  /** `by`: the session whose agent asks for it. */
  interrupt(session_id: string, by?: string): Promise<{ was_idle: boolean }>;
  /** Ends the agents; history and queue stay. Gives the ids of what was ended. */
  stop(session_id: string, how: { tree: boolean; by?: string }): Promise<string[]>;
  /** Ends and forgets for good: history, queue, requests. */
  remove(session_id: string, how: { tree: boolean; by?: string }): Promise<string[]>;
  events(order: EventsOrder): Promise<EventsPage>;
  /** As `Hub.watch`, also for a session that is not in memory. */
  watch(
    client: Client,
    subscriber: Subscriber,
    session_id: string,
    since_seq: number | undefined,
  ): Promise<{
    last_seq: number;
    /** Frames behind `since_seq` could not be stored, and are gone for who was not there. */
    hasLost: boolean;
    attachment: Attachment;
    end(): void;
  }>;
  wait(order: WaitOrder): Promise<WaitReply>;
  respond(order: RespondOrder): Promise<Responded>;
  /** `tree`: also those of all sessions below it. */
  requests(filter: RequestsFilter & { tree?: boolean }): Promise<RequestsPage>;
  request(session_id: string | undefined, request_id: string): Promise<RequestRow | undefined>;
  actions(session_id: string, limit: number): Promise<Action[]>;
  stats(order: StatsOrder): Promise<Stats>;
  /** Changes of all sessions from now on; a listener never waits or throws. Gives what ends it. */
  onChange(listener: (change: ChangeView) => void): () => void;
}
