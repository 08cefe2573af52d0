// Routes that make sessions, show them and end them.
import * as z from "zod";
import { CodedError } from "../../../base/coded-error.ts";
import type { UserMessage } from "../../../protocol/content.ts";
import { FILTER_STATES, SessionId } from "../../../protocol/session.ts";
import {
  ActionsReply,
  DeletedReply,
  FamilyReply,
  InterruptReply,
  RenameBody,
  SessionsReply,
  SessionView,
  SpawnBody,
  SpawnReply,
  StoppedReply,
  TreeBody,
} from "../../../protocol/wire/http.ts";
import type { SpawnOrder } from "../../../sessions/manager-types.ts";
import { Flag, listOf, wholeNumber } from "../query.ts";
import { json, type Route, route } from "../route.ts";

const TREE = Flag.optional().describe("Also all sessions below it.");

export const SESSION_ROUTES: readonly Route[] = [
  route({
    method: "post",
    path: "/sessions",
    name: "spawn",
    summary: "Starts a session that lives without an owner, and gives it its first message.",
    body: { name: "SpawnBody", schema: SpawnBody },
    asker: "the default of `parent`",
    keyed: true,
    replies: {
      201: json("It was started.", "SpawnReply", SpawnReply),
      200: json("The same key was used before: what was started then.", "SpawnReply", SpawnReply),
    },
    errors: [
      "unknown_backend",
      "unsafe_flag",
      "session_exists",
      "spawn_failed",
      "auth_failed",
      "session_unknown",
      "family_limit",
      "notify_not_allowed",
      "queue_full",
      "oversize_message",
      "idempotency_mismatch",
      "store_failed",
    ],
    handle: async ({ body, asker, key }, { manager }) => {
      const spawned = await manager.spawn(spawnOrder(body, asker, key));
      return { status: spawned.repeated ? 200 : 201, body: spawned };
    },
  }),
  route({
    method: "get",
    path: "/sessions",
    name: "list_sessions",
    summary: "Sessions, the most recently active first.",
    query: z.strictObject({
      backend: z.string().optional().describe("Also as a provider: `codex-app`."),
      provider: z.string().optional().describe("The same."),
      parent: SessionId.optional().describe("Children of this session."),
      name: z.string().optional(),
      cwd: z.string().optional(),
      state: listOf(FILTER_STATES).optional().describe("Activity states, or `failed`, separated by commas."),
      live: Flag.optional().describe("Only those that are in the daemon's memory."),
      limit: wholeNumber(1, 10_000).optional().describe("At most so many."),
    }),
    replies: { 200: json("The sessions.", "SessionsReply", SessionsReply) },
    handle: async ({ query: { backend, provider, ...query } }, { manager }) => {
      const named =
        backend === undefined && provider === undefined ? undefined : oneBackend(backend, provider);
      return { body: { sessions: await manager.views(given({ ...query, backend: named })) } };
    },
  }),
  route({
    method: "get",
    path: "/sessions/{id}",
    name: "show_session",
    summary: "One session.",
    replies: { 200: json("The session.", "SessionView", SessionView) },
    errors: ["session_unknown"],
    handle: async ({ param }, { manager }) => ({ body: await manager.view(param("id")) }),
  }),
  route({
    method: "patch",
    path: "/sessions/{id}",
    name: "rename_session",
    summary: "Gives a session a name, or takes it away.",
    body: { name: "RenameBody", schema: RenameBody },
    replies: { 200: json("The session with its new name.", "SessionView", SessionView) },
    errors: ["session_unknown", "store_failed"],
    handle: async ({ param, body }, { manager }) => ({ body: await manager.rename(param("id"), body.name) }),
  }),
  route({
    method: "delete",
    path: "/sessions/{id}",
    name: "delete_session",
    summary: "Ends a session and forgets it for good: its history, queue and requests.",
    query: z.strictObject({ tree: TREE }),
    body: { name: "TreeBody", schema: TreeBody },
    asker: "who deleted it",
    replies: { 200: json("The ids of what was deleted.", "DeletedReply", DeletedReply) },
    errors: ["session_unknown", "store_failed"],
    handle: async ({ param, query, body, asker }, { manager }) => {
      const by = asker === undefined ? {} : { by: asker };
      const tree = oneTree(query.tree, body.tree);
      return { body: { deleted: await manager.remove(param("id"), { tree, ...by }) } };
    },
  }),
  route({
    method: "post",
    path: "/sessions/{id}/interrupt",
    name: "interrupt",
    summary: "Stops the turn that runs. What is queued stays.",
    body: { name: "NoBody", schema: z.strictObject({}) },
    asker: "who interrupted",
    replies: { 200: json("Whether there was anything to stop.", "InterruptReply", InterruptReply) },
    errors: ["session_unknown"],
    handle: async ({ param, asker }, { manager }) => ({
      body: { session_id: param("id"), ...(await manager.interrupt(param("id"), asker)) },
    }),
  }),
  route({
    method: "post",
    path: "/sessions/{id}/stop",
    name: "stop",
    summary: "Ends a session's agent. History and queue stay; the next input starts it again.",
    body: { name: "TreeBody", schema: TreeBody },
    asker: "who stopped it",
    replies: { 200: json("The ids of what was ended.", "StoppedReply", StoppedReply) },
    errors: ["session_unknown", "store_failed"],
    handle: async ({ param, body, asker }, { manager }) => {
      const by = asker === undefined ? {} : { by: asker };
      return { body: { stopped: await manager.stop(param("id"), { tree: body.tree ?? false, ...by }) } };
    },
  }),
  route({
    method: "get",
    path: "/sessions/{id}/family",
    name: "family",
    summary: "A session and all below it, parents before their children.",
    replies: { 200: json("The sessions with their depth.", "FamilyReply", FamilyReply) },
    errors: ["session_unknown"],
    handle: async ({ param }, { manager }) => ({ body: { sessions: await manager.family(param("id")) } }),
  }),
  route({
    method: "get",
    path: "/sessions/{id}/actions",
    name: "actions",
    summary: "What the agent did, in the same words for every backend, newest first.",
    query: z.strictObject({ limit: wholeNumber(1, 1_000).optional().describe("At most so many; 20.") }),
    replies: { 200: json("The actions.", "ActionsReply", ActionsReply) },
    errors: ["session_unknown"],
    handle: async ({ param, query }, { manager }) => ({
      body: { session_id: param("id"), actions: await manager.actions(param("id"), query.limit ?? 20) },
    }),
  }),
];

function spawnOrder(body: SpawnBody, asker: string | undefined, header: string | undefined): SpawnOrder {
  const { backend, provider, prompt, message, idempotency_key, parent = asker, ...rest } = body;
  const key = oneKey(header, idempotency_key);
  const first = oneMessage(prompt, message, "prompt");
  return given({ ...rest, backend: oneBackend(backend, provider), message: first, parent, key });
}

function oneBackend(backend: string | undefined, provider: string | undefined): string {
  // sm's word for the Codex app-server; the transport is the daemon's business.
  const named = provider === "codex-app" ? "codex" : provider;
  const chosen = backend ?? named;
  if (chosen === undefined) {
    throw new CodedError("invalid_message", "body: /backend: required, expected string (or /provider)");
  }
  if (named !== undefined && named !== chosen) {
    throw new CodedError("invalid_message", "body: /provider: names another agent than /backend");
  }
  return chosen;
}

/** A text or a whole message, not both. */
export function oneMessage(
  text: string | undefined,
  message: UserMessage | undefined,
  name: string,
): UserMessage | undefined {
  if (text !== undefined && message !== undefined) {
    throw new CodedError("invalid_message", `body: /message: give it or /${name}, not both`);
  }
  return text === undefined ? message : { role: "user", content: text };
}

/** From the query or the body; in both it must be the same. */
function oneTree(query: boolean | undefined, body: boolean | undefined): boolean {
  if (query !== undefined && body !== undefined && query !== body) {
    throw new CodedError("invalid_message", "body: /tree: differs from tree in the query");
  }
  return query ?? body ?? false;
}

/** From the header or the body; in both it must be the same. */
export function oneKey(header: string | undefined, body: string | undefined): string | undefined {
  if (header !== undefined && body !== undefined && header !== body) {
    throw new CodedError(
      "invalid_message",
      "body: /idempotency_key: differs from the header Idempotency-Key",
    );
  }
  return header ?? body;
}

/** Only what is there: absent is not the same as undefined to who gets it. */
export function given<T extends object>(values: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
