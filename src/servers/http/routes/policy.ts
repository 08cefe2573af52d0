// Routes of the rules for approvals, and of the audit. Not for agents: they must not change what they are asked about.

import * as z from "zod";
import { checkChainFiles } from "../../../base/chain/files.ts";
import { CodedError } from "../../../base/coded-error.ts";
import { PolicyPreview, PolicyRule, PolicyVerdict, PolicyView, RuleView } from "../../../protocol/policy.ts";
import type { RequestRow } from "../../../protocol/requests.ts";
import { AuditReply, AuditReport, SuggestionsReply } from "../../../protocol/wire/http.ts";
import { AUDIT_NAME, type Policy, readAudit } from "../../../sessions/index.ts";
import { defineWholeNumber } from "../query.ts";
import { type Call, defineJsonReply, type Route, route, type Services } from "../route.ts";

const CHANGE = "read or change the policy";
const AUDIT = "read the audit";
/** Checked by the policy, so that the error names the rules file and the rule. */
const RuleBody = z.looseObject({ id: z.string() });

export const POLICY_ROUTES: readonly Route[] = [
  route({
    method: "get",
    path: "/policy",
    name: "show_policy",
    summary: "The rules for approvals, with their state and uses.",
    personOnly: CHANGE,
    replies: { 200: defineJsonReply("The rules.", "PolicyView", PolicyView) },
    handle: async (_call, services) => ({ body: await requirePolicy(services).view() }),
  }),
  route({
    method: "post",
    path: "/policy/rules",
    name: "add_rule",
    summary: "Adds a rule, a `PolicyRule`. It applies to requests from now on, not to pending ones.",
    personOnly: CHANGE,
    body: { name: "PolicyRule", schema: RuleBody },
    replies: { 201: defineJsonReply("The rule.", "RuleView", RuleView) },
    errors: ["policy_invalid", "rule_exists"],
    handle: async ({ body }, services) => ({
      status: 201,
      body: await requirePolicy(services).add(body, "person"),
    }),
  }),
  route({
    method: "delete",
    path: "/policy/rules/{rule_id}",
    name: "remove_rule",
    summary: "Removes a rule.",
    personOnly: CHANGE,
    replies: { 200: defineJsonReply("The rule that was removed.", "PolicyRule", PolicyRule) },
    errors: ["policy_invalid", "rule_unknown"],
    handle: async ({ param }, services) => ({
      body: await requirePolicy(services).remove(param("rule_id"), "person"),
    }),
  }),
  route({
    method: "post",
    path: "/policy/preview",
    name: "preview_rule",
    summary:
      "Which of the latest 500 requests a rule would have decided, with files as they are now. Saves nothing.",
    personOnly: CHANGE,
    body: { name: "PolicyRule", schema: RuleBody },
    replies: { 200: defineJsonReply("The rule and its matches.", "PolicyPreview", PolicyPreview) },
    errors: ["policy_invalid"],
    handle: async ({ body }, services) => ({ body: await requirePolicy(services).preview(body) }),
  }),
  route({
    method: "get",
    path: "/sessions/{id}/requests/{request_id}/policy",
    name: "explain_request",
    summary:
      "What the rules say about a request now, whatever its state: the decision, and each rule's reason.",
    personOnly: CHANGE,
    replies: { 200: defineJsonReply("The decision.", "PolicyVerdict", PolicyVerdict) },
    errors: ["session_unknown", "request_unknown"],
    handle: async (call, services) => ({
      body: await requirePolicy(services).explain(await findRequest(call, services)),
    }),
  }),
  route({
    method: "get",
    path: "/sessions/{id}/requests/{request_id}/rules",
    name: "suggest_rules",
    summary:
      "Rules that would have given the request's answer, narrowest first, each with the latest requests it would have decided.",
    personOnly: CHANGE,
    replies: { 200: defineJsonReply("The suggestions.", "SuggestionsReply", SuggestionsReply) },
    errors: ["session_unknown", "request_unknown"],
    handle: async (call, services) => ({
      body: { suggestions: await requirePolicy(services).suggest(await findRequest(call, services)) },
    }),
  }),
  route({
    method: "get",
    path: "/audit",
    name: "list_audit",
    summary: "The latest lines of the audit, oldest first.",
    personOnly: AUDIT,
    query: z.strictObject({ limit: defineWholeNumber(1, 10_000).optional().describe("Default 100.") }),
    replies: { 200: defineJsonReply("The lines.", "AuditReply", AuditReply) },
    handle: ({ query: { limit = 100 } }, { facts }) => ({
      body: { lines: readAudit(facts.state_dir, limit) },
    }),
  }),
  route({
    method: "get",
    path: "/audit/verify",
    name: "verify_audit",
    summary: "Checks the chain of the audit, and names the first line that does not fit.",
    personOnly: AUDIT,
    query: z.strictObject({
      from: defineWholeNumber(1, Number.MAX_SAFE_INTEGER)
        .optional()
        .describe("Number of the first line. Default 1."),
    }),
    replies: { 200: defineJsonReply("The report.", "AuditReport", AuditReport) },
    handle: ({ query: { from } }, { facts }) => ({
      body: checkChainFiles(facts.state_dir, AUDIT_NAME, from),
    }),
  }),
];

function requirePolicy({ policy }: Services): Policy {
  if (policy !== undefined) return policy;
  throw new CodedError("not_found", "this daemon has no policy");
}

async function findRequest({ param }: Call<unknown, unknown>, { manager }: Services): Promise<RequestRow> {
  const found = await manager.request(param("id"), param("request_id"));
  if (found !== undefined) return found;
  throw new CodedError("request_unknown", `session ${param("id")} has no request ${param("request_id")}`);
}
