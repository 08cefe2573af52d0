// Every `blemees/2` frame that a client may send, strict. schemas/*.json is generated from this table and
// blemees2-outbound.ts.
import * as z from "zod";
import { UserMessage } from "../content.ts";
import { ANSWER_SOURCES, GivenAnswer } from "../requests.ts";
import { SessionId } from "../session.ts";

export const PROTOCOL = "blemees/2";

const id = z.string().optional();
const seen = z.int().min(0).optional();
/** A strict frame of the given type. */
export const frame = <T extends string, S extends z.core.$ZodLooseShape>(type: T, shape: S) =>
  z.strictObject({ type: z.literal(type), ...shape });

/** Extensions of this daemon, sent to clients that list their own. */
export const FEATURES = ["requests"] as const;

export const INBOUND = {
  "blemeesd.hello": frame("blemeesd.hello", {
    protocol: z.string(),
    client: z.string().optional(),
    /** Extensions of the client; `hello_ack` then has `features` too. */
    features: z.array(z.string()).optional(),
  }),
  "blemeesd.open": frame("blemeesd.open", {
    id,
    session_id: SessionId,
    backend: z.string(),
    resume: z.boolean().optional(),
    last_seen_seq: seen,
    /** Who may answer requests: the owner (default) or any client. Kept until another open changes it. */
    answers: z.enum(["owner", "any"]).optional(),
    /** Options by backend name; only the chosen backend's are read, and checked by that backend. */
    options: z.record(z.string(), z.record(z.string(), z.unknown())),
  }),
  "agent.user": frame("agent.user", { session_id: SessionId, message: UserMessage }),
  "blemeesd.interrupt": frame("blemeesd.interrupt", { session_id: SessionId }),
  "blemeesd.close": frame("blemeesd.close", { id, session_id: SessionId, delete: z.boolean().optional() }),
  "blemeesd.list_sessions": frame("blemeesd.list_sessions", {
    id,
    cwd: z.string().min(1).optional(),
    live: z.boolean().optional(),
  }),
  "blemeesd.ping": frame("blemeesd.ping", { id, data: z.unknown().optional() }),
  "blemeesd.status": frame("blemeesd.status", { id }),
  "blemeesd.watch": frame("blemeesd.watch", { id, session_id: SessionId, last_seen_seq: seen }),
  "blemeesd.unwatch": frame("blemeesd.unwatch", { id, session_id: SessionId }),
  "blemeesd.session_info": frame("blemeesd.session_info", { id, session_id: SessionId }),
  /** Pending requests of one session, or of all. */
  "blemeesd.list_requests": frame("blemeesd.list_requests", {
    id,
    session_id: SessionId.optional(),
    /** Include requests whose agent or daemon is gone. */
    include_orphaned: z.boolean().optional(),
    /** Include answered, expired and withdrawn requests. */
    include_settled: z.boolean().optional(),
    /** Only this one, complete, in any state. A settled request is found only with `session_id`. */
    request_id: z.string().min(1).optional(),
    /** Maximum number; fewer are returned if they are large. */
    limit: z.int().min(1).max(1000).optional(),
    /** `next` of the previous page. */
    after: z.string().optional(),
  }),
  "blemeesd.respond": frame("blemeesd.respond", {
    id,
    session_id: SessionId,
    request_id: z.string().min(1),
    answer: GivenAnswer,
    /** The `shown_hash` of what the user saw; an answer to anything else is refused. */
    shown_hash: z.string().optional(),
    /** Where the answer was given: `socket` by default. */
    source: z.enum(ANSWER_SOURCES).optional(),
  }),
} as const;
export type InboundType = keyof typeof INBOUND;
export type Inbound<T extends InboundType> = z.infer<(typeof INBOUND)[T]>;
