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
    const { needsForce, title, text, action } = question;
    if (!(await app.confirm({ title, text: sanitize(text), action, isDangerous: true }))) return false;
    const reply = await app.api.undo(sessionId, { turn: plan.turn, ...(needsForce ? { force: true } : {}) });
    app.notify(reply.done ? "info" : "warn", sanitize(describeUndo(reply)));
    return reply.done;
  } catch (error) {
    app.fail(error);
    return false;
  }
}
