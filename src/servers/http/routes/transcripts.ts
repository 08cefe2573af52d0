// Routes of sessions that were started outside: the agents' own transcripts. `POST /sessions` continues one.
import * as z from "zod";
import { defined } from "../../../base/values.ts";
import { TranscriptPage, TranscriptsReply, TranscriptView } from "../../../protocol/transcripts.ts";
import { Cursor, defineWholeNumber, Flag } from "../query.ts";
import { defineJsonReply, type Route, route } from "../route.ts";

const ACTION = "read conversations from outside";
const AGENT = z.string().optional().describe("A backend, or the provider `codex-app`. Default: all.");

export const TRANSCRIPT_ROUTES: readonly Route[] = [
  route({
    method: "get",
    path: "/transcripts",
    name: "list_transcripts",
    summary:
      "Sessions that were started outside: the agents' own transcripts without those of sessions here, most recently active first.",
    sightOnly: ACTION,
    query: z.strictObject({
      agent: AGENT,
      project: z
        .string()
        .max(4_096)
        .optional()
        .describe("A project: its directory, or the last part of that. Worktrees count to their repository."),
      active_after_ms: Cursor.optional().describe("Last active at this time or later."),
      active_before_ms: Cursor.optional().describe("Last active before this time."),
      prefix: z.string().max(128).optional().describe("The start of the id."),
      limit: defineWholeNumber(1, 1_000).optional().describe("Maximum number (default 100)."),
      after: z.string().min(1).max(500).optional().describe("`next` of the previous page."),
    }),
    replies: { 200: defineJsonReply("The transcripts.", "TranscriptsReply", TranscriptsReply) },
    errors: ["unknown_backend"],
    handle: async ({ query: { agent, limit = 100, ...filter } }, { transcripts }) => ({
      body: await transcripts.list({ ...defined(filter), limit, ...toBackend(agent) }),
    }),
  }),
  route({
    method: "get",
    path: "/transcripts/{id}",
    name: "show_transcript",
    summary: "One transcript.",
    sightOnly: ACTION,
    query: z.strictObject({ agent: AGENT }),
    replies: { 200: defineJsonReply("The transcript.", "TranscriptView", TranscriptView) },
    errors: ["transcript_unknown", "unknown_backend"],
    handle: async ({ param, query }, { transcripts }) => ({
      body: await transcripts.view(param("id"), query.agent),
    }),
  }),
  route({
    method: "get",
    path: "/transcripts/{id}/events",
    name: "transcript_events",
    summary:
      "What was said and done in a transcript, in the form of a session's events. `seq` counts from 1.",
    sightOnly: ACTION,
    query: z.strictObject({
      agent: AGENT,
      since_seq: Cursor.optional().describe("Events after this one (default 0: from the start)."),
      limit: defineWholeNumber(1, 2_000).optional().describe("Maximum number (default 500)."),
      tail: Flag.optional().describe("Instead the last `limit` events."),
    }),
    replies: { 200: defineJsonReply("The events.", "TranscriptPage", TranscriptPage) },
    errors: ["transcript_unknown", "unknown_backend"],
    handle: async ({ param, query }, { transcripts }) => {
      const { agent, since_seq = 0, limit = 500, tail = false } = query;
      const order = { since_seq, limit, isTail: tail, ...toBackend(agent) };
      return { body: await transcripts.events(param("id"), order) };
    },
  }),
];

function toBackend(agent: string | undefined): { backend?: string } {
  return agent === undefined ? {} : { backend: agent };
}
