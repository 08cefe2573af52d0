// Every frame of `blemees/2` (spec §5) that a client may send, strict. schemas/*.json is generated from this table
// and the one of blemees2-outbound.ts.
import * as z from "zod";
import { UserMessage } from "../content.ts";
import { ANSWER_SOURCES, GivenAnswer } from "../requests.ts";
import { SessionId } from "../session.ts";

export const PROTOCOL = "blemees/2";

const id = z.string().optional();
const seen = z.int().min(0).optional();
/** A strict frame of that type. */
export const frame = <T extends string, S extends z.core.$ZodLooseShape>(type: T, shape: S) =>
  z.strictObject({ type: z.literal(type), ...shape });

/** What this daemon can do beyond the specification; told to a client that names features of its own. */
export const FEATURES = ["requests"] as const;

export const INBOUND = {
  "blemeesd.hello": frame("blemeesd.hello", {
    protocol: z.string(),
    client: z.string().optional(),
    /** What the client can do beyond the specification; `hello_ack` then has `features` too. */
    features: z.array(z.string()).optional(),
  }),
  "blemeesd.open": frame("blemeesd.open", {
    id,
    session_id: SessionId,
    backend: z.string(),
    resume: z.boolean().optional(),
    last_seen_seq: seen,
    /** Who may answer what the agent asks: the owner (default), or every client. Kept until another open says. */
    answers: z.enum(["owner", "any"]).optional(),
    /** Blocks by backend name; only the chosen backend's block is read, and checked by that backend. */
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
  /** What agents wait for. Of one session, or of all. */
  "blemeesd.list_requests": frame("blemeesd.list_requests", {
    id,
    session_id: SessionId.optional(),
    /** Also those that no agent waits for any more because the daemon or the agent ended. */
    include_orphaned: z.boolean().optional(),
    /** Also those that were answered, expired or taken back. */
    include_settled: z.boolean().optional(),
    /** Only this one, whole, whatever its state. One that waits no more is found only with `session_id`. */
    request_id: z.string().min(1).optional(),
    /** At most so many; fewer come when they are large. */
    limit: z.int().min(1).max(1000).optional(),
    /** Where the last answer stopped: its `next`. */
    after: z.string().optional(),
  }),
  "blemeesd.respond": frame("blemeesd.respond", {
    id,
    session_id: SessionId,
    request_id: z.string().min(1),
    answer: GivenAnswer,
    /** The `shown_hash` of what the person saw; an answer to something else is refused. */
    shown_hash: z.string().optional(),
    /** Where the answer was given: `socket` by default. */
    source: z.enum(ANSWER_SOURCES).optional(),
  }),
} as const;
export type InboundType = keyof typeof INBOUND;
export type Inbound<T extends InboundType> = z.infer<(typeof INBOUND)[T]>;
