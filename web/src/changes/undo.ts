// Undoes a turn after showing what that would change.
import { sanitize } from "../../../src/base/sanitize.ts";
import { describeUndo, toUndoQuestion } from "../../../src/client/view/change-undo.ts";
import type { ChangedTurn } from "../../../src/protocol/changes.ts";
import type { App } from "../app-types.ts";

export interface UndoOrder {
  app: Pick<App, "api" | "confirm" | "notify" | "fail">;
  sessionId: string;
  turn: number;
  turns: readonly ChangedTurn[];
}

/** True if files were changed. */
export async function undoTurn({ app, sessionId, turn, turns }: UndoOrder): Promise<boolean> {
  try {
    const plan = await app.api.undo(sessionId, { turn, dry_run: true });
    const later = turns.filter((one) => one.turn > plan.turn).length;
    const question = toUndoQuestion(plan, later);
    if (question === undefined) {
      app.notify("info", `Turn ${turn} left no changes to undo.`);
      return false;
    }
    const { needsForce, canForget, title, text, action } = question;
    let isFilesOnly = !canForget;
    const option = {
      label: "The agent forgets these turns too",
      set: (isOn: boolean) => {
        isFilesOnly = !isOn;
      },
    };
    const asked = { title, text: sanitize(text), action, isDangerous: true };
    if (!(await app.confirm({ ...asked, ...(canForget ? { option } : {}) }))) return false;
    const reply = await app.api.undo(sessionId, {
      turn: plan.turn,
      ...(needsForce ? { force: true } : {}),
      ...(canForget && isFilesOnly ? { files_only: true } : {}),
    });
    app.notify(reply.done ? "info" : "warn", sanitize(describeUndo(reply)));
    return reply.done;
  } catch (error) {
    app.fail(error);
    return false;
  }
}
