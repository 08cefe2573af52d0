// The interface between servers and sessions. Names no vendor and no wire protocol.
import type { SeqBatch } from "../base/ring.ts";
import type { UserMessage } from "../protocol/content.ts";
import type { RequestRow } from "../protocol/requests.ts";
import type { SessionSummary } from "../protocol/session.ts";
import type { Usage } from "../protocol/usage.ts";
import type { Responded } from "./requests/frames.ts";
import type { RespondOrder } from "./requests/types.ts";
import type { Caller } from "./rights/caller.ts";

/** One client as the sessions see it; created by a connection. */
export interface Client {
  /** Unique: identifies the owner. */
  readonly id: string;
  readonly peer_pid?: number | undefined;
  /** The client disconnected; its last calls are no longer carried out. */
  readonly isGone?: boolean;
}

/** Frames of one session, ready for the wire. Frames that could not be stored have no seq: last_seq is 0. */
export interface Batch extends SeqBatch {
  readonly session_id: string;
}

/** One client's subscription to one session. Nothing here waits: a slow reader sets `isFull` and is fed later. */
export interface Subscriber {
  write(batch: Batch): void;
  isFull(): boolean;
  /** Frames after `since_seq` have been pruned; the next one is `first_available_seq`. */
  gap(since_seq: number, first_available_seq: number): void;
  /** It was too slow for the live stream and now reads from the store. */
  lagging(since_seq: number, last_seq: number): void;
  /** Another client has taken over the session. */
  taken(by_peer_pid: number | undefined): void;
  /** The session was closed. */
  closed(reason: string): void;
}

/** A subscription. Nothing is delivered before `start`, so that the reply to the request goes first. */
export interface Attachment {
  start(): void;
  /** The subscriber has room again. */
  onDrain(): void;
  /** Nothing more will be delivered. */
  readonly isOver: boolean;
}

export interface OpenOrder {
  session_id: string;
  backend: string;
  resume: boolean;
  last_seen_seq?: number;
  /** Which clients may answer requests, from now on. */
  answers?: "owner" | "any";
  /** The client's `options.<backend>` block; absent when the frame has none. */
  options?: Record<string, unknown>;
  /** The project of the directory in `options`. */
  project?: string;
  /** If the session is new: whose agent opens it. */
  parent?: string;
  /** Names of option blocks for other backends, to detect typos. */
  otherBlocks?: readonly string[];
}

export interface Opened {
  session_id: string;
  backend: string;
  last_seq: number;
  subprocess_pid?: number;
  native_session_id?: string;
  attachment: Attachment;
}

export interface SessionInfo {
  session_id: string;
  backend: string;
  native_session_id: string;
  model?: string;
  cwd?: string;
  turns: number;
  last_turn_at_ms?: number;
  last_turn_usage: Usage;
  cumulative_usage: Usage;
  context_tokens: number;
  attached: boolean;
  subprocess_running: boolean;
  last_seq: number;
}

export interface SessionCounts {
  total: number;
  attached: number;
  detached: number;
  active_turns: number;
  by_backend: Record<string, number>;
}

/** The sessions as a server sees them. Errors are CodedErrors of protocol/errors.ts. */
export interface Hub {
  open(client: Client, subscriber: Subscriber, order: OpenOrder): Promise<Opened>;
  send(client: Client, session_id: string, message: UserMessage): Promise<void>;
  /** `acknowledged` is called before the turn's result is published. */
  interrupt(client: Client, session_id: string, acknowledged: (was_idle: boolean) => void): Promise<void>;
  close(client: Client, session_id: string, how: CloseOrder): Promise<void>;
  watch(
    client: Client,
    subscriber: Subscriber,
    session_id: string,
    last_seen_seq: number | undefined,
  ): Promise<{ last_seq: number; attachment: Attachment }>;
  unwatch(client: Client, session_id: string): Promise<boolean>;
  /** Answers a request. Returns the answer that counts: this one, or an earlier one (`repeated`). */
  respond(client: Client, order: RespondOrder): Promise<Responded>;
  /** A page of pending requests, oldest first. */
  requests(filter: RequestsFilter): Promise<RequestsPage>;
  /** One request in full, in any state. Without `session_id`, only pending ones are found. */
  request(session_id: string | undefined, request_id: string): Promise<RequestRow | undefined>;
  /** The client disconnected: its sessions finish their turn and wait to be resumed. */
  detach(client: Client): void;
  list(filter: { cwd?: string; live?: boolean }): Promise<SessionSummary[]>;
  info(session_id: string): Promise<SessionInfo>;
  counts(): SessionCounts;
  /** The same for one caller, limited to its rights. */
  as(caller: Caller): Hub;
}

export interface RequestsFilter {
  session_id?: string;
  /** Only of these sessions. */
  session_ids?: ReadonlySet<string>;
  /** Also those whose agent is gone. */
  orphaned?: boolean;
  /** Also settled ones. */
  settled?: boolean;
  /** Page size; fewer if they are large. */
  limit?: number;
  /** The `next` of the previous page. */
  after?: string;
}

export interface RequestsPage {
  requests: RequestRow[];
  /** There are more after this. */
  next?: string;
}

export interface CloseOrder {
  delete: boolean;
  /** Also removes the agent's own transcript. */
  deleteTranscript: boolean;
}
