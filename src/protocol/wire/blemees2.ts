// Every frame of `blemees/2` (spec §5) that a client may send, strict. schemas/*.json is generated from this table
// and the one of blemees2-outbound.ts.
import * as z from "zod";
import { UserMessage } from "../content.ts";
import { SessionId } from "../session.ts";

export const PROTOCOL = "blemees/2";

const id = z.string().optional();
const seen = z.int().min(0).optional();
/** A strict frame of that type. */
export const frame = <T extends string, S extends z.core.$ZodLooseShape>(type: T, shape: S) =>
  z.strictObject({ type: z.literal(type), ...shape });

export const INBOUND = {
  "blemeesd.hello": frame("blemeesd.hello", { protocol: z.string(), client: z.string().optional() }),
  "blemeesd.open": frame("blemeesd.open", {
    id,
    session_id: SessionId,
    backend: z.string(),
    resume: z.boolean().optional(),
    last_seen_seq: seen,
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
} as const;
export type InboundType = keyof typeof INBOUND;
export type Inbound<T extends InboundType> = z.infer<(typeof INBOUND)[T]>;
