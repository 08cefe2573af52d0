// Events and requests in the format that session managers for Codex expect, under their names for the routes.

import { RespondBody } from "../../../protocol/wire/http.ts";
import {
  CodexEventsPage,
  CodexRequestsReply,
  CodexRespondReply,
  toCodexEvents,
  toCodexRequest,
} from "../../../protocol/wire/http-codex.ts";
import { defineJsonReply, type Route, route } from "../route.ts";
import { EventsQuery, readEvents } from "./events.ts";
import { listRequests, PageQuery, RESPOND_ERRORS, respond } from "./requests.ts";

export const CODEX_ROUTES: readonly Route[] = [
  route({
    method: "get",
    path: "/sessions/{id}/codex-events",
    name: "codex_events",
    summary: "Like `/events`, in the session-manager format. No streaming.",
    query: EventsQuery,
    replies: { 200: defineJsonReply("A page.", "CodexEventsPage", CodexEventsPage) },
    errors: ["session_unknown"],
    handle: async (call, services) => ({ body: toCodexEvents(await readEvents(call, services)) }),
  }),
  route({
    method: "get",
    path: "/sessions/{id}/codex-pending-requests",
    name: "codex_pending_requests",
    summary: "Like `/requests`, in the session-manager format.",
    query: PageQuery,
    replies: { 200: defineJsonReply("A page of requests.", "CodexRequestsReply", CodexRequestsReply) },
    errors: ["session_unknown"],
    handle: async ({ param, query }, services) => {
      const { requests, sessions: _askers, ...rest } = await listRequests(param("id"), query, services);
      return { body: { requests: requests.map(toCodexRequest), ...rest } };
    },
  }),
  route({
    method: "post",
    path: "/sessions/{id}/codex-requests/{request_id}/respond",
    name: "codex_respond",
    summary: "Like `/requests/{request_id}/respond`, in the session-manager format.",
    body: { name: "RespondBody", schema: RespondBody },
    replies: { 200: defineJsonReply("The stored answer.", "CodexRespondReply", CodexRespondReply) },
    errors: RESPOND_ERRORS,
    handle: async (call, services) => {
      const { request, ...rest } = await respond(call, services, "api");
      return { body: { request: toCodexRequest(request), ...rest } };
    },
  }),
];
