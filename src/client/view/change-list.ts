// What a screen says about changed files: words for status and contents, totals, and why there is nothing to show.
import type { ChangedFile, ChangedTurn, ChangesReply, FileChangesReply } from "../../protocol/changes.ts";

export const STATUS_WORDS: Readonly<Record<ChangedFile["status"], string>> = {
  added: "added",
  modified: "modified",
  deleted: "deleted",
  renamed: "renamed",
  type_changed: "type changed",
};

/** Identifies a file in a list: two names that are not UTF-8 may look the same. */
export function toFileKey({ path, path_b64 }: Pick<ChangedFile, "path" | "path_b64">): string {
  return path_b64 ?? path;
}

/** What else there is to know: "binary, 12 kB", "generated", "now executable". */
export function describeFile(file: ChangedFile): string[] {
  const { binary, bytes, too_large, generated, submodule } = file;
  const size = bytes === undefined || !(binary || too_large) ? "" : `, ${formatBytes(bytes)}`;
  const mode = describeMode(file);
  return [
    ...(too_large ? [`too large${size}`] : binary ? [`binary${size}`] : []),
    ...(submodule ? ["nested repository"] : []),
    ...(generated ? ["generated"] : []),
    ...(mode === undefined ? [] : [mode]),
  ];
}

function describeMode({ old_mode, new_mode }: ChangedFile): string | undefined {
  if (old_mode === undefined || new_mode === undefined || old_mode === new_mode) return undefined;
  if (new_mode === "100755") return "now executable";
  return old_mode === "100755" ? "no longer executable" : undefined;
}

/** Why a file has no lines to show; undefined if it has or may have some. `reply`: once its lines were read. */
export function explainNoLines(file: ChangedFile, reply?: FileChangesReply): string | undefined {
  if (file.too_large)
    return "This file is larger than the checkpoint limit: its content was not kept, and undo cannot restore it.";
  if (file.submodule) return "A repository of its own: only its commit changed, its files are not covered.";
  if (file.binary || reply?.binary) return "Binary file: there are no lines to compare.";
  if (reply === undefined || reply.hunks.length > 0) return undefined;
  if (file.status === "renamed") return "Renamed without changes to its content.";
  if (describeMode(file) !== undefined) return "Only its mode changed.";
  if (file.status === "added" || file.status === "deleted") return "The file is empty.";
  return "No lines changed.";
}

/** Why the list is empty. `state`: whether a turn is running. */
export function explainNoChanges(
  { state, reason, turns }: ChangesReply,
  turn: ChangesScope | undefined,
  isWorking: boolean,
): string {
  if (state === "none") return reason ?? "There are no checkpoints of this session.";
  const skipped = turns.find((one) => one.turn === turn)?.skipped;
  if (skipped !== undefined) return `The changes of turn ${turn} are unknown: ${skipped}.`;
  if (turn === "base") return "Nothing differs from the base.";
  if (turn !== undefined)
    return isLastOpen(turns, turn) && isWorking
      ? `Turn ${turn} is running and has changed no files so far.`
      : `Turn ${turn} changed no files.`;
  if (isWorking) return "No changes yet. They are shown when the turn ends.";
  return turns.length === 0
    ? "No turn has run since checkpoints began. Changes are shown after the next one."
    : "No files differ from the start of the session.";
}

function isLastOpen(turns: readonly ChangedTurn[], turn: number): boolean {
  const last = turns.at(-1);
  return last?.turn === turn && last.ended_at_ms === undefined;
}

/** "3 files". */
export function countFiles(count: number): string {
  return `${count} ${count === 1 ? "file" : "files"}`;
}

/** "turn 3: 2 files +10 −4", "turn 4: running", "turn 5: unknown". */
export function describeTurn({
  turn,
  files,
  additions,
  deletions,
  skipped,
  ended_at_ms,
}: ChangedTurn): string {
  if (skipped !== undefined) return `turn ${turn}: unknown`;
  if (ended_at_ms === undefined && files === 0) return `turn ${turn}: running`;
  if (files === 0) return `turn ${turn}: no changes`;
  return `turn ${turn}: ${countFiles(files)} +${additions} −${deletions}`;
}

/** What "since base" means for this session. */
export function describeBase({ commit, ref, reason }: NonNullable<ChangesReply["base"]>): string {
  if (reason !== undefined) return `Since the first checkpoint: ${reason}`;
  if (commit === undefined) return "Since the session began";
  const branch =
    ref === undefined ? "" : `, where the branch left ${ref.replace(/^refs\/(heads|remotes)\//, "")}`;
  return `Since ${commit.slice(0, 10)}${branch}`;
}

const BASE = ["base"] as const;

/** The changes of one turn, or since the base. */
export type ChangesScope = number | "base";

/** The turn `by` steps further in the list: all turns come first, all since the base last. */
export function stepTurn(
  turns: readonly ChangedTurn[],
  turn: ChangesScope | undefined,
  by: 1 | -1,
): ChangesScope | undefined {
  const choices = [undefined, ...turns.map((one) => one.turn), ...(turns.length === 0 ? [] : BASE)];
  const at = Math.max(0, choices.indexOf(turn));
  return choices[(at + by + choices.length) % choices.length];
}

/** A sum for parts of the repository that no checkpoint has. */
export function describeNotCovered({ not_covered = [] }: ChangesReply): string | undefined {
  const [first] = not_covered;
  if (first === undefined) return undefined;
  const why = { nested_repository: "a nested repository", too_large: "too large", unreadable: "unreadable" };
  const more = not_covered.length === 1 ? "" : `, and ${not_covered.length - 1} more`;
  return `Not covered by checkpoints: ${first.path} (${why[first.why]})${more}.`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  const units = ["kB", "MB", "GB", "TB"];
  let size = bytes / 1_000;
  let unit = 0;
  while (size >= 999.5 && unit < units.length - 1) {
    size /= 1_000;
    unit += 1;
  }
  return `${size < 9.95 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`;
}
