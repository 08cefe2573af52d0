// Worktrees that sessions were started in: bodies of the HTTP API.
import * as z from "zod";

/** Also the last part of its branch, `blemees/NAME`, and of its path. */
export const WorktreeName = z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/, {
  message: "expected 1-64 characters of [A-Za-z0-9._-], not starting with '.' or '-'",
});

/** What a spawn asks for. */
export const WorktreeWish = z.strictObject({
  /** Default: the session's name, or the agent's, and some random characters. */
  name: WorktreeName.optional(),
  /** The commit, branch or tag to start from. Default: what is checked out. */
  base: z.string().min(1).max(500).optional(),
  /** Copy what is changed but not committed. */
  with_changes: z.boolean().optional(),
});
export type WorktreeWish = z.infer<typeof WorktreeWish>;

/** Stored with the session. */
export const SessionWorktree = z.strictObject({
  name: WorktreeName,
  path: z.string(),
  branch: z.string(),
  /** The root of the work tree it was made from. */
  repository: z.string(),
});
export type SessionWorktree = z.infer<typeof SessionWorktree>;

export const WorktreeView = SessionWorktree.partial({ branch: true, repository: true }).extend({
  /** The session it was made for. */
  session_id: z.string().optional(),
  created_at_ms: z.int().optional(),
  /** Files that are changed or not tracked. */
  changed: z.int().optional(),
  /** Commits that are neither merged nor pushed. */
  unmerged: z.int().optional(),
  /** An agent is working in it. */
  in_use: z.boolean(),
  /** Clean, merged or pushed, and not in use. */
  removable: z.boolean(),
  /** Why it cannot be inspected. */
  fault: z.string().optional(),
});
export type WorktreeView = z.infer<typeof WorktreeView>;

export const WorktreesReply = z.strictObject({ worktrees: z.array(WorktreeView) });
export const RemovedWorktreeReply = z.strictObject({
  removed: SessionWorktree.pick({ name: true, path: true }),
});
