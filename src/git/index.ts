// Git, run safely: finds the program and repositories, records work trees, compares and restores them.
export type { FoundBase, RecordedBase } from "./base.ts";
export { type Carried, carryChanges } from "./carry-changes.ts";
export type { Blob, FileHunks, TreeChange } from "./compare.ts";
export { GITLINK_MODE } from "./compare.ts";
export { type Forge, makeCompareLink, readForge } from "./forge.ts";
export { type ListedFiles, listWorkTreeFiles } from "./list-files.ts";
export { parseShownPath, type RawPath, toShownPath } from "./paths.ts";
export { type FoundGit, findGit, keepFoundGit, MIN_GIT_VERSION } from "./program.ts";
export { commitAll, type PushPlan, planPush, push } from "./push.ts";
export { type FoundRepository, findRepository, type Head, type Repository, readHead } from "./repository.ts";
export type { RestoreStep } from "./restore.ts";
export { Git, type GitOrder, type GitResult } from "./run.ts";
export type { Snapshot } from "./snapshot.ts";
export { openWorkTree, WorkTree, type WorkTreeOrder } from "./work-tree.ts";
export {
  addWorktree,
  discardWorktree,
  inspectWorktree,
  removeWorktree,
  requireRepository,
} from "./worktrees.ts";
