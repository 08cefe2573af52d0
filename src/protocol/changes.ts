// What the turns of a session changed in its repository: the bodies of `/sessions/{id}/changes` and `/sessions/{id}/undo`.
// From checkpoints taken at the start and end of every turn (docs/changes.md).
import * as z from "zod";

/** `type_changed`: a file became a symbolic link, a repository, or the reverse. */
export const CHANGE_STATUSES = ["added", "modified", "deleted", "renamed", "type_changed"] as const;
export type ChangeStatus = (typeof CHANGE_STATUSES)[number];

/** A path relative to the repository's root. `path_b64`: its bytes, if they are not UTF-8; `path` then only shows it. */
const PATH = { path: z.string(), path_b64: z.string().optional() };

export const ChangedFile = z.strictObject({
  ...PATH,
  /** Where a renamed file was. */
  old_path: z.string().optional(),
  status: z.enum(CHANGE_STATUSES),
  /** Lines; absent for binary, large and nested ones. */
  additions: z.int().optional(),
  deletions: z.int().optional(),
  binary: z.boolean().optional(),
  /** Size after the change; absent if it was deleted. */
  bytes: z.int().optional(),
  /** Larger than `checkpoint_file_bytes`: it is known to have changed, but its content was not kept. */
  too_large: z.boolean().optional(),
  /** A lock file, minified or otherwise made by a program, by its name. */
  generated: z.boolean().optional(),
  /** A repository of its own: only its commit is known. */
  submodule: z.boolean().optional(),
  /** The executable bit changed: the mode before and after, such as "100644" and "100755". */
  old_mode: z.string().optional(),
  new_mode: z.string().optional(),
  /** The turns that changed it, within the chosen range. */
  turns: z.array(z.int()),
});
export type ChangedFile = z.infer<typeof ChangedFile>;

export const ChangedTurn = z.strictObject({
  /** Counts the turns of the session that have a checkpoint, from 1. */
  turn: z.int(),
  turn_id: z.string(),
  started_at_ms: z.int(),
  /** Absent while it runs, or if there is no checkpoint of its end. */
  ended_at_ms: z.int().optional(),
  files: z.int(),
  additions: z.int(),
  deletions: z.int(),
  /** Why it has no checkpoint, so that its changes are unknown or counted with a neighbour's. */
  skipped: z.string().optional(),
});
export type ChangedTurn = z.infer<typeof ChangedTurn>;

/** Something in the repository whose content no checkpoint has. */
export const NotCovered = z.strictObject({
  ...PATH,
  why: z.enum(["nested_repository", "too_large", "unreadable"]),
});
export type NotCovered = z.infer<typeof NotCovered>;

export const ChangesReply = z.strictObject({
  session_id: z.string(),
  /** `none`: there are no checkpoints, for the reason given. */
  state: z.enum(["ok", "none"]),
  reason: z.string().optional(),
  /** The root of the work tree. */
  repository: z.string().optional(),
  /** With `from=base`. */
  base: z
    .strictObject({
      /** Absent: the first checkpoint. */
      commit: z.string().optional(),
      /** The branch that the session's own left there. */
      ref: z.string().optional(),
      /** Why it is the first checkpoint although a commit is known. */
      reason: z.string().optional(),
    })
    .optional(),
  /** All turns of the session that have checkpoints, oldest first. */
  turns: z.array(ChangedTurn),
  /** By path. */
  files: z.array(ChangedFile),
  /** Of all files in the range, not only of this page. */
  totals: z.strictObject({ files: z.int(), additions: z.int(), deletions: z.int() }),
  not_covered: z.array(NotCovered).optional(),
  /** There are more files than `limit`: pass it as `after`. */
  next: z.string().optional(),
});
export type ChangesReply = z.infer<typeof ChangesReply>;

export const LINE_KINDS = ["context", "add", "delete"] as const;

export const ChangedLine = z.strictObject({
  kind: z.enum(LINE_KINDS),
  /** Without its line feed; a carriage return stays. Bytes that are not UTF-8 become U+FFFD. */
  text: z.string(),
  /** The last line of the file, without a line feed. */
  no_newline: z.boolean().optional(),
});
export type ChangedLine = z.infer<typeof ChangedLine>;

export const Hunk = z.strictObject({
  old_start: z.int(),
  old_lines: z.int(),
  new_start: z.int(),
  new_lines: z.int(),
  /** The line that git shows after the second `@@`, often a function's head. */
  section: z.string().optional(),
  lines: z.array(ChangedLine),
});
export type Hunk = z.infer<typeof Hunk>;

export const FileChangesReply = z.strictObject({
  ...PATH,
  old_path: z.string().optional(),
  status: z.enum(CHANGE_STATUSES),
  binary: z.boolean().optional(),
  /** The rest of a long diff is omitted. */
  truncated: z.boolean().optional(),
  hunks: z.array(Hunk),
});
export type FileChangesReply = z.infer<typeof FileChangesReply>;

export const UndoBody = z.strictObject({
  /** The first turn to undo, with all later ones. Default: the last turn that changed files. */
  turn: z.int().min(1).optional(),
  /** Only these paths, as in the list of changes. */
  files: z.array(z.string().min(1)).min(1).max(10_000).optional(),
  /** Also files that were changed by others since, whose content is then lost, but kept in the checkpoint. */
  force: z.boolean().optional(),
  /** Leave the agent's conversation as it is. Otherwise it forgets these turns, if it can and all their files are undone. */
  files_only: z.boolean().optional(),
  /** Report what would happen, and change nothing. */
  dry_run: z.boolean().optional(),
});
export type UndoBody = z.infer<typeof UndoBody>;

/** `restore`: gets its old bytes. `create`: was deleted and exists again. `delete`: was created by a turn. */
export const UNDO_ACTIONS = ["restore", "create", "delete", "refused"] as const;

export const UndoneFile = z.strictObject({
  ...PATH,
  action: z.enum(UNDO_ACTIONS),
  /** Of a refused one. */
  reason: z.string().optional(),
});
export type UndoneFile = z.infer<typeof UndoneFile>;

export const UndoReply = z.strictObject({
  session_id: z.string(),
  turn: z.int(),
  /** Whether files were changed or the conversation was. False: `dry_run`, nothing to undo, or a file was refused. */
  done: z.boolean(),
  files: z.array(UndoneFile),
  /** The checkpoint taken before, which has the files as they were. */
  checkpoint: z.int().optional(),
  conversation: z.strictObject({
    /** The agent has forgotten all of these turns too. */
    rewound: z.boolean(),
    /** The first turn that it has forgotten, with all later ones. */
    turn: z.int().optional(),
    /** Of a dry run: the agent would be asked to forget them. */
    is_possible: z.boolean().optional(),
    /** Why it has not, or not all, or would not. */
    reason: z.string().optional(),
  }),
});
export type UndoReply = z.infer<typeof UndoReply>;
