// Routes of quota: the limits of accounts, and sessions that wait for one.
import * as z from "zod";
import { QuotaBody, QuotaReply } from "../../../protocol/quota.ts";
import { SessionView } from "../../../protocol/wire/http.ts";
import { defineJsonReply, type Route, route } from "../route.ts";

export const QUOTA_ROUTES: readonly Route[] = [
  route({
    method: "get",
    path: "/quota",
    name: "quota",
    summary:
      "The limits of the accounts that agents use, as last reported, and the sessions that wait for one.",
    replies: { 200: defineJsonReply("The limits.", "QuotaReply", QuotaReply) },
    handle: async (_request, { manager }) => ({ body: await manager.quota({ refresh: false }) }),
  }),
  route({
    method: "post",
    path: "/quota/refresh",
    name: "refresh_quota",
    summary:
      "Asks the running agents for their limits, one for each account and without a turn, and shows them.",
    body: { name: "NoBody", schema: z.strictObject({}) },
    replies: { 200: defineJsonReply("The limits.", "QuotaReply", QuotaReply) },
    personOnly: "ask the agents of other sessions for their limits",
    handle: async (_request, { manager }) => ({ body: await manager.quota({ refresh: true }) }),
  }),
  route({
    method: "post",
    path: "/sessions/{id}/quota",
    name: "order_quota",
    summary:
      "Ends a session's wait for a limit. `resume` delivers its messages at once; `cancel` fails the message that reached the limit.",
    body: { name: "QuotaBody", schema: QuotaBody },
    replies: { 200: defineJsonReply("The session.", "SessionView", SessionView) },
    errors: ["session_unknown", "quota_not_waiting", "not_allowed", "store_failed"],
    handle: async ({ param, body }, { manager }) => ({ body: await manager.orderQuota(param("id"), body) }),
  }),
];
