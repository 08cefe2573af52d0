// Files that a request is about, read while it is being shown. Synchronous, and therefore small.
import { existsSync, readFileSync, statSync } from "node:fs";
import type { Disk } from "./changes.ts";

const MAX_BYTES = 512 * 1024;
const NOT_TEXT = /[\0\ufffd]/;

export const DISK: Disk = { exists: existsSync, readText };

function readText(path: string): string | undefined {
  try {
    const stats = statSync(path);
    if (!stats.isFile() || stats.size > MAX_BYTES) return undefined;
    const text = readFileSync(path, "utf8");
    return NOT_TEXT.test(text) ? undefined : text;
  } catch {
    // It cannot be read: the edit is shown without the lines around it.
    return undefined;
  }
}
