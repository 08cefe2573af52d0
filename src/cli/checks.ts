// The checks of a doctor, and how they are shown.
import { sanitizeLine } from "../base/sanitize.ts";
import { formatTable, type Output } from "./output.ts";

export interface Check {
  name: string;
  status: "ok" | "warn" | "fail";
  /** What was found. */
  text: string;
  /** How to fix it. */
  todo?: string;
}

const GLYPHS: Record<Check["status"], string> = { ok: "✓", warn: "!", fail: "✗" };
const STYLES = { ok: undefined, warn: "yellow", fail: "red" } as const;

/** Returns the exit code: 1 if a check failed. */
export async function showChecks(
  checks: readonly Check[],
  { output, isJson }: { output: Output; isJson: boolean },
): Promise<number> {
  const isWell = checks.every(({ status }) => status !== "fail");
  if (isJson) await output.json({ ok: isWell, checks });
  else {
    const rows = checks.map(({ status, name, text, todo }) => [
      `${GLYPHS[status]} ${name}`,
      sanitizeLine(todo === undefined ? text : `${text}; ${todo}`),
    ]);
    for (const [at, line] of formatTable(rows, Number.POSITIVE_INFINITY).entries()) {
      await output.styledLine(STYLES[checks[at]?.status ?? "ok"], line);
    }
  }
  return isWell ? 0 : 1;
}
