// Reads the latest lines of the audit.
import { readFileSync } from "node:fs";
import { listChainFiles } from "../../base/chain/files.ts";
import { parseLine, splitLines } from "../../base/chain/verify.ts";
import { AUDIT_NAME } from "./audit.ts";

/** Oldest first; a line that is not JSON is empty, `verify` names them. */
export function readAudit(dir: string, limit: number): Record<string, unknown>[] {
  const found: Record<string, unknown>[] = [];
  for (const file of listChainFiles(dir, AUDIT_NAME).toReversed()) {
    const { lines } = splitLines(readFileSync(file));
    const wanted = lines.slice(Math.max(0, lines.length - (limit - found.length)));
    found.unshift(...wanted.map((line) => parseLine(line) ?? {}));
    if (found.length >= limit) break;
  }
  return found;
}
