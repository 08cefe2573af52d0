// The rows of opened files, made once per reply and number of lines.
import { type ChangeRow, toChangeRows } from "../../../src/client/view/change-rows.ts";
import type { FileChangesReply } from "../../../src/protocol/changes.ts";
import { LINES_STEP } from "./file-view.ts";

export class DrawnRows {
  /** How many lines of a file are drawn, if not the first ones only. */
  #limits = new Map<string, number>();
  readonly #rows = new Map<string, { reply: FileChangesReply; limit: number; rows: ChangeRow[] }>();

  of(key: string, reply: FileChangesReply): readonly ChangeRow[] {
    const limit = this.#limits.get(key) ?? LINES_STEP;
    const known = this.#rows.get(key);
    if (known?.reply === reply && known.limit === limit) return known.rows;
    const rows = toChangeRows(reply, limit);
    this.#rows.set(key, { reply, limit, rows });
    return rows;
  }

  /** As drawn last. */
  get(key: string): readonly ChangeRow[] {
    return this.#rows.get(key)?.rows ?? [];
  }

  extend(key: string): void {
    this.#limits.set(key, (this.#limits.get(key) ?? LINES_STEP) + LINES_STEP);
  }

  reset(): void {
    this.#limits = new Map();
    this.#rows.clear();
  }
}
