// The part of the client that session handles use. Separate to avoid an import cycle.
import type { Inbound } from "../protocol/wire/blemees2.ts";
import type { Reply, RequestFrame } from "./frames.ts";
import type { SessionStream } from "./stream.ts";

export interface OpenOptions {
  /** Default: a UUID. Some agents accept nothing else. */
  session_id?: string;
  backend: string;
  /** Backend-specific options, sent as `options.<backend>`. */
  options?: Record<string, unknown>;
  resume?: boolean;
  last_seen_seq?: number;
  /** Who may answer the agent's requests: only this client (default) or any. Stored with the session. */
  answers?: "owner" | "any";
}

export type AttachType = "blemeesd.open" | "blemeesd.watch";

/** An attached session: where its frames go and how to reattach it. */
export interface Attachment {
  stream: SessionStream;
  /** The frame that reattaches it after `last_seen_seq`. */
  again(last_seen_seq: number): Inbound<AttachType>;
}

export interface AttachOrder<T extends AttachType> {
  session_id: string;
  /** Frames after this seq are new; undefined: only those after the reply. */
  cursor: number | undefined;
  first: Inbound<T>;
  again: Attachment["again"];
}

export interface Port {
  /** Resolves with the reply; an error frame becomes a CodedError with the same code. */
  request<F extends RequestFrame>(frame: F): Promise<Reply<F["type"]>>;
  /** Sends a frame that has no reply. `before` runs in the same tick as the write. */
  write(frame: object, before?: () => void): Promise<void>;
  attach<T extends AttachType>(order: AttachOrder<T>): Promise<{ stream: SessionStream; reply: Reply<T> }>;
  /** Releases the session. */
  forget(session_id: string): void;
}
