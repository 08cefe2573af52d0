// Routes of requests and their answers.

import * as z from "zod";
import { CodedError } from "../../../base/coded-error.ts";
import { defined } from "../../../base/values.ts";
import type { AnswerSource, RequestRow } from "../../../protocol/requests.ts";
import { RequestRow as RequestRowSchema } from "../../../protocol/requests.ts";
import { RequestsReply, RespondBody, RespondReply } from "../../../protocol/wire/http.ts";
import type { Responded } from "../../../sessions/index.ts";
import type { Manager } from "../../../sessions/manager-types.ts";
import { defineWholeNumber, Flag } from "../query.ts";
import { type Call, defineJsonReply, type Route, route, type Services } from "../route.ts";

const PAGE = {
  include_orphaned: Flag.optional().describe("Include requests whose agent is gone."),
  include_settled: Flag.optional().describe("Include answered, expired and withdrawn requests."),
  limit: defineWholeNumber(1, 1_000)
    .optional()
    .describe("Maximum number; fewer are returned if they are large."),
  after: z.string().min(1).max(500).optional().describe("`next` of the previous page."),
};
export const PageQuery = z.strictObject(PAGE);
const TreeQuery = z.strictObject({
  ...PAGE,
  tree: Flag.optional().describe("Include all descendants."),
});

/** Errors of an answer. */
export const RESPOND_ERRORS = [
  "session_unknown",
  "request_unknown",
  "request_expired",
  "request_orphaned",
  "request_withdrawn",
  "request_changed",
  "invalid_answer",
  "store_failed",
] as const;

export const REQUEST_ROUTES: readonly Route[] = [
  route({
    method: "get",
    path: "/requests",
    name: "list_all_requests",
    summary: "Pending requests of all sessions, oldest first, and their sessions: all that an inbox shows.",
    query: PageQuery,
    replies: { 200: defineJsonReply("A page of requests.", "RequestsReply", RequestsReply) },
    handle: async ({ query }, { manager }) => ({ body: await manager.requests(toFilter(query)) }),
  }),
  route({
    method: "get",
    path: "/sessions/{id}/requests",
    name: "list_requests",
    summary: "Pending requests of a session, oldest first.",
    query: TreeQuery,
    replies: { 200: defineJsonReply("A page of requests.", "RequestsReply", RequestsReply) },
    errors: ["session_unknown"],
    handle: async ({ param, query }, services) => ({
      body: await listRequests(param("id"), query, services),
    }),
  }),
  route({
    method: "get",
    path: "/sessions/{id}/requests/{request_id}",
    name: "show_request",
    summary: "One complete request, in any state.",
    replies: { 200: defineJsonReply("The request.", "RequestRow", RequestRowSchema) },
    errors: ["session_unknown", "request_unknown"],
    handle: async ({ param }, { manager }) => {
      const found: RequestRow | undefined = await manager.request(param("id"), param("request_id"));
      if (found !== undefined) return { body: found };
      const message = `session ${param("id")} has no request ${param("request_id")}`;
      throw new CodedError("request_unknown", message);
    },
  }),
  route({
    method: "post",
    path: "/sessions/{id}/requests/{request_id}/respond",
    name: "respond",
    summary:
      "Answers a request: `{decision}` or `{answers}`. The first answer counts; later ones get the stored result with `repeated`.",
    body: { name: "RespondBody", schema: RespondBody },
    replies: { 200: defineJsonReply("The stored answer.", "RespondReply", RespondReply) },
    errors: RESPOND_ERRORS,
    handle: async (call, services) => ({ body: await respond(call, services) }),
  }),
];

export function respond(
  { param, body }: Call<unknown, z.infer<typeof RespondBody>>,
  { manager }: Services,
  unsaid: AnswerSource = "http",
): Promise<Responded> {
  const { shown_hash, source = unsaid, ...answer } = body;
  return manager.respond({
    session_id: param("id"),
    request_id: param("request_id"),
    answer,
    source,
    ...defined({ shown_hash }),
  });
}

export function listRequests(
  session_id: string,
  query: z.infer<typeof TreeQuery>,
  { manager }: Services,
): ReturnType<Manager["requests"]> {
  return manager.requests({ session_id, ...toFilter(query), ...defined({ tree: query.tree }) });
}

function toFilter({ include_orphaned, include_settled, limit, after }: z.infer<typeof PageQuery>) {
  return defined({ orphaned: include_orphaned, settled: include_settled, limit, after });
}
