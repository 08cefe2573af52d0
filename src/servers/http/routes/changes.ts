// Routes of what the turns of a session changed in its repository, and of undoing it.
import * as z from "zod";
import { defined } from "../../../base/values.ts";
import { ChangesReply, FileChangesReply, UndoBody, UndoReply } from "../../../protocol/changes.ts";
import { defineWholeNumber } from "../query.ts";
import { defineJsonReply, type Route, route } from "../route.ts";

const DEFAULT_LIMIT = 500;
const MAX_LIMIT = 5000;
const number = () => defineWholeNumber(1, Number.MAX_SAFE_INTEGER).optional();

const RANGE = {
  turn: number().describe("Only this turn. Default: from the first checkpoint to the last."),
  from: z
    .union([z.literal("base"), number()])
    .describe(
      "A checkpoint, by number, instead of the first; or `base`: where the branch left the default branch, and on that itself where the session began.",
    ),
  to: number().describe("A checkpoint, by number, instead of the last."),
};

export const CHANGE_ROUTES: readonly Route[] = [
  route({
    method: "get",
    path: "/sessions/{id}/changes",
    name: "show_changes",
    summary: "Which files the session's turns changed, from checkpoints of its git repository.",
    query: z.strictObject({
      ...RANGE,
      limit: defineWholeNumber(1, MAX_LIMIT).default(DEFAULT_LIMIT).describe("Maximum number of files."),
      after: z.string().max(20_000).optional().describe("`next` of the previous page."),
    }),
    replies: { 200: defineJsonReply("The turns and files.", "ChangesReply", ChangesReply) },
    errors: ["session_unknown", "change_unknown", "git_failed"],
    handle: async ({ param, query }, { manager }) => ({
      body: await manager.changes(param("id"), { ...defined(query), limit: query.limit }),
    }),
  }),
  route({
    method: "get",
    path: "/sessions/{id}/changes/file",
    name: "show_file_changes",
    summary: "The changed lines of one file.",
    query: z.strictObject({
      ...RANGE,
      path: z.string().min(1).max(20_000).describe("As in the list of changes."),
      path_b64: z.base64().max(20_000).optional().describe("As in the list, if it has one."),
    }),
    replies: { 200: defineJsonReply("The hunks.", "FileChangesReply", FileChangesReply) },
    errors: ["session_unknown", "change_unknown", "git_failed"],
    handle: async ({ param, query }, { manager }) => ({
      body: await manager.fileChanges(param("id"), { ...defined(query), path: query.path }),
    }),
  }),
  route({
    method: "post",
    path: "/sessions/{id}/undo",
    name: "undo",
    summary:
      "Gives the files that a turn and all later ones changed their earlier content. Changes nothing if a file was changed by others since, unless it is left out with `files` or overwritten with `force`.",
    body: { name: "UndoBody", schema: UndoBody },
    replies: { 200: defineJsonReply("What was done, or would be.", "UndoReply", UndoReply) },
    errors: ["session_unknown", "session_busy", "change_unknown", "undo_failed", "git_failed"],
    handle: async ({ param, body }, { manager }) => ({ body: await manager.undo(param("id"), body) }),
  }),
];
