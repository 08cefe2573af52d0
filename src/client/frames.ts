// Frame types, derived from the schemas. Types only: loading zod would slow down short-lived programs.
import type * as z from "zod";
import type { ContentBlock, UserMessage } from "../protocol/content.ts";
import type { AgentEvent, ResultEvent } from "../protocol/events.ts";
import type { FEATURES, Inbound, InboundType, PROTOCOL } from "../protocol/wire/blemees2.ts";
import type { OUTBOUND } from "../protocol/wire/blemees2-outbound.ts";

export type OutboundType = keyof typeof OUTBOUND;
/** A `blemeesd.*` frame from the daemon, by type. */
export type DaemonFrame<T extends OutboundType> = z.infer<(typeof OUTBOUND)[T]>;
export type HelloAck = DaemonFrame<"blemeesd.hello_ack">;
export type ErrorFrame = DaemonFrame<"blemeesd.error">;

/** Fields of every frame of a session's stream. `seq` is absent if the daemon could not store the frame. */
export interface Envelope {
  session_id: string;
  seq?: number | undefined;
  persisted?: false | undefined;
}
export type AgentFrame = AgentEvent & Envelope;
export type ResultFrame = ResultEvent & Envelope;

/** Created by the client after a reconnect: the daemon never received the last message; send it again. */
export interface MessageLost {
  type: "client.message_lost";
  session_id: string;
  message: string;
}

/** Everything that `events()` can yield. */
export type SessionFrame =
  | AgentFrame
  | DaemonFrame<
      | "blemeesd.stderr"
      | "blemeesd.error"
      | "blemeesd.replay_gap"
      | "blemeesd.catching_up"
      | "blemeesd.session_taken"
      | "blemeesd.session_closed"
    >
  | MessageLost;

/** An unparsed frame from the wire. */
export interface WireFrame {
  type: string;
  id?: unknown;
  session_id?: unknown;
  [key: string]: unknown;
}

/** The reply type of each request. The reply to an interrupt has no id; it is matched by session. */
export interface Replies {
  "blemeesd.open": "blemeesd.opened";
  "blemeesd.close": "blemeesd.closed";
  "blemeesd.interrupt": "blemeesd.interrupted";
  "blemeesd.list_sessions": "blemeesd.sessions";
  "blemeesd.ping": "blemeesd.pong";
  "blemeesd.status": "blemeesd.status_reply";
  "blemeesd.watch": "blemeesd.watching";
  "blemeesd.unwatch": "blemeesd.unwatched";
  "blemeesd.session_info": "blemeesd.session_info_reply";
  "blemeesd.list_requests": "blemeesd.requests";
  "blemeesd.respond": "blemeesd.responded";
}
export type RequestType = keyof Replies;
export type Reply<T extends RequestType> = DaemonFrame<Replies[T]>;
export type RequestFrame = { [T in RequestType]: Inbound<T> }[RequestType];
export type ClientFrame = { [T in InboundType]: Inbound<T> }[InboundType];

/** Input of `send`: a text, content blocks, or a complete message. */
export type UserInput = string | ContentBlock[] | UserMessage;

/** The schema's constant without its module; the type keeps the two equal. */
export const PROTOCOL_NAME: typeof PROTOCOL = "blemees/2";
/** Optional features we support; the daemon lists its own in `hello_ack`. */
export const FEATURE_NAMES: typeof FEATURES = ["requests"];

export function toMessage(input: UserInput): UserMessage {
  if (typeof input === "string" || Array.isArray(input)) return { role: "user", content: input };
  return input;
}
