// Routes of the worktrees that sessions were started in. Not for agents: they concern all repositories of the user.
import * as z from "zod";
import { CodedError } from "../../../base/coded-error.ts";
import { RemovedWorktreeReply, WorktreesReply } from "../../../protocol/worktrees.ts";
import type { Worktrees } from "../../../sessions/index.ts";
import { defineJsonReply, type Route, route, type Services } from "../route.ts";

const ACTION = "list or remove worktrees";

export const WORKTREE_ROUTES: readonly Route[] = [
  route({
    method: "get",
    path: "/worktrees",
    name: "list_worktrees",
    summary: "The worktrees that sessions were started in, with what would be lost if one were removed.",
    personOnly: ACTION,
    replies: { 200: defineJsonReply("The worktrees.", "WorktreesReply", WorktreesReply) },
    handle: async (_call, services) => ({ body: { worktrees: await requireWorktrees(services).list() } }),
  }),
  route({
    method: "post",
    path: "/worktrees/remove",
    name: "remove_worktree",
    summary: "Removes a worktree and its branch, if it is clean, merged or pushed, and not in use.",
    personOnly: ACTION,
    body: {
      name: "RemoveWorktreeBody",
      schema: z.strictObject({
        /** Or the path, if several have this name. */
        name: z.string().min(1).max(4096),
      }),
    },
    replies: { 200: defineJsonReply("What was removed.", "RemovedWorktreeReply", RemovedWorktreeReply) },
    errors: ["worktree_unknown", "worktree_refused", "git_failed"],
    handle: async ({ body }, services) => ({
      body: { removed: await requireWorktrees(services).remove(body.name) },
    }),
  }),
];

function requireWorktrees({ worktrees }: Services): Worktrees {
  if (worktrees !== undefined) return worktrees;
  throw new CodedError("not_found", "this daemon makes no worktrees");
}
