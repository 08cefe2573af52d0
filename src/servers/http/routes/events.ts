// Routes of a session's history: a page after a cursor, optionally waiting for new events, or a stream.

import * as z from "zod";
import { defined } from "../../../base/values.ts";
import { EventsPage } from "../../../protocol/wire/http.ts";
import { awaitUnlessAborted } from "../abort.ts";
import { Cursor, checkPart, defineSeconds, defineWholeNumber, Flag } from "../query.ts";
import { type Call, defineJsonReply, type Route, route, type Services } from "../route.ts";
import { streamSession } from "../session-stream.ts";

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;
const MAX_WAIT_S = 60;

export const EventsQuery = z.strictObject({
  since_seq: Cursor.optional().describe("Events after this one; 0 starts at the oldest stored event."),
  limit: defineWholeNumber(1, MAX_LIMIT)
    .optional()
    .describe(`Maximum number of events (default ${DEFAULT_LIMIT}, max ${MAX_LIMIT}).`),
  wait_s: defineSeconds(MAX_WAIT_S)
    .optional()
    .describe(`Seconds to wait for the first event (default 0, max ${MAX_WAIT_S}).`),
  include_unpersisted: Flag.optional().describe(
    "Include events that could not be stored and are still in memory.",
  ),
});

export const EVENT_ROUTES: readonly Route[] = [
  route({
    method: "get",
    path: "/sessions/{id}/events",
    name: "events",
    summary:
      "The session's events after a cursor. With `Accept: text/event-stream`, a stream: `id` is the seq, `event` the frame's type, `data` the frame; also the events `gap`, `catching_up` and `closed`. It starts after `Last-Event-ID` or `since_seq`, or now if neither is given.",
    query: EventsQuery,
    replies: {
      200: {
        ...defineJsonReply("A page.", "EventsPage", EventsPage),
        types: ["application/json", "text/event-stream"],
      },
    },
    errors: ["session_unknown", "too_many_streams"],
    handle: async (call, services) => {
      if (!wantsStream(call.incoming.headers.accept)) return { body: await readEvents(call, services) };
      await streamSession(call, services, call.param("id"), readCursor(call));
      return "streaming";
    },
  }),
];

export async function readEvents(
  { param, query, signal }: Call<z.infer<typeof EventsQuery>, unknown>,
  { manager }: Services,
): Promise<EventsPage> {
  const { since_seq = 0, limit = DEFAULT_LIMIT, wait_s = 0, include_unpersisted } = query;
  const order = { session_id: param("id"), since_seq, limit, waitMs: wait_s * 1000, signal };
  return awaitUnlessAborted(manager.events({ ...order, ...defined({ include_unpersisted }) }), signal);
}

function wantsStream(accept = ""): boolean {
  return accept.split(",").some((type) => type.split(";")[0]?.trim().toLowerCase() === "text/event-stream");
}

/** A reconnecting reader sends the header, but its URL still has the first query. */
function readCursor({ incoming, query }: Call<z.infer<typeof EventsQuery>, unknown>): number | undefined {
  const last = incoming.headers["last-event-id"];
  if (last === undefined || last === "") return query.since_seq;
  return checkPart(z.strictObject({ "Last-Event-ID": Cursor }), { "Last-Event-ID": last }, "header")[
    "Last-Event-ID"
  ];
}
