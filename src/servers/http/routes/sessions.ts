// Routes that create, show and end sessions.

import * as z from "zod";
import { CodedError } from "../../../base/coded-error.ts";
import { defined } from "../../../base/values.ts";
import type { UserMessage } from "../../../protocol/content.ts";
import { FILTER_STATES, Label, SessionId } from "../../../protocol/session.ts";
import {
  ActionsReply,
  ChangeBody,
  DeletedReply,
  FamilyReply,
  InterruptReply,
  ResumeReply,
  SessionsReply,
  SessionView,
  SpawnBody,
  SpawnReply,
  StoppedReply,
  TreeBody,
} from "../../../protocol/wire/http.ts";
import type { SpawnOrder } from "../../../sessions/manager-types.ts";
import { Cursor, defineAmount, defineCommaList, defineList, defineWholeNumber, Flag } from "../query.ts";
import { defineJsonReply, type Route, route } from "../route.ts";

const TREE = Flag.optional().describe("Include all descendants.");

export const SESSION_ROUTES: readonly Route[] = [
  route({
    method: "post",
    path: "/sessions",
    name: "spawn",
    summary: "Starts a session without an owner and sends its first message.",
    body: { name: "SpawnBody", schema: SpawnBody },
    asker: "the default of `parent`",
    keyed: true,
    replies: {
      201: defineJsonReply("The session was started.", "SpawnReply", SpawnReply),
      200: defineJsonReply("The key was used before: the session started then.", "SpawnReply", SpawnReply),
    },
    errors: [
      "unknown_backend",
      "unsafe_flag",
      "session_exists",
      "spawn_failed",
      "auth_failed",
      "session_unknown",
      "family_limit",
      "budget_exhausted",
      "not_allowed",
      "escalation",
      "notify_not_allowed",
      "worktree_refused",
      "transcript_unknown",
      "transcript_in_use",
      "git_failed",
      "queue_full",
      "oversize_message",
      "idempotency_mismatch",
      "store_failed",
    ],
    handle: async ({ body, asker, key }, { manager }) => {
      const spawned = await manager.spawn(toSpawnOrder(body, asker, key));
      return { status: spawned.repeated ? 200 : 201, body: spawned };
    },
  }),
  route({
    method: "get",
    path: "/sessions",
    name: "list_sessions",
    summary: "Sessions, most recently active first.",
    query: z.strictObject({
      backend: z.string().optional().describe("A backend, or the provider `codex-app`."),
      provider: z.string().optional().describe("The same."),
      parent: SessionId.optional().describe("Children of this session."),
      name: z.string().optional(),
      cwd: z.string().optional(),
      state: defineCommaList(FILTER_STATES)
        .optional()
        .describe("Activity states, or `failed`, separated by commas."),
      agent: z.string().optional().describe("The same as `backend`."),
      project: z
        .string()
        .max(4_096)
        .optional()
        .describe("A project: its directory, or the last part of that. Worktrees count to their repository."),
      label: defineList(Label).optional().describe("A label, or several separated by commas: all of them."),
      failed: Flag.optional().describe(
        "Whether the last turn ended in an error, or the agent did not start.",
      ),
      archived: Flag.optional().describe("Only archived sessions, or only others. Default: both."),
      active_after_ms: Cursor.optional().describe("Last active at this time or later."),
      active_before_ms: Cursor.optional().describe("Last active before this time."),
      min_cost_usd: defineAmount().optional().describe("Cost at least this much, as reported by the agent."),
      live: Flag.optional().describe("Only sessions that are loaded."),
      prefix: z.string().max(128).optional().describe("The start of the id."),
      limit: defineWholeNumber(1, 10_000).optional().describe("Maximum number. Default: all."),
      after: z.string().min(1).max(500).optional().describe("`next` of the previous page."),
    }),
    replies: { 200: defineJsonReply("The sessions.", "SessionsReply", SessionsReply) },
    handle: async ({ query: { agent, backend = agent, provider, label, ...query } }, { manager }) => {
      const named =
        backend === undefined && provider === undefined ? undefined : chooseBackend(backend, provider);
      return { body: await manager.views(defined({ ...query, backend: named, labels: label })) };
    },
  }),
  route({
    method: "get",
    path: "/sessions/{id}",
    name: "show_session",
    summary: "One session.",
    replies: { 200: defineJsonReply("The session.", "SessionView", SessionView) },
    errors: ["session_unknown"],
    handle: async ({ param }, { manager }) => ({ body: await manager.view(param("id")) }),
  }),
  route({
    method: "patch",
    path: "/sessions/{id}",
    name: "change_session",
    summary:
      "Changes a session's name and labels, or its budget (people only), or archives it: lists leave it out until it is used again. Nothing is deleted.",
    body: { name: "ChangeBody", schema: ChangeBody },
    replies: { 200: defineJsonReply("The session.", "SessionView", SessionView) },
    errors: ["session_unknown", "session_busy", "budget_exhausted", "not_allowed", "store_failed"],
    handle: async ({ param, body: { budget, ...marks } }, { manager }) => ({
      body: await manager.mark(param("id"), defined({ ...marks, budget: budget && defined(budget) })),
    }),
  }),
  route({
    method: "delete",
    path: "/sessions/{id}",
    name: "delete_session",
    summary: "Ends a session and deletes its history, queue and requests.",
    query: z.strictObject({ tree: TREE }),
    body: { name: "TreeBody", schema: TreeBody },
    asker: "who deleted it",
    replies: { 200: defineJsonReply("The ids of the deleted sessions.", "DeletedReply", DeletedReply) },
    errors: ["session_unknown", "store_failed"],
    handle: async ({ param, query, body, asker }, { manager }) => {
      const by = defined({ by: asker });
      const tree = chooseTree(query.tree, body.tree);
      return { body: { deleted: await manager.remove(param("id"), { tree, ...by }) } };
    },
  }),
  route({
    method: "post",
    path: "/sessions/{id}/interrupt",
    name: "interrupt",
    summary: "Interrupts the current turn. Queued messages stay.",
    body: { name: "NoBody", schema: z.strictObject({}) },
    asker: "who interrupted",
    replies: { 200: defineJsonReply("Whether a turn was running.", "InterruptReply", InterruptReply) },
    errors: ["session_unknown"],
    handle: async ({ param, asker }, { manager }) => ({
      body: { session_id: param("id"), ...(await manager.interrupt(param("id"), asker)) },
    }),
  }),
  route({
    method: "post",
    path: "/sessions/{id}/resume",
    name: "resume",
    summary:
      "Delivers queued messages now: of a session that was stopped, or whose agent could not be started. Sends nothing new.",
    body: { name: "NoBody", schema: z.strictObject({}) },
    replies: { 200: defineJsonReply("The number of messages.", "ResumeReply", ResumeReply) },
    errors: ["session_unknown", "store_failed"],
    handle: async ({ param }, { manager }) => ({
      body: { session_id: param("id"), ...(await manager.continueQueue(param("id"))) },
    }),
  }),
  route({
    method: "post",
    path: "/sessions/{id}/stop",
    name: "stop",
    summary: "Stops a session's agent. History and queue stay; the next input starts it again.",
    body: { name: "TreeBody", schema: TreeBody },
    asker: "who stopped it",
    replies: { 200: defineJsonReply("The ids of the stopped sessions.", "StoppedReply", StoppedReply) },
    errors: ["session_unknown", "store_failed"],
    handle: async ({ param, body, asker }, { manager }) => {
      const by = defined({ by: asker });
      return { body: { stopped: await manager.stop(param("id"), { tree: body.tree ?? false, ...by }) } };
    },
  }),
  route({
    method: "get",
    path: "/sessions/{id}/family",
    name: "family",
    summary: "A session and all its descendants, parents before children.",
    replies: { 200: defineJsonReply("The sessions with their depth.", "FamilyReply", FamilyReply) },
    errors: ["session_unknown"],
    handle: async ({ param }, { manager }) => ({ body: { sessions: await manager.family(param("id")) } }),
  }),
  route({
    method: "get",
    path: "/sessions/{id}/actions",
    name: "actions",
    summary: "The agent's actions in one format for all backends, newest first.",
    query: z.strictObject({
      limit: defineWholeNumber(1, 1_000).optional().describe("Maximum number (default 20)."),
    }),
    replies: { 200: defineJsonReply("The actions.", "ActionsReply", ActionsReply) },
    errors: ["session_unknown"],
    handle: async ({ param, query }, { manager }) => ({
      body: { session_id: param("id"), actions: await manager.actions(param("id"), query.limit ?? 20) },
    }),
  }),
];

function toSpawnOrder(body: SpawnBody, asker: string | undefined, header: string | undefined): SpawnOrder {
  const { backend, provider, prompt, message, idempotency_key, parent = asker, ...rest } = body;
  const key = chooseKey(header, idempotency_key);
  const first = chooseMessage(prompt, message, "prompt");
  return defined({ ...rest, backend: chooseBackend(backend, provider), message: first, parent, key });
}

function chooseBackend(backend: string | undefined, provider: string | undefined): string {
  // sm's name for the Codex app-server.
  const named = provider === "codex-app" ? "codex" : provider;
  const chosen = backend ?? named;
  if (chosen === undefined) {
    throw new CodedError("invalid_message", "body: /backend: required, expected string (or /provider)");
  }
  if (named !== undefined && named !== chosen) {
    throw new CodedError("invalid_message", "body: /provider: conflicts with /backend");
  }
  return chosen;
}

/** Accepts text or a whole message, not both. */
export function chooseMessage(
  text: string | undefined,
  message: UserMessage | undefined,
  name: string,
): UserMessage | undefined {
  if (text !== undefined && message !== undefined) {
    throw new CodedError("invalid_message", `body: /message: conflicts with /${name}; send only one of them`);
  }
  return text === undefined ? message : { role: "user", content: text };
}

/** From the query or the body; if in both, they must be equal. */
function chooseTree(query: boolean | undefined, body: boolean | undefined): boolean {
  if (query !== undefined && body !== undefined && query !== body) {
    throw new CodedError("invalid_message", "body: /tree: conflicts with tree in the query");
  }
  return query ?? body ?? false;
}

/** From the header or the body; if in both, they must be equal. */
export function chooseKey(header: string | undefined, body: string | undefined): string | undefined {
  if (header !== undefined && body !== undefined && header !== body) {
    throw new CodedError(
      "invalid_message",
      "body: /idempotency_key: conflicts with the Idempotency-Key header",
    );
  }
  return header ?? body;
}
