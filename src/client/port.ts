// What a session's handle needs of the client. It stands apart so that handles and client do not import each
// other.
import type { Inbound } from "../protocol/wire/blemees2.ts";
import type { Reply, RequestFrame } from "./frames.ts";
import type { SessionStream } from "./stream.ts";

export interface OpenOptions {
  /** A UUID by default; some agents take nothing else. */
  session_id?: string;
  backend: string;
  /** The backend's own options: what goes into `options.<backend>`. */
  options?: Record<string, unknown>;
  resume?: boolean;
  last_seen_seq?: number;
  /** Who may answer what the agent asks: only we (default), or every client. The daemon keeps it with the session. */
  answers?: "owner" | "any";
}

export type AttachType = "blemeesd.open" | "blemeesd.watch";

/** Something attached to the daemon: where its frames go, and how to attach it again. */
export interface Attachment {
  stream: SessionStream;
  /** The frame that attaches it from `last_seen_seq` on. */
  again(last_seen_seq: number): Inbound<AttachType>;
}

export interface AttachOrder<T extends AttachType> {
  session_id: string;
  /** The seq behind which frames are new; undefined: whatever comes after the reply. */
  cursor: number | undefined;
  first: Inbound<T>;
  again: Attachment["again"];
}

export interface Port {
  /** Sends a request and gives its reply; the daemon's error becomes a CodedError with its code. */
  request<F extends RequestFrame>(frame: F): Promise<Reply<F["type"]>>;
  /** Sends a frame that has no reply. `before` runs in the same tick as the write. */
  write(frame: object, before?: () => void): Promise<void>;
  attach<T extends AttachType>(order: AttachOrder<T>): Promise<{ stream: SessionStream; reply: Reply<T> }>;
  /** The session is done with. */
  forget(session_id: string): void;
}
