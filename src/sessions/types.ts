// What the servers give to the sessions and get from them. No vendor and no wire is named here.
import type { SeqBatch } from "../base/ring.ts";
import type { UserMessage } from "../protocol/content.ts";
import type { RequestRow } from "../protocol/requests.ts";
import type { SessionSummary } from "../protocol/session.ts";
import type { Usage } from "../protocol/usage.ts";
import type { RespondOrder } from "./requests/ledger.ts";
import type { Responded } from "./requests/words.ts";

/** One client as the sessions see it; a connection makes one. */
export interface Client {
  /** No other client has it: the sessions know their owner by it. */
  readonly id: string;
  readonly peer_pid?: number | undefined;
  /** It went away; what it asked for last is not carried out any more. */
  readonly isGone?: boolean;
}

/** Frames of one session, ready for the wire. Frames that could not be stored have no seq: last_seq is 0. */
export interface Batch extends SeqBatch {
  readonly session_id: string;
}

/** One client's ear on one session. Nothing here waits: a slow reader says `isFull` and is fed later. */
export interface Subscriber {
  write(batch: Batch): void;
  isFull(): boolean;
  /** Frames behind `since_seq` are gone; the next one is `first_available_seq`. */
  gap(since_seq: number, first_available_seq: number): void;
  /** It was too slow for the live stream and is now fed from the log. */
  lagging(since_seq: number, last_seq: number): void;
  /** Another client has taken the session over. */
  taken(by_peer_pid: number | undefined): void;
  /** The session was closed. */
  closed(reason: string): void;
}

/** A subscription. Nothing is delivered before `start`, so that the reply to the request goes first. */
export interface Attachment {
  start(): void;
  /** The subscriber has room again. */
  drained(): void;
  /** Nothing will come any more. */
  readonly isOver: boolean;
}

export interface OpenOrder {
  session_id: string;
  backend: string;
  resume: boolean;
  last_seen_seq?: number;
  /** Who may answer requests, from now on. */
  answers?: "owner" | "any";
  /** The client's `options.<backend>` block; absent when the frame has none. */
  options?: Record<string, unknown>;
  /** Names of the option blocks for other backends, to catch a misspelt one. */
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

/** All that a server sees of the sessions. Errors are CodedErrors of protocol/errors.ts. */
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
  /** Answers what an agent asked. The answer that counts comes back: this one, or an earlier one (`repeated`). */
  respond(client: Client, order: RespondOrder): Promise<Responded>;
  /** A page of what agents wait for, oldest first. */
  requests(filter: RequestsFilter): Promise<RequestsPage>;
  /** One request, whole, whatever its state. Without `session_id` only one that waits is found. */
  request(session_id: string | undefined, request_id: string): Promise<RequestRow | undefined>;
  /** The client is gone: its sessions finish their turn and wait for somebody to resume them. */
  detach(client: Client): void;
  list(filter: { cwd?: string; live?: boolean }): Promise<SessionSummary[]>;
  info(session_id: string): Promise<SessionInfo>;
  counts(): SessionCounts;
}

export interface RequestsFilter {
  session_id?: string;
  /** Only of these sessions. */
  session_ids?: ReadonlySet<string>;
  /** Also those whose agent is gone. */
  orphaned?: boolean;
  /** Also those that were answered, expired or taken back. */
  settled?: boolean;
  /** At most so many; fewer when they are large. */
  limit?: number;
  /** Where the last page stopped: its `next`. */
  after?: string;
}

export interface RequestsPage {
  requests: RequestRow[];
  /** There are more behind this. */
  next?: string;
}

export interface CloseOrder {
  delete: boolean;
  /** Also remove the agent's own transcript (blemees/1 §5.8). */
  deleteTranscript: boolean;
}
