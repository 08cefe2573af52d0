// The selected lines of a file, and the comment being written about them. Pure.
import type { ChangeLine, ChangeRow } from "../../../src/client/view/change-rows.ts";
import type { LineAction } from "./keys.ts";

/** Lines of one file by their index; `from` is where the selection began. */
export interface Selection {
  key: string;
  from: number;
  to: number;
}

export function listLines(rows: readonly ChangeRow[]): ChangeLine[] {
  return rows.filter((row): row is ChangeLine => row.kind !== "hunk");
}

export function isSelected(selection: Selection | undefined, at: number): boolean {
  if (selection === undefined) return false;
  return at >= Math.min(selection.from, selection.to) && at <= Math.max(selection.from, selection.to);
}

export function pickLines(rows: readonly ChangeRow[], selection: Selection): ChangeLine[] {
  return listLines(rows).filter(({ at }) => isSelected(selection, at));
}

/** `count`: of the lines that are drawn. A selection in another file starts over. */
export function moveSelection(
  before: Selection | undefined,
  key: string,
  action: Extract<LineAction, "down" | "up" | "extend_down" | "extend_up">,
  count: number,
): Selection | undefined {
  if (count === 0) return undefined;
  if (before?.key !== key) return { key, from: 0, to: 0 };
  const by = action === "down" || action === "extend_down" ? 1 : -1;
  const to = Math.max(0, Math.min(count - 1, before.to + by));
  return { key, from: action === "down" || action === "up" ? to : before.from, to };
}
