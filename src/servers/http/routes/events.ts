// Routes of a session's history: a page behind a cursor, at once or when something comes, or a stream.
import * as z from "zod";
import { EventsPage } from "../../../protocol/wire/http.ts";
import { unlessAborted } from "../abort.ts";
import { Cursor, checkPart, Flag, seconds, wholeNumber } from "../query.ts";
import { type Call, json, type Route, route, type Services } from "../route.ts";
import { streamSession } from "../session-stream.ts";
import { given } from "./sessions.ts";

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;
const MAX_WAIT_S = 60;

export const EventsQuery = z.strictObject({
  since_seq: Cursor.optional().describe("Events behind this one; 0 is from the first one kept."),
  limit: wholeNumber(1, MAX_LIMIT).optional().describe(`At most so many (${MAX_LIMIT}); ${DEFAULT_LIMIT}.`),
  wait_s: seconds(MAX_WAIT_S).optional().describe(`How long to wait for the first event (${MAX_WAIT_S}); 0.`),
  include_unpersisted: Flag.optional().describe("Also what could not be stored, as far as it is in memory."),
});

export const EVENT_ROUTES: readonly Route[] = [
  route({
    method: "get",
    path: "/sessions/{id}/events",
    name: "events",
    summary:
      "The session's events behind a cursor. With `Accept: text/event-stream` a stream: `id` is the seq, `event` the frame's type, `data` the frame; also the events `gap`, `catching_up` and `closed`. It goes on behind `Last-Event-ID` or `since_seq`; with neither it begins now.",
    query: EventsQuery,
    replies: {
      200: { ...json("A page.", "EventsPage", EventsPage), types: ["application/json", "text/event-stream"] },
    },
    errors: ["session_unknown", "too_many_streams"],
    handle: async (call, services) => {
      if (!wantsStream(call.incoming.headers.accept)) return { body: await readEvents(call, services) };
      await streamSession(call, services, call.param("id"), cursorOf(call));
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
  return unlessAborted(manager.events({ ...order, ...given({ include_unpersisted }) }), signal);
}

function wantsStream(accept = ""): boolean {
  return accept.split(",").some((type) => type.split(";")[0]?.trim().toLowerCase() === "text/event-stream");
}

/** A reader that comes back says so in the header, and still has the first query in its address. */
function cursorOf({ incoming, query }: Call<z.infer<typeof EventsQuery>, unknown>): number | undefined {
  const last = incoming.headers["last-event-id"];
  if (last === undefined || last === "") return query.since_seq;
  return checkPart(z.strictObject({ "Last-Event-ID": Cursor }), { "Last-Event-ID": last }, "header")[
    "Last-Event-ID"
  ];
}
