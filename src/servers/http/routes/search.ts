// The route of searches over the history of all sessions.
import * as z from "zod";
import { CodedError } from "../../../base/coded-error.ts";
import { defined } from "../../../base/values.ts";
import { SEARCH_ROLES, SearchReply } from "../../../protocol/search.ts";
import { SessionId } from "../../../protocol/session.ts";
import type { SearchOrder } from "../../../sessions/index.ts";
import { Cursor, defineCommaList, defineWholeNumber } from "../query.ts";
import { defineJsonReply, type Route, route } from "../route.ts";

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

export const SearchQuery = z.strictObject({
  q: z
    .string()
    .min(1)
    .describe(
      'Words that must all occur, each at least as a part of one; `"several words"` as a phrase. No operators.',
    ),
  session_id: SessionId.optional().describe("Only this session."),
  project: z
    .string()
    .min(1)
    .max(4096)
    .optional()
    .describe("Only sessions of this project: its directory or its name."),
  agent: z.string().min(1).max(100).optional().describe("Only sessions of this agent."),
  role: defineCommaList(SEARCH_ROLES)
    .optional()
    .describe(
      "What the user wrote (`user`), the agent wrote (`agent`), tools were given and returned (`tool`); a list.",
    ),
  from: Cursor.optional().describe("Only texts stored since this time, in ms, to the hour."),
  to: Cursor.optional().describe("Only texts stored before this time, in ms, to the hour."),
  limit: defineWholeNumber(1, MAX_LIMIT)
    .optional()
    .describe(`Maximum number of hits. Default: ${DEFAULT_LIMIT}; max ${MAX_LIMIT}.`),
  after: z.string().min(1).max(100).optional().describe("`next` of the page before."),
});

export const SEARCH_ROUTES: readonly Route[] = [
  route({
    method: "get",
    path: "/search",
    name: "search",
    summary:
      "Texts of all sessions, and of conversations from outside, that have the words, best first: newer before older, what users wrote before what tools returned. A hit is at `seq` of its session's events; with `outside`, of a transcript's.",
    query: SearchQuery,
    replies: { 200: defineJsonReply("A page of hits.", "SearchReply", SearchReply) },
    errors: ["session_unknown", "search_unavailable"],
    handle: async ({ query }, { manager }) => ({ body: await manager.search(toOrder(query)) }),
  }),
];

function toOrder({ q, role, from, to, limit, ...rest }: z.infer<typeof SearchQuery>): SearchOrder {
  if (from !== undefined && to !== undefined && from >= to)
    throw new CodedError("invalid_message", "query: /from: must be before the end (to)");
  const { session_id, project, agent, after } = rest;
  return {
    query: q,
    limit: limit ?? DEFAULT_LIMIT,
    ...defined({ session_id, project, agent, after, roles: role, from_ms: from, to_ms: to }),
  };
}
