// Inbound frames of the older pass-through dialect `blemees/1`, where they differ from blemees/2: options are top-level
// fields of `open`, and the user's message is `claude.user`.
import * as z from "zod";
import { UserMessage } from "../content.ts";
import { SessionId } from "../session.ts";
import { INBOUND as INBOUND2 } from "./blemees2.ts";

export const PROTOCOL = "blemees/1";

/** Top-level fields of a `blemees/1` open that are not agent options. */
export const OPEN_FIELDS = ["type", "id", "session_id", "resume", "last_seen_seq"] as const;

/** The user's message is `claude.user`; `agent.user` is unknown here. */
const {
  "agent.user": _newer,
  "blemeesd.list_requests": _list,
  "blemeesd.respond": _respond,
  ...SAME
} = INBOUND2;

export const INBOUND = {
  ...SAME,
  /** Loose: everything else is an option, checked by the Claude backend. */
  "blemeesd.open": z.looseObject({
    type: z.literal("blemeesd.open"),
    id: z.string().optional(),
    session_id: SessionId,
    resume: z.boolean().optional(),
    last_seen_seq: z.int().min(0).optional(),
  }),
  "claude.user": z.strictObject({
    type: z.literal("claude.user"),
    session_id: SessionId,
    message: UserMessage,
  }),
} as const;
