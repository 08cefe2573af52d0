// What /undo did, for the user and for the model.
import { sanitizeLine } from "../../base/sanitize.ts";
import type { UndoneFile, UndoReply } from "../../protocol/changes.ts";

const VERBS = { restore: "restored", create: "created again", delete: "deleted", refused: "left" } as const;
const MAX_LISTED = 20;

/** For the user. */
export function formatUndo({ turn, done, files }: UndoReply): string {
  if (done) return [`undid turn ${turn}:`, ...listFiles(files)].join("\n");
  const refused = files.filter(({ action }) => action === "refused");
  if (refused.length === 0) return `turn ${turn} changed nothing that is left to undo`;
  return [
    `turn ${turn} was not undone, because it would lose other changes; /undo force overwrites them:`,
    ...listFiles(refused),
  ].join("\n");
}

/** For the model, which still remembers the turn. */
export function noteUndo({ files }: UndoReply): string {
  return [
    "The user undid the file changes of your last turn. The files have their earlier content again:",
    ...listFiles(files),
  ].join("\n");
}

function listFiles(files: readonly UndoneFile[]): string[] {
  const lines = files.slice(0, MAX_LISTED).map(({ path, action, reason }) => {
    return `  ${VERBS[action]} ${sanitizeLine(path)}${reason === undefined ? "" : `: ${reason}`}`;
  });
  return files.length > MAX_LISTED ? [...lines, `  … and ${files.length - MAX_LISTED} more`] : lines;
}
