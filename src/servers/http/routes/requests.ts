// Routes of what agents ask and what is answered.
import * as z from "zod";
import { CodedError } from "../../../base/coded-error.ts";
import type { AnswerSource, RequestRow } from "../../../protocol/requests.ts";
import { RequestRow as RequestRowSchema } from "../../../protocol/requests.ts";
import { RequestsReply, RespondBody, RespondReply } from "../../../protocol/wire/http.ts";
import type { RequestsPage, Responded } from "../../../sessions/index.ts";
import { Flag, wholeNumber } from "../query.ts";
import { type Call, json, type Route, route, type Services } from "../route.ts";
import { given } from "./sessions.ts";

const PAGE = {
  include_orphaned: Flag.optional().describe("Also those whose agent is gone."),
  include_settled: Flag.optional().describe("Also those that were answered, expired or taken back."),
  limit: wholeNumber(1, 1_000).optional().describe("At most so many; fewer when they are large."),
  after: z.string().min(1).max(500).optional().describe("`next` of the page before."),
};
export const PageQuery = z.strictObject(PAGE);
const TreeQuery = z.strictObject({
  ...PAGE,
  tree: Flag.optional().describe("Also those of all sessions below it."),
});

/** What an answer may be refused with. */
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
    summary: "What the agents of all sessions wait for, oldest first.",
    query: PageQuery,
    replies: { 200: json("A page of requests.", "RequestsReply", RequestsReply) },
    handle: async ({ query }, { manager }) => ({ body: await manager.requests(filterOf(query)) }),
  }),
  route({
    method: "get",
    path: "/sessions/{id}/requests",
    name: "list_requests",
    summary: "What the session's agent waits for, oldest first.",
    query: TreeQuery,
    replies: { 200: json("A page of requests.", "RequestsReply", RequestsReply) },
    errors: ["session_unknown"],
    handle: async ({ param, query }, services) => ({
      body: await listRequests(param("id"), query, services),
    }),
  }),
  route({
    method: "get",
    path: "/sessions/{id}/requests/{request_id}",
    name: "show_request",
    summary: "One request, whole, whatever its state.",
    replies: { 200: json("The request.", "RequestRow", RequestRowSchema) },
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
      "Answers a request: `{decision}` or `{answers}`. The first answer counts; a later one gets the stored result, `repeated`.",
    body: { name: "RespondBody", schema: RespondBody },
    replies: { 200: json("The answer that counts.", "RespondReply", RespondReply) },
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
    ...given({ shown_hash }),
  });
}

export function listRequests(
  session_id: string,
  query: z.infer<typeof TreeQuery>,
  { manager }: Services,
): Promise<RequestsPage> {
  return manager.requests({ session_id, ...filterOf(query), ...given({ tree: query.tree }) });
}

function filterOf({ include_orphaned, include_settled, limit, after }: z.infer<typeof PageQuery>) {
  return given({ orphaned: include_orphaned, settled: include_settled, limit, after });
}
